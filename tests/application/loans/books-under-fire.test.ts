import { describe, expect, test } from '@jest/globals';
import { findBrokenLink } from '../../../application/event-codec/event-codec.ts';
import { publicationOf } from '../../../application/publication/catalogue.ts';
import type { Outcome, RequestContext } from '../../../application/command-handling/request-context.ts';
import { REPURCHASE_REASONS } from '../../../domain/loan/exits.ts';
import { loanDecider } from '../../../domain/loan/index.ts';
import type { LoanEvent } from '../../../domain/loan/index.ts';
import { calendarDate } from '../../../domain/shared/calendar-date.ts';
import { DomainError } from '../../../domain/shared/domain-error.ts';
import type { LoanCode } from '../../../domain/shared/identifiers.ts';
import { cents } from '../../../domain/shared/money.ts';
import { completeRepurchase, installmentCode } from '../../domain/support/loan-story.ts';
import { rowsAfter } from '../../projections/loan/projected-rows.ts';
import { context } from '../../support/application-parts.ts';
import { stateAfter } from '../../../domain/shared/decider.ts';
import { InMemoryEventStore } from '../../support/in-memory-event-store.ts';
import {
  activate,
  carryOut,
  postAssignment,
  prepayment,
  repurchase,
  storyOf,
  streamOf,
} from '../../support/post-assignment.ts';
import type { PostAssignment } from '../../support/post-assignment.ts';
import { MemoryDocuments, newProposal, renegotiation } from '../../support/renegotiation-world.ts';

/** Everything that may be wrong with the story of one operation, in words; nothing when its books are whole. */
const defectsOf = (events: readonly LoanEvent[]): readonly string[] => [
  ...endingDefects(events),
  ...reservationDefects(events),
  ...closingDefects(events),
  ...balanceDefects(events),
];

const ENDINGS: ReadonlySet<string> = new Set(['LoanFullySettled', 'RepurchaseRequested', 'LoanRenegotiated']);
const AFTER_AN_ENDING: ReadonlySet<string> = new Set([
  'RepurchaseCompleted',
  'LoanRenegotiationCompleted',
  'DocumentsAdded',
]);

const endingDefects = (events: readonly LoanEvent[]): readonly string[] => {
  const end = events.findIndex(({ type }) => ENDINGS.has(type));
  if (end < 0) return [];
  return events
    .slice(end + 1)
    .flatMap(({ type }) => (AFTER_AN_ENDING.has(type) ? [] : [`${type} after the end`]));
};

/** While a renegotiation holds the operation, nothing but its own step may follow. */
const reservationDefects = (events: readonly LoanEvent[]): readonly string[] =>
  events.flatMap(({ type }, i) => {
    if (type !== 'LoanReserved') return [];
    const next = events[i + 1]?.type;
    const ended =
      next === 'LoanReservationReleased' || next === 'LoanRenegotiated' || next === 'LoanReceived';
    return ended ? [] : [`a reservation is followed by ${next ?? 'nothing'}`];
  });

const closingDefects = (events: readonly LoanEvent[]): readonly string[] => {
  const closed = events.flatMap((event) => {
    if (event.type === 'InstallmentSettled') return [event.installmentCode];
    return event.type === 'PrepaymentProcessed' ? event.settledInstallments : [];
  });
  const total = events.flatMap((event) => (event.type === 'LoanReceived' ? event.installments : [])).length;
  const settled = events.some(({ type }) => type === 'LoanFullySettled');
  return [
    ...closed.filter((code, i) => closed.indexOf(code) !== i).map((code) => `${code} closed twice`),
    ...(settled && closed.length !== total ? [`settled with ${closed.length} of ${total} closed`] : []),
    ...(!settled && total > 0 && closed.length === total ? ['all are closed and it is not settled'] : []),
  ];
};

/** Money that came in, by the events alone. */
const moneyIn = (events: readonly LoanEvent[]): number =>
  events.reduce((sum, event) => {
    if (event.type === 'InstallmentSettled') return sum + event.settledValue;
    return event.type === 'PrepaymentProcessed' ? sum + event.prepaymentValue - event.excessValue : sum;
  }, 0);

const balanceDefects = (events: readonly LoanEvent[]): readonly string[] =>
  events.flatMap((event, i) => {
    if (event.type === 'LoanFullySettled') {
      const total = moneyIn(events.slice(0, i));
      return event.totalReceived === total ? [] : [`total ${event.totalReceived}, received ${total}`];
    }
    if (event.type !== 'PrepaymentProcessed') return [];
    const { payoffValue, prepaymentValue, excessValue, remainingBalance } = event;
    return payoffValue + excessValue === prepaymentValue + remainingBalance
      ? []
      : ['a prepayment lost money'];
  });

const ROUNDS = 120;
const REFUSALS = ['operation_invalid_state', 'installment_already_closed', 'concurrent_modification'];

/** Repeatable dice, so that a round that fails can be played again. */
const dice = (seed: number): ((sides: number) => number) => {
  let state = seed + 1;
  return (sides) => {
    state = (state * 48_271) % 2_147_483_647;
    return state % sides;
  };
};

interface Shot {
  readonly key: string;
  readonly fire: (process: PostAssignment, by: RequestContext) => Promise<Outcome<object>>;
}

const successorOf = (code: LoanCode): LoanCode => `N-${code}` as LoanCode;

