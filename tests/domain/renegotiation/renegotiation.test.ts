import { describe, expect, test } from '@jest/globals';
import { loanDecider } from '../../../domain/loan/index.ts';
import type { LoanEvent, LoanState } from '../../../domain/loan/index.ts';
import {
  renegotiationDecider,
  requireRenegotiable,
  requireSoundProposal,
} from '../../../domain/renegotiation/decider.ts';
import type {
  CommitRenegotiation,
  Proposal,
  RenegotiationEvent,
  RenegotiationStarted,
} from '../../../domain/renegotiation/state.ts';
import { calendarDate } from '../../../domain/shared/calendar-date.ts';
import type { FundId, SealedBorrower } from '../../../domain/shared/identifiers.ts';
import { stateAfter } from '../../../domain/shared/decider.ts';
import { refusalOf, specFor } from '../../support/decider-spec.ts';
import { centsOf } from '../support/finance-vectors.ts';
import { NOW, activated, installmentCode, received, requestRepurchase } from '../support/loan-story.ts';
import { LEASE_END, R1, R2, loanCode, reserved } from '../support/renegotiation-story.ts';

const { given } = specFor(renegotiationDecider);
const loan = (...events: readonly LoanEvent[]): LoanState => stateAfter(loanDecider, events);

const proposal: Proposal = {
  originalProposalCodes: [loanCode('L1')],
  newProposalCode: loanCode('N1'),
  effectiveDate: calendarDate('2026-06-20'),
  acquisitionValue: centsOf('6000.00'),
  installments: [
    { code: installmentCode('1'), dueDate: calendarDate('2026-08-20'), faceValue: centsOf('3100.00') },
    { code: installmentCode('2'), dueDate: calendarDate('2026-09-20'), faceValue: centsOf('3100.00') },
  ],
};
const started: RenegotiationStarted = {
  type: 'RenegotiationStarted',
  renegotiationId: R1,
  applicationId: received.applicationId,
  originalProposalCodes: proposal.originalProposalCodes,
  newProposalCode: proposal.newProposalCode,
  leaseEndsAt: LEASE_END,
  startedAt: NOW,
};
const original = {
  reservation: { code: loanCode('L1'), stream: 'loan-app-1.L1', revision: 4 },
  state: loan(...activated, reserved()),
};
const newLoan = {
  reservation: { code: loanCode('N1'), stream: 'loan-app-1.N1', revision: 0 },
  state: loan(reserved()),
};
const commit = (changes: Partial<CommitRenegotiation> = {}): CommitRenegotiation => ({
  type: 'CommitRenegotiation',
  proposal,
  originals: [original],
  newLoan,
  borrower: 'sealed again' as SealedBorrower,
  documents: received.documents,
  fingerprint: 'f',
  now: NOW,
  ...changes,
});
const abort = { type: 'AbortRenegotiation', now: NOW } as const;
const complete = { type: 'CompleteRenegotiation', now: NOW } as const;
const aborted: RenegotiationEvent = { type: 'RenegotiationAborted', abortedAt: NOW };
const committed = renegotiationDecider.decide(commit(), stateAfter(renegotiationDecider, [started]));

