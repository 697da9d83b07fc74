import type {
  LoanRenegotiated,
  LoanRenegotiationCompleted,
  LoanReservationReleased,
  LoanReserved,
  LoanReceived,
  RenegotiationTerms,
} from '../../../domain/loan/index.ts';
import { calendarDate } from '../../../domain/shared/calendar-date.ts';
import type { LoanCode, RealTime, RenegotiationId } from '../../../domain/shared/identifiers.ts';
import { NOW, received } from './loan-story.ts';

export const R1 = '6f0f3c5e-1c1c-4c55-9d6e-6b7a5a3e9b01' as RenegotiationId;
export const R2 = '6f0f3c5e-1c1c-4c55-9d6e-6b7a5a3e9b02' as RenegotiationId;
export const LEASE_END = '2026-06-20T12:00:05.000Z' as RealTime;
export const loanCode = (code: string): LoanCode => code as LoanCode;

export const terms: RenegotiationTerms = {
  renegotiationId: R1,
  originalProposalCodes: [loanCode('L1')],
  newProposalCode: loanCode('N1'),
  effectiveDate: calendarDate('2026-06-20'),
};
export const reserved = (renegotiationId = R1): LoanReserved => ({
  type: 'LoanReserved',
  renegotiationId,
  leaseEndsAt: LEASE_END,
});
export const released = (renegotiationId = R1): LoanReservationReleased => ({
  type: 'LoanReservationReleased',
  renegotiationId,
});
export const renegotiated: LoanRenegotiated = {
  type: 'LoanRenegotiated',
  renegotiation: terms,
  renegotiatedAt: NOW,
};
export const renegotiationCompleted: LoanRenegotiationCompleted = {
  type: 'LoanRenegotiationCompleted',
  renegotiation: terms,
  completedAt: NOW,
};
/** The operation that R1 brings in. */
export const successor: LoanReceived = { ...received, code: loanCode('N1'), renegotiation: terms };
