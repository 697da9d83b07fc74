import { expect, test } from '@jest/globals';
import { loanDecider } from '../../../domain/loan/index.ts';
import type { LoanCommand } from '../../../domain/loan/index.ts';
import { receiveL1 } from '../../domain/support/loan-story.ts';
import { commandHandler } from '../../support/application-parts.ts';
import { InMemoryEventStore } from '../../support/in-memory-event-store.ts';
import { ManualClock } from '../../support/manual-clock.ts';

const STREAM = 'loan-app-1.OP-1';
const carryOut = (store: InMemoryEventStore, clock: ManualClock, command: LoanCommand): Promise<unknown> =>
  commandHandler(store, clock).handle({
    stream: STREAM,
    applicationId: 'app-1',
    actor: 'a',
    correlationId: 'c',
    decide: (state) => loanDecider.decide(command, state),
  });

test('every event says its fund, and recorded times never go back, whatever the clock of the next process shows', async () => {
  const store = new InMemoryEventStore();
  const ahead = new ManualClock('2027-06-20T12:00:00.000Z');
  const behind = new ManualClock('2026-06-20T12:00:00.000Z');
  const now = behind.now();
  await carryOut(store, ahead, receiveL1);
  await carryOut(store, behind, { type: 'ApproveLoan', now });
  ahead.advance(1);
  await carryOut(store, ahead, { type: 'SignLoanTerm', now });
  const { events } = await store.read(STREAM);
  // Whatever follows the log publishes by it, without a read.
  expect(events.map(({ metadata }) => metadata.fundId)).toEqual(Array(3).fill(receiveL1.fundId));
  expect(events.map(({ metadata }) => metadata.recordedAt)).toEqual([
    ...['2027-06-20T12:00:00.000Z', '2027-06-20T12:00:00.000Z', '2027-06-20T12:00:00.001Z'],
  ]);
});