describe('the coordinator of a renegotiation', () => {
  test('commits with everything that carrying it out needs', () => {
    expect(committed).toMatchObject([
      {
        type: 'RenegotiationCommitted',
        renegotiation: { renegotiationId: R1, originalProposalCodes: ['L1'], newProposalCode: 'N1' },
        originals: [{ stream: 'loan-app-1.L1', revision: 4 }],
        newLoan: { stream: 'loan-app-1.N1', revision: 0 },
        received: {
          code: 'N1',
          fundId: received.fundId,
          productType: received.productType,
          dateIssued: '2026-06-20',
          borrower: 'sealed again',
          renegotiation: { renegotiationId: R1 },
        },
      },
    ]);
  });

  /** Solved with 60-digit bisection outside of this code: 3100 v^61 + 3100 v^92 = 6000. */
  test('fixes the curve of the new operation', () => {
    const [event] = committed;
    if (event?.type !== 'RenegotiationCommitted') throw new Error('no commit');
    expect(event.received.pricing.dailyFactor).toBe('0.999571177961007834740531157422');
  });

  test('decides once: what comes first stays', () => {
    given(started, ...committed)
      .when(commit())
      .thenNothing();
    given(started, ...committed)
      .when(abort)
      .thenNothing();
    given(started, aborted).when(abort).thenNothing();
    given(started, aborted).when(commit()).thenRefused('concurrent_modification');
    given().when(commit()).thenRefused('concurrent_modification');
    const state = stateAfter(renegotiationDecider, [started, ...committed]);
    expect(renegotiationDecider.evolve(state, aborted)).toBe(state);
  });

  test('completes after a commit and not after an abort', () => {
    given(started, ...committed)
      .when(complete)
      .then({ type: 'RenegotiationCompleted', completedAt: NOW });
    given(started, ...committed, { type: 'RenegotiationCompleted', completedAt: NOW })
      .when(complete)
      .thenNothing();
    given(started, aborted).when(complete).thenNothing();
    given(started).when(complete).thenNothing();
  });

  test.each([
    ['an original that is not reserved', { originals: [{ ...original, state: loan(...activated) }] }],
    [
      'one that another renegotiation holds',
      { originals: [{ ...original, state: loan(...activated, reserved(R2)) }] },
    ],
    ['a new code that is not reserved', { newLoan: { ...newLoan, state: loan() } }],
    ['a new code that another one holds', { newLoan: { ...newLoan, state: loan(reserved(R2)) } }],
  ])('does not commit over %s', (_, changes) => {
    given(started).when(commit(changes)).thenRefused('concurrent_modification');
  });

  test('asks for due dates after the issue, which is the effective date unless stated', () => {
    const early = { ...proposal, effectiveDate: calendarDate('2026-08-20') };
    given(started)
      .when(commit({ proposal: early }))
      .thenRefused('validation_error');
    const stated = { ...early, dateIssued: calendarDate('2026-08-19') };
    const state = stateAfter(renegotiationDecider, [started]);
    expect(renegotiationDecider.decide(commit({ proposal: stated }), state)).toHaveLength(1);
  });
});

describe('what may be renegotiated', () => {
  const check = (states: readonly LoanState[], changes: Partial<Proposal> = {}) =>
    refusalOf(() => requireRenegotiable({ ...proposal, ...changes }, states));

  test('operations that exist, of one fund, on a date after their issue, all active: refused in this order', () => {
    const otherFund = { ...received, fundId: '00000000-0000-4000-8000-000000000002' as FundId };
    const early = { effectiveDate: calendarDate('2026-01-14') };
    expect(check([loan(received), loan()], early).code).toBe('loan_not_found');
    expect(check([loan(received), loan(otherFund)], early)).toMatchObject({
      code: 'validation_error',
      details: [{ code: 'different_funds' }],
    });
    const later = { ...received, code: loanCode('OP-LATER'), dateIssued: calendarDate('2026-01-20') };
    expect(check([loan(...activated), loan(later), loan(received)], early)).toMatchObject({
      code: 'invalid_date',
      message: expect.stringMatching(/issue of operation OP-LATER; send 2026-01-20 or/),
    });
    expect(check([loan(...activated), loan(received)])).toMatchObject({
      code: 'operation_invalid_state',
      message: expect.stringContaining('is received'),
    });
    const pending = loan(
      ...activated,
      ...loanDecider.decide(requestRepurchase('repurchase'), loan(...activated)),
    );
    expect(check([pending]).message).toContain('is repurchase_pending');
  });

  test('the issue date of an original itself is a possible effective date', () => {
    expect(
      requireRenegotiable({ ...proposal, effectiveDate: received.dateIssued }, [loan(...activated)]),
    ).toHaveLength(1);
  });

  test.each([
    ['no original', { originalProposalCodes: [] }, 'required'],
    ['an original twice', { originalProposalCodes: ['A', 'B', 'A'].map(loanCode) }, 'duplicate_original'],
    [
      'the new code among the originals',
      { originalProposalCodes: ['A', 'N1'].map(loanCode) },
      'new_code_is_an_original',
    ],
  ])('%s is a mistake of the request', (_, changes, code) => {
    const refusal = refusalOf(() => requireSoundProposal({ ...proposal, ...changes }));
    expect(refusal).toMatchObject({ code: 'validation_error', details: [{ code }] });
  });
});
