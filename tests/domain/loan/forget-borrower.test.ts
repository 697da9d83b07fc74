import { describe, expect, test } from '@jest/globals';
import { loanDecider } from '../../../domain/loan/index.ts';
import type { LoanDocument, LoanEvent } from '../../../domain/loan/index.ts';
import { stateAfter } from '../../../domain/shared/decider.ts';
import { NOW, activated, received, settle } from '../support/loan-story.ts';

const forgotten: LoanEvent = { type: 'BorrowerForgotten', reason: 'request 7', forgottenAt: NOW };
const forget = { type: 'ForgetBorrower', reason: 'request 7', now: NOW } as const;
const decideAfter = (events: readonly LoanEvent[], command: Parameters<typeof loanDecider.decide>[0]) =>
  loanDecider.decide(command, stateAfter(loanDecider, events));

describe('a borrower is forgotten', () => {
  test('once, with the reason that was given', () => {
    expect(decideAfter([received], forget)).toEqual([forgotten]);
    expect(decideAfter([received], { type: 'ForgetBorrower', now: NOW })).toEqual([
      { type: 'BorrowerForgotten', forgottenAt: NOW },
    ]);
    expect(decideAfter([received, forgotten], { ...forget, reason: 'again' })).toEqual([]);
  });

  test('and the money goes on', () => {
    expect(decideAfter([...activated, forgotten], settle('001')).map(({ type }) => type)).toEqual([
      'InstallmentSettled',
    ]);
  });

  test('and no further documents are taken; what is there may be sent again, told by its content', () => {
    const [present] = received.documents;
    const add = (changes: Partial<LoanDocument>) => ({
      type: 'AddDocuments' as const,
      documents: [{ ...present!, value: 'a name that nobody can compare any more', ...changes }],
      now: NOW,
    });
    expect(decideAfter([received, forgotten], add({}))).toEqual([]);
    for (const other of [{ sha256: 'ef'.repeat(32) }, { type: 'invoice' }]) {
      expect(() => decideAfter([received, forgotten], add(other))).toThrow(
        expect.objectContaining({ code: 'operation_invalid_state' }),
      );
    }
  });
});
