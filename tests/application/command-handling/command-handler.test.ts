import { describe, expect, test } from '@jest/globals';
import type { CommandRequest } from '../../../application/command-handling/command-handler.ts';
import { findBrokenLink } from '../../../application/event-codec/event-codec.ts';
import { OutcomeUnknownError, StoreUnavailableError } from '../../../application/ports/event-store.ts';
import type { LoanCommand } from '../../../domain/loan/index.ts';
import { loanDecider } from '../../../domain/loan/index.ts';
import { installmentCode, receiveL1 } from '../../domain/support/loan-story.ts';
import { NOW, commandHandler } from '../../support/application-parts.ts';
import type { Fate } from '../../support/faulty-event-store.ts';
import { FaultyEventStore } from '../../support/faulty-event-store.ts';
import { InMemoryEventStore } from '../../support/in-memory-event-store.ts';

const STREAM = 'loan-app-1.L1';
const request = (command: LoanCommand, more: Partial<CommandRequest> = {}): CommandRequest => ({
  stream: STREAM,
  applicationId: 'app-1',
  actor: 'client-1',
  correlationId: 'req-1',
  decide: (state) => loanDecider.decide(command, state),
  ...more,
});
const settle = (code: string, key = code, fingerprint = code, stream = STREAM): CommandRequest =>
  request(
    {
      type: 'SettleInstallment',
      installmentCode: installmentCode(code),
      settledAt: '2026-06-15' as never,
      settledValue: 95_000 as never,
      paymentMethod: 'pix',
      now: NOW,
    },
    { stream, idempotency: { endpoint: 'settle', key, fingerprint, claimedIn: 'app-1' } },
  );
const steps: readonly LoanCommand[] = [
  receiveL1,
  { type: 'ApproveLoan', now: NOW },
  { type: 'SignLoanTerm', now: NOW },
  { type: 'DisburseLoan', now: NOW },
];
const activated = async (stream = STREAM) => {
  const store = new InMemoryEventStore();
  const handler = commandHandler(store);
  for (const step of steps) await handler.handle(request(step, { stream }));
  return { store, handler };
};

