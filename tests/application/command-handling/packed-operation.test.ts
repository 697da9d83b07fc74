import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { noOperation } from '../../../application/command-handling/operation.ts';
import type { Operation } from '../../../application/command-handling/operation.ts';
import {
  liveBytes,
  packOperation,
  unpackOperation,
} from '../../../application/command-handling/packed-operation.ts';
import { loanDecider } from '../../../domain/loan/index.ts';
import type { LoanEvent } from '../../../domain/loan/index.ts';
import type { LoanState } from '../../../domain/loan/state.ts';
import { cents } from '../../../domain/shared/money.ts';
import { activated, installmentCode, paid, received, rejected } from '../../domain/support/loan-story.ts';
import {
  released,
  renegotiated,
  renegotiationCompleted,
  reserved,
  successor,
} from '../../domain/support/renegotiation-story.ts';
import { anyStory } from '../../domain/support/stories.ts';

const operationOf = (state: LoanState): Operation => ({
  state,
  revision: 7n,
  hash: 'a'.repeat(64),
  recordedAt: '2026-06-20T12:00:00.000Z',
  accepted: new Map([['installment/settle k-1', { fingerprint: 'f', revision: 5n }]]),
});

describe('a packed operation', () => {
  test('before its first event', () => {
    expect(unpackOperation(packOperation(noOperation()))).toStrictEqual({
      ...noOperation(),
      recordedAt: undefined,
    });
  });

  const comesBack = (events: readonly LoanEvent[]): void => {
    let state = loanDecider.initialState;
    for (const event of events) {
      state = loanDecider.evolve(state, event);
      const operation = operationOf(state);
      expect(unpackOperation(packOperation(operation))).toStrictEqual(operation);
    }
  };

  test('comes back as it was, whatever has happened to it', () => {
    fc.assert(
      fc.property(anyStory, ({ events }) => comesBack(events)),
      { numRuns: 60 },
    );
  });

  test('comes back as it was while a renegotiation holds it, after it, and as the one that replaces it', () => {
    comesBack([...activated, paid('001'), reserved(), released(), reserved(), renegotiated]);
    comesBack([...activated, reserved(), renegotiated, renegotiationCompleted]);
    comesBack([reserved(), successor, ...activated.slice(1)]);
    comesBack([received, rejected]);
  });

  test('is a text of a few characters an installment, however many there are', () => {
    const installments = Array.from({ length: 480 }, (_, i) => ({
      code: installmentCode(String(i)),
      dueDate: received.dateIssued,
      faceValue: cents(95_000),
    }));
    const state = [{ ...received, installments }, ...activated.slice(1)].reduce(
      (before: LoanState, event) => loanDecider.evolve(before, event),
      loanDecider.initialState,
    );
    const { length } = packOperation(operationOf(state));
    expect(length / 480).toBeLessThan(30);
    expect(liveBytes(operationOf(state))).toBeGreaterThan(7 * length);
  });

  test('an operation weighs more with every key that it has used', () => {
    const operation = noOperation();
    const before = liveBytes(operation);
    for (let n = 0; n < 1_000; n++)
      operation.accepted.set(`prepayment k-${n}`, { fingerprint: 'f', revision: BigInt(n) });
    expect(liveBytes(operation) - before).toBeGreaterThan(100_000);
  });
});
