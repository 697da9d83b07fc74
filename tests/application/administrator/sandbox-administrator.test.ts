import { describe, expect, test } from '@jest/globals';
import { carryingOut } from '../../../application/administrator/decisions.ts';
import { SandboxAdministrator } from '../../../application/administrator/sandbox-administrator.ts';
import type { BusinessClock, RealClock } from '../../../application/ports/clock.ts';
import type { EventStore } from '../../../application/ports/event-store.ts';
import type { SandboxWishes } from '../../../domain/loan/events.ts';
import { loanDecider } from '../../../domain/loan/index.ts';
import { addDays, calendarDate } from '../../../domain/shared/calendar-date.ts';
import type { LoanCode, Timestamp } from '../../../domain/shared/identifiers.ts';
import type { Cents } from '../../../domain/shared/money.ts';
import { receiveL1 } from '../../domain/support/loan-story.ts';
import { ALONE, commandHandler } from '../../support/application-parts.ts';
import type { Fate } from '../../support/faulty-event-store.ts';
import { FaultyEventStore, unreadable } from '../../support/faulty-event-store.ts';
import { InMemoryEventStore } from '../../support/in-memory-event-store.ts';
import { MemoryCheckpoints } from '../../support/log-followers.ts';

const STEP = 2_000;
const START = Date.parse('2026-06-20T12:00:00.000Z');
const silent = { error() {}, warn() {}, info() {}, debug() {} };
const cession = ['loan.received.v1', 'loan.approved.v1', 'loan.term_signed.v1', 'loan.disbursed.v1'];

/** Time that passes only when the administrator sleeps. */
class SleepingClock implements BusinessClock, RealClock {
  ms = START;
  day = '2026-06-20';
  readonly sleeps: number[] = [];
  now = (): Timestamp => new Date(this.ms).toISOString() as Timestamp;
  realNow = () => this.now() as never;
  today = () => this.day as never;
  sleep = async (ms: number, signal: AbortSignal): Promise<void> => {
    if (signal.aborted) return;
    this.sleeps.push(ms);
    this.ms += ms;
    await new Promise(setImmediate);
  };
}

const world = () => ({
  store: new InMemoryEventStore(),
  clock: new SleepingClock(),
  checkpoints: new MemoryCheckpoints(),
});
type World = ReturnType<typeof world>;

const assign = async (
  { store, clock }: World,
  code: string,
  asked?: SandboxWishes,
  issued?: string,
): Promise<void> => {
  await commandHandler(store, clock).handle({
    stream: `loan-app-1.${code}`,
    applicationId: 'app-1',
    actor: 'client-1',
    correlationId: 'req',
    decide: (state) => {
      const shift = issued === undefined ? {} : issuedOn(issued);
      return loanDecider.decide({ ...receiveL1, code: code as LoanCode, ...asked, ...shift }, state);
    },
  });
};
const typesOf = async ({ store }: World, code: string): Promise<string[]> =>
  (await store.read(`loan-app-1.${code}`)).events.map(({ type }) => type);

/** Due a year later and on, whatever the issue. */
const issuedOn = (day: string) => ({
  dateIssued: calendarDate(day),
  installments: receiveL1.installments.map((one, at) => ({
    ...one,
    dueDate: addDays(calendarDate(day), 365 + at),
  })),
});

const administratorOf = (w: World, events: EventStore, logger = silent) =>
  new SandboxAdministrator({
    carryOut: carryingOut(commandHandler(events, w.clock), ALONE),
    events,
    subscription: w.store,
    checkpoints: w.checkpoints,
    clock: w.clock,
    logger,
    sleep: w.clock.sleep,
    step: STEP,
  });

/** One life of the administrator: runs until the condition holds, then is stopped. */
const live = async (w: World, until: () => Promise<boolean>, events: EventStore = w.store): Promise<void> => {
  const stop = new AbortController();
  const running = administratorOf(w, events).run(stop.signal);
  while (!(await until())) await new Promise(setImmediate);
  stop.abort();
  await running;
};