const shotsAt = (code: LoanCode, roll: (sides: number) => number): readonly Shot[] => {
  const settlement = (n: number): Shot => {
    const key = `${code}-settle-${n}`;
    const installment = installmentCode(String(n).padStart(3, '0'));
    const settledValue = cents(50_000 + roll(90_000));
    const settledAt = calendarDate('2026-06-15');
    const input = {
      code,
      installmentCode: installment,
      settledAt,
      settledValue,
      paymentMethod: 'pix' as const,
    };
    return { key, fire: ({ loans }, by) => loans.settle(by, { ...input, idempotencyKey: key }) };
  };
  const advance = (n: number): Shot => {
    const key = `${code}-prepay-${n}`;
    const value = String(100 + roll(20_000)) + '.00';
    return { key, fire: ({ loans }, by) => loans.prepay(by, prepayment(value, key, { code })) };
  };
  const exit = (n: number): Shot => {
    const key = `${code}-repurchase-${n}`;
    const input = repurchase({ code, reason: REPURCHASE_REASONS[roll(4)]!, idempotencyKey: key });
    return { key, fire: (process, by) => process.loans.repurchase(by, input) };
  };
  const renegotiate: Shot = {
    key: code,
    fire: (process, by) =>
      process.renegotiation.renegotiate(
        by,
        renegotiation([code], { newProposal: newProposal({ code: successorOf(code) }) }),
      ),
  };
  const settlements = Array.from({ length: 12 }, (_, i) => settlement(i + 1)).filter(() => roll(3) > 0);
  const once = [...settlements, advance(1), advance(2), exit(1), exit(2), renegotiate];
  const twice = once.filter(() => roll(4) === 0);
  return [...once, ...twice]
    .map((shot) => ({ shot, at: roll(1_000) }))
    .sort((a, b) => a.at - b.at)
    .map(({ shot }) => shot);
};

const round = async (processes: readonly PostAssignment[], seed: number): Promise<string> => {
  const code = `R${seed}` as LoanCode;
  const [first] = processes;
  if (!first) throw new Error('a round needs a process');
  await activate(first, { code });
  const shots = shotsAt(code, dice(seed));
  const answers = await Promise.allSettled(
    shots.map(({ fire }, i) => fire(processes[i % processes.length]!, context('app-1', `${seed}-${i}`))),
  );
  const executed: string[] = [];
  answers.forEach((answer, i) => {
    if (answer.status === 'fulfilled') return answer.value.replayed || executed.push(shots[i]!.key);
    const { reason } = answer as { reason: unknown };
    if (!(reason instanceof DomainError) || !REFUSALS.includes(reason.code)) throw reason;
  });

  const recorded = (await first.store.read(streamOf(code))).events;
  const keys = recorded.flatMap(({ metadata }) => metadata.idempotency?.key ?? []);
  expect([...keys].sort()).toEqual(executed.sort());
  expect(findBrokenLink(streamOf(code), recorded)).toBe(-1);

  const events = await storyOf(first, code);
  expect(defectsOf(events)).toEqual([]);
  const state = stateAfter(loanDecider, events);
  expect(state).toMatchObject({ receivedValue: moneyIn(events) });
  const { loan } = rowsAfter(events);
  expect(loan?.received_value).toBe(moneyIn(events));
  // A renegotiation shows with its commit, which stands in a stream of its own.
  if (state.status !== 'renegotiated') expect(loan?.status).toBe(state.status);
  const successor = await storyOf(first, successorOf(code));
  expect(defectsOf(successor)).toEqual([]);
  expect(successor.some(({ type }) => type === 'LoanReceived')).toBe(state.status === 'renegotiated');

  const names = events.flatMap((event) => publicationOf(event.type)?.name ?? []);
  expect(names.filter((name) => name === 'loan_fully_settled')).toHaveLength(
    state.status === 'settled' ? 1 : 0,
  );
  expect(names.filter((name) => name === 'repurchase_received')).toHaveLength(
    state.status === 'repurchase_pending' ? 1 : 0,
  );
  if (state.status === 'repurchase_pending') {
    await carryOut(first, completeRepurchase, code);
    expect(defectsOf(await storyOf(first, code))).toEqual([]);
  }
  return state.status;
};

const play = async (store: InMemoryEventStore, rounds: number): Promise<ReadonlyMap<string, number>> => {
  const documents = new MemoryDocuments();
  const processes = Array.from({ length: 3 }, () => postAssignment({ store, documents }));
  const ends = new Map<string, number>();
  for (let seed = 0; seed < rounds; seed++) {
    const end = await round(processes, seed);
    ends.set(end, (ends.get(end) ?? 0) + 1);
  }
  return ends;
};

/** Takes every append, whatever it expected: what the rounds must catch. */
class CarelessEventStore extends InMemoryEventStore {
  protected override checkRevision(): void {}
}

describe('books under fire', () => {
  test(`${ROUNDS} rounds of payments, repurchases and a renegotiation at once leave the books whole`, async () => {
    const ends = await play(new InMemoryEventStore(), ROUNDS);
    // Rounds that always end the same way would prove little.
    expect(ends.get('settled')).toBeGreaterThan(ROUNDS / 20);
    expect(ends.get('repurchase_pending')).toBeGreaterThan(ROUNDS / 20);
    expect(ends.get('renegotiated')).toBeGreaterThan(ROUNDS / 20);
  });

  test('the rounds catch a store that checks no revision', async () => {
    await expect(play(new CarelessEventStore(), 20)).rejects.toThrow();
  });
});