describe('command handler', () => {
  test('appends what was decided and answers the state after it', async () => {
    const { store, handler } = await activated();
    const { replayed, state } = await handler.handle(settle('001'));
    expect(replayed).toBe(false);
    expect(state).toMatchObject({ status: 'active', openCount: 11 });
    const { events } = await store.read(STREAM);
    expect(events.map((e) => e.type).slice(-2)).toEqual(['loan.disbursed.v1', 'installment.settled.v1']);
    expect(findBrokenLink(STREAM, events)).toBe(-1);
  });

  test('a command that is already carried out stores nothing', async () => {
    const { store, handler } = await activated();
    await handler.handle(request({ type: 'ApproveLoan', now: NOW }));
    expect((await store.read(STREAM)).events).toHaveLength(4);
  });

  test('a hot path reads nothing', async () => {
    const { store } = await activated();
    const counted = new FaultyEventStore(store);
    const handler = commandHandler(counted);
    await handler.handle(settle('001'));
    const before = counted.reads;
    await handler.handle(settle('002'));
    await handler.handle(settle('003'));
    expect(counted.reads).toBe(before);
  });

  test('a key with the same contents replays, with other contents conflicts', async () => {
    const { store, handler } = await activated();
    await handler.handle(settle('001'));
    expect((await handler.handle(settle('001'))).replayed).toBe(true);
    expect((await commandHandler(store).handle(settle('001'))).replayed).toBe(true);
    await expect(handler.handle(settle('002', '001', 'other'))).rejects.toMatchObject({
      code: 'idempotency_conflict',
      // A new key would pay twice.
      message: expect.stringMatching(/read the operation to see what was done, or send those contents again/),
      details: [{ field: 'idempotency_key' }],
    });
    expect((await store.read(STREAM)).events).toHaveLength(5);
  });

  test('a replay shows the operation as it is now, also when another process changed it', async () => {
    const store = new InMemoryEventStore();
    const [here, there] = [commandHandler(store), commandHandler(store)];
    const assign = request(receiveL1, { idempotency: { endpoint: 'assign', key: 'K', fingerprint: 'f' } });
    await here.handle(assign);
    await there.handle(request({ type: 'ApproveLoan', now: NOW }));
    expect(await here.handle(assign)).toMatchObject({ replayed: true, state: { status: 'approved' } });
  });

  test('a key that another operation used conflicts, also when the request would be refused anyway', async () => {
    const { store, handler } = await activated();
    for (const step of steps) await handler.handle(request(step, { stream: 'loan-app-1.L2' }));
    await handler.handle(settle('001'));
    const conflict = { code: 'idempotency_conflict' };
    await expect(handler.handle(settle('001', '001', 'x', 'loan-app-1.L2'))).rejects.toMatchObject(conflict);
    await expect(handler.handle(settle('001', '001', 'x', 'loan-app-1.L3'))).rejects.toMatchObject(conflict);
    await expect(handler.handle(settle('999', '001', 'x', 'loan-app-1.L2'))).rejects.toMatchObject(conflict);
    expect((await store.read('loan-app-1.L2')).events).toHaveLength(4);
  });

  test('a refused request does not use up its key', async () => {
    const { handler } = await activated();
    await expect(handler.handle(settle('999', 'K', 'a'))).rejects.toMatchObject({
      code: 'installment_not_found',
    });
    expect((await handler.handle(settle('001', 'K', 'b'))).replayed).toBe(false);
  });

  test('identical requests at once: one executes, the others replay', async () => {
    const { store, handler } = await activated();
    const others = [commandHandler(store), commandHandler(store)];
    const all = await Promise.all(
      [handler, handler, ...others, ...others].map((each) => each.handle(settle('001'))),
    );
    expect(all.filter(({ replayed }) => !replayed)).toHaveLength(1);
    expect((await store.read(STREAM)).events).toHaveLength(5);
  });

  test('writers of one operation in several processes all succeed, each once', async () => {
    const { store } = await activated();
    const codes = ['001', '002', '003', '004', '005'];
    await Promise.all(codes.map((code) => commandHandler(store).handle(settle(code))));
    const { events } = await store.read(STREAM);
    expect(events.filter((e) => e.type === 'installment.settled.v1')).toHaveLength(codes.length);
    expect(findBrokenLink(STREAM, events)).toBe(-1);
  });

  test('a refusal never rests on a state that another process has moved on', async () => {
    const store = new InMemoryEventStore();
    const [here, there] = [commandHandler(store), commandHandler(store)];
    await here.handle(request(receiveL1));
    for (const step of steps.slice(1)) await there.handle(request(step));
    expect((await here.handle(settle('001'))).replayed).toBe(false);
  });

  test.each<[readonly Fate[]]>([
    [['answer_lost']],
    [['lost']],
    [['lost', 'answer_lost', 'lost']],
    [['answer_lost', 'answer_lost', 'answer_lost', 'answer_lost']],
  ])('an unknown outcome (%j) is retried and happens once', async (fates) => {
    const { store } = await activated();
    const handler = commandHandler(new FaultyEventStore(store, fates));
    expect((await handler.handle(settle('001'))).replayed).toBe(false);
    expect((await store.read(STREAM)).events).toHaveLength(5);
  });

  test('an outcome that stays unknown is said to be unknown, and the same request finds out later', async () => {
    const { store } = await activated();
    const fates: Fate[] = Array.from({ length: 5 }, () => 'answer_lost');
    const handler = commandHandler(new FaultyEventStore(store, fates));
    await expect(handler.handle(settle('001'))).rejects.toBeInstanceOf(OutcomeUnknownError);
    expect((await handler.handle(settle('001'))).replayed).toBe(true);
    expect((await store.read(STREAM)).events).toHaveLength(5);
  });

  test('a store that cannot store leaves nothing behind, and works again', async () => {
    const { store } = await activated();
    const handler = commandHandler(new FaultyEventStore(store, ['refused']));
    await expect(handler.handle(settle('001'))).rejects.toBeInstanceOf(StoreUnavailableError);
    expect((await handler.handle(settle('001'))).replayed).toBe(false);
  });
});
