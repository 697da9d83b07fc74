import { describe, expect, test } from '@jest/globals';
import { loanDecider } from '../../../domain/loan/index.ts';
import type { LoanEvent } from '../../../domain/loan/index.ts';
import { stateAfter } from '../../../domain/shared/decider.ts';
import { specFor } from '../../support/decider-spec.ts';
import {
  NOW,
  activated,
  approved,
  disbursed,
  paid,
  received,
  rejected,
  termSigned,
} from '../support/loan-story.ts';
import {
  LEASE_END,
  R1,
  R2,
  loanCode,
  released,
  renegotiated,
  renegotiationCompleted,
  reserved,
  successor,
  terms,
} from '../support/renegotiation-story.ts';

const { given } = specFor(loanDecider);
const state = (...events: readonly LoanEvent[]) => stateAfter(loanDecider, events);
const reserve = (renegotiationId = R1) =>
  ({ type: 'ReserveLoan', renegotiationId, leaseEndsAt: LEASE_END }) as const;
const reserveCode = (renegotiationId = R1) =>
  ({ type: 'ReserveLoanCode', renegotiationId, code: loanCode('N1'), leaseEndsAt: LEASE_END }) as const;
const release = (renegotiationId = R1) => ({ type: 'ReleaseReservation', renegotiationId }) as const;
const renegotiate = (renegotiationId = R1) =>
  ({ type: 'RenegotiateLoan', renegotiation: { ...terms, renegotiationId }, renegotiatedAt: NOW }) as const;
const receive = (renegotiationId = R1) =>
  ({ type: 'ReceiveRenegotiatedLoan', renegotiationId, received: successor }) as const;
const complete = (renegotiationId = R1) =>
  ({ type: 'CompleteRenegotiation', renegotiationId, completedAt: NOW }) as const;

describe('an original', () => {
  test('is reserved once by one renegotiation, and by no other meanwhile', () => {
    given(...activated)
      .when(reserve())
      .then(reserved());
    given(...activated, reserved())
      .when(reserve())
      .thenNothing();
    given(...activated, reserved())
      .when(reserve(R2))
      .thenRefused('concurrent_modification');
  });

  test('is exactly what it was once it is released, payments included', () => {
    const story = [...activated, paid('001')];
    expect(state(...story, reserved(), released())).toEqual(state(...story));
  });

  test('is released only by the renegotiation that holds it', () => {
    given(...activated, reserved())
      .when(release())
      .then(released());
    given(...activated, reserved(R2))
      .when(release())
      .thenNothing();
    given(...activated)
      .when(release())
      .thenNothing();
    given(...activated, reserved(), released())
      .when(release())
      .thenNothing();
  });

  test('is renegotiated once, and only while this very renegotiation holds it', () => {
    given(...activated, reserved())
      .when(renegotiate())
      .then(renegotiated);
    given(...activated, reserved(), renegotiated)
      .when(renegotiate())
      .thenNothing();
    given(...activated, reserved(R2))
      .when(renegotiate())
      .thenNothing();
    given(...activated, reserved(), released())
      .when(renegotiate())
      .thenNothing();
    given(...activated)
      .when(renegotiate())
      .thenNothing();
  });

  test('keeps what was paid before', () => {
    const after = state(...activated, paid('001'), reserved(), renegotiated);
    expect(after).toMatchObject({ status: 'renegotiated', receivedValue: 95_000, openCount: 11 });
    expect(after).not.toHaveProperty('renegotiationId');
  });

  test('hears once that its successor is active', () => {
    given(...activated, reserved(), renegotiated)
      .when(complete())
      .then(renegotiationCompleted);
    given(...activated, reserved(), renegotiated, renegotiationCompleted)
      .when(complete())
      .thenNothing();
    given(...activated, reserved(), renegotiated)
      .when(complete(R2))
      .thenNothing();
    given(...activated)
      .when(complete())
      .thenRefused('operation_invalid_state', /is active/);
  });

  test('ignores events of another renegotiation, as every event that does not fit', () => {
    const held = state(...activated, reserved());
    expect(loanDecider.evolve(held, released(R2))).toBe(held);
    expect(loanDecider.evolve(held, reserved(R2))).toBe(held);
    const other = { ...renegotiated, renegotiation: { ...terms, renegotiationId: R2 } };
    expect(loanDecider.evolve(held, other)).toBe(held);
  });
});

describe('the new code', () => {
  test('is reserved where nothing is, and used where anything ever was', () => {
    given().when(reserveCode()).then(reserved());
    given(reserved()).when(reserveCode()).thenNothing();
    given(reserved(R2)).when(reserveCode()).thenRefused('concurrent_modification');
    given(reserved(R2), released(R2)).when(reserveCode()).then(reserved());
    given(received, rejected).when(reserveCode()).thenRefused('proposal_code_already_used');
  });

  test('is as unused as before once it is released', () => {
    expect(state(reserved(), released())).toEqual(loanDecider.initialState);
  });

  test('becomes the new operation once, and only for the renegotiation that holds it', () => {
    given(reserved()).when(receive()).then(successor);
    given(reserved(), successor).when(receive()).thenNothing();
    given(reserved(R2)).when(receive()).thenNothing();
    given(reserved(), released()).when(receive()).thenNothing();
    expect(state(reserved(R2), successor)).toEqual({ status: 'code_reserved', renegotiationId: R2 });
  });
});

describe('an operation that a renegotiation brought in', () => {
  test('cannot be rejected any more', () => {
    const command = { type: 'RejectLoan', reasons: [], now: NOW } as const;
    given(reserved(), successor)
      .when(command)
      .thenRefused('operation_invalid_state', /renegotiation/);
  });

  test('goes the ordinary way and says at its activation which renegotiation is through', () => {
    given(reserved(), successor, approved, termSigned)
      .when({ type: 'DisburseLoan', now: NOW })
      .then({ ...disbursed, renegotiation: terms });
  });
});
