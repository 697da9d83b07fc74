import type { RenegotiationTerms } from '../../domain/loan/events.ts';
import type { EventEntry } from './event-entry.ts';
import { object, text, texts } from './payload.ts';
import type { Payload } from './payload.ts';

export const encodeTerms = (terms: RenegotiationTerms): Payload => ({
  renegotiation_id: terms.renegotiationId,
  original_proposal_codes: terms.originalProposalCodes,
  new_proposal_code: terms.newProposalCode,
  effective_date: terms.effectiveDate,
});
export const decodeTerms = (payload: Payload, field = 'renegotiation'): RenegotiationTerms => {
  const p = object(payload, field);
  return {
    renegotiationId: text(p, 'renegotiation_id'),
    originalProposalCodes: texts(p, 'original_proposal_codes'),
    newProposalCode: text(p, 'new_proposal_code'),
    effectiveDate: text(p, 'effective_date'),
  };
};

export const loanReserved: EventEntry<'LoanReserved'> = {
  storedType: 'loan.reserved.v1',
  encode: (event) => ({ renegotiation_id: event.renegotiationId, lease_ends_at: event.leaseEndsAt }),
  decode: (p) => ({
    type: 'LoanReserved',
    renegotiationId: text(p, 'renegotiation_id'),
    leaseEndsAt: text(p, 'lease_ends_at'),
  }),
};

export const loanReservationReleased: EventEntry<'LoanReservationReleased'> = {
  storedType: 'loan.reservation_released.v1',
  encode: (event) => ({ renegotiation_id: event.renegotiationId }),
  decode: (p) => ({ type: 'LoanReservationReleased', renegotiationId: text(p, 'renegotiation_id') }),
};

export const loanRenegotiated: EventEntry<'LoanRenegotiated'> = {
  storedType: 'loan.renegotiated.v1',
  encode: (event) => ({
    renegotiation: encodeTerms(event.renegotiation),
    renegotiated_at: event.renegotiatedAt,
  }),
  decode: (p) => ({
    type: 'LoanRenegotiated',
    renegotiation: decodeTerms(p),
    renegotiatedAt: text(p, 'renegotiated_at'),
  }),
};

export const loanRenegotiationCompleted: EventEntry<'LoanRenegotiationCompleted'> = {
  storedType: 'loan.renegotiation_completed.v1',
  encode: (event) => ({ renegotiation: encodeTerms(event.renegotiation), completed_at: event.completedAt }),
  decode: (p) => ({
    type: 'LoanRenegotiationCompleted',
    renegotiation: decodeTerms(p),
    completedAt: text(p, 'completed_at'),
  }),
};