describe('sandbox administrator', () => {
  test('takes an operation through the cession, one step apart', async () => {
    const w = world();
    await assign(w, 'A');
    await live(w, async () => (await typesOf(w, 'A')).length === 4);
    expect(await typesOf(w, 'A')).toEqual(cession);
    const { events } = await w.store.read('loan-app-1.A');
    const times = events.map((e) => Date.parse(e.metadata.recordedAt) - START);
    expect(times).toEqual([0, STEP, 2 * STEP, 3 * STEP]);
    expect(new Set(events.slice(1).map((e) => e.metadata.causationId))).toEqual(
      new Set(events.slice(0, 3).map((e) => e.id)),
    );
  });

  test('disburses what the request asked for, however far from the acquisition value', async () => {
    const w = world();
    await assign(w, 'A', { sandboxDisbursement: 1 as Cents });
    await live(w, async () => (await typesOf(w, 'A')).length === 4);
    const { events } = await w.store.read('loan-app-1.A');
    expect(JSON.parse(events[3]!.data)).toMatchObject({ disbursed_value: 1, exit_basis: 'disbursed_value' });
  });

  test.each([
    ['2026-01-15', '2026-06-20'],
    ['2031-03-01', '2031-03-01'],
  ])('disburses what is issued on %s on %s, its value as it is', async (issued, day) => {
    const w = world();
    await assign(w, 'A', undefined, issued);
    await live(w, async () => (await typesOf(w, 'A')).length === 4);
    const { events } = await w.store.read('loan-app-1.A');
    expect(JSON.parse(events[3]!.data)).toMatchObject({ disbursement_date: day, disbursed_value: 1_000_000 });
  });

  test('does not look again at a disbursement of an earlier day', async () => {
    const w = world();
    await assign(w, 'A');
    await live(w, async () => (await typesOf(w, 'A')).length === 4);
    w.checkpoints.positions.clear();
    w.clock.day = '2026-06-21';
    const refused: unknown[] = [];
    const stop = new AbortController();
    const logger = { ...silent, warn: (...told: unknown[]) => void refused.push(told) };
    const running = administratorOf(w, w.store, logger).run(stop.signal);
    await assign(w, 'B');
    while ((await typesOf(w, 'B')).length < 4) await new Promise(setImmediate);
    stop.abort();
    await running;
    expect(refused).toEqual([]);
  });

  test('rejects what asked for it, with a reason', async () => {
    const w = world();
    await assign(w, 'A', { sandboxOutcome: 'reject' });
    await live(w, async () => (await typesOf(w, 'A')).length === 2);
    const { events } = await w.store.read('loan-app-1.A');
    expect(events.map(({ type }) => type)).toEqual(['loan.received.v1', 'loan.rejected.v1']);
    expect(JSON.parse(events[1]!.data)).toMatchObject({ reasons: [{ code: 'sandbox_outcome' }] });
  });

  test('leaves what asked to be held alone, in every life, also after somebody approved it', async () => {
    const w = world();
    await assign(w, 'A', { sandboxOutcome: 'hold' });
    await assign(w, 'B');
    await live(w, async () => (await typesOf(w, 'B')).length === 4);
    const now = w.clock.now();
    await commandHandler(w.store, w.clock).handle({
      stream: 'loan-app-1.A',
      applicationId: 'app-1',
      actor: 'administrator',
      correlationId: 'somebody',
      decide: (state) => loanDecider.decide({ type: 'ApproveLoan', now }, state),
    });
    w.checkpoints.positions.clear();
    await assign(w, 'C');
    await live(w, async () => (await typesOf(w, 'C')).length === 4);
    expect(await typesOf(w, 'A')).toEqual(['loan.received.v1', 'loan.approved.v1']);
  });

  test('decides no earlier than what it decides about, although its clock does not know of a move yet', async () => {
    const w = world();
    await assign(w, 'A');
    w.clock.ms -= 86_400_000;
    await live(w, async () => (await typesOf(w, 'A')).length === 2);
    const [received, approved] = (await w.store.read('loan-app-1.A')).events;
    expect(approved!.metadata.recordedAt >= received!.metadata.recordedAt).toBe(true);
    expect(JSON.parse(approved!.data)).toMatchObject({ approved_at: received!.metadata.recordedAt });
  });

  test.each([1, 2, 3])(
    'stopped after %i events, the next life goes on and decides nothing twice',
    async (length) => {
      const w = world();
      for (const code of ['A', 'B', 'C']) await assign(w, code);
      await live(w, async () => (await typesOf(w, 'B')).length >= length);
      const done = async () =>
        (await Promise.all(['A', 'B', 'C'].map((code) => typesOf(w, code)))).every((t) => t.length === 4);
      await live(w, done);
      for (const code of ['A', 'B', 'C']) expect(await typesOf(w, code)).toEqual(cession);
    },
  );

  test('a lost checkpoint costs nothing but work', async () => {
    const w = world();
    await assign(w, 'A');
    await live(w, async () => (await typesOf(w, 'A')).length === 4);
    w.checkpoints.positions.clear();
    await assign(w, 'B');
    await live(w, async () => (await typesOf(w, 'B')).length === 4);
    expect(await typesOf(w, 'A')).toEqual(cession);
  });

  test.each<[Fate]>([['refused'], ['answer_lost'], ['lost']])(
    'goes on after appends that met "%s"',
    async (fate) => {
      const w = world();
      await assign(w, 'A');
      const faulty = new FaultyEventStore(
        w.store,
        Array.from({ length: 12 }, () => fate),
      );
      await live(w, async () => (await typesOf(w, 'A')).length === 4, faulty);
      expect(await typesOf(w, 'A')).toEqual(cession);
    },
  );

  test('an operation that cannot be read keeps no other waiting, and goes on once it can', async () => {
    const w = world();
    for (const code of ['A', 'B']) await assign(w, code);
    await live(w, async () => (await typesOf(w, 'B')).length === 4, unreadable(w.store, 'loan-app-1.A'));
    expect(await typesOf(w, 'A')).toEqual(['loan.received.v1']);
    await administratorOf(w, w.store).resume('loan-app-1.A');
    await live(w, async () => (await typesOf(w, 'A')).length === 4);
    for (const code of ['A', 'B']) expect(await typesOf(w, code)).toEqual(cession);
  });

  test('catches up at once with what waited while it was away', async () => {
    const w = world();
    await assign(w, 'A');
    w.clock.ms += 60_000;
    await live(w, async () => (await typesOf(w, 'A')).length === 2);
    expect(w.clock.sleeps[0] ?? 0).toBeLessThanOrEqual(STEP);
    const { events } = await w.store.read('loan-app-1.A');
    expect(Date.parse(events[1]!.metadata.recordedAt) - START).toBe(60_000);
  });
});
