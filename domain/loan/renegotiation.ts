import type {
  CompleteRenegotiation,
  ReceiveRenegotiatedLoan,
  ReleaseReservation,
  RenegotiationStep,
  RenegotiateLoan,
  ReserveLoan,
  ReserveLoanCode,
} from './commands.ts';
import type {
  LoanEvent,
  LoanReceived,
  LoanRenegotiated,
  LoanRenegotiationCompleted,
  LoanReservationReleased,
  LoanReserved,
} from './events.ts';
import {
  codeAlreadyUsed,
  holds,
  requireActive,
  requireLoan,
  requireUnreserved,
  wrongStatus,
} from './state.ts';
import type { LoanState } from './state.ts';

/*
 * What a renegotiation does to one operation. Reserving asks whether it may; everything after that only asks whether it still
 * has to: carrying out a decision that stands must never fail, however often and by however many it is carried out.
 */

const reserveLoan = (command: ReserveLoan, state: LoanState): readonly LoanReserved[] => {
  if (holds(state, command)) return [];
  requireActive(requireLoan(requireUnreserved(state)), 'a renegotiation');
  return [reservation(command)];
};

const reserveLoanCode = (command: ReserveLoanCode, state: LoanState): readonly LoanReserved[] => {
  if (holds(state, command)) return [];
  if (requireUnreserved(state).status !== 'none') throw codeAlreadyUsed(command.code);
  return [reservation(command)];
};

const reservation = ({ renegotiationId, leaseEndsAt }: ReserveLoan | ReserveLoanCode): LoanReserved => ({
  type: 'LoanReserved',
  renegotiationId,
  leaseEndsAt,
});

const releaseReservation = (
  { renegotiationId }: ReleaseReservation,
  state: LoanState,
): readonly LoanReservationReleased[] =>
  holds(state, { renegotiationId }) ? [{ type: 'LoanReservationReleased', renegotiationId }] : [];

const renegotiateLoan = (
  { renegotiation, renegotiatedAt }: RenegotiateLoan,
  state: LoanState,
): readonly LoanRenegotiated[] =>
  state.status === 'reserved' && holds(state, renegotiation)
    ? [{ type: 'LoanRenegotiated', renegotiation, renegotiatedAt }]
    : [];

const receiveRenegotiatedLoan = (
  { renegotiationId, received }: ReceiveRenegotiatedLoan,
  state: LoanState,
): readonly LoanReceived[] =>
  state.status === 'code_reserved' && holds(state, { renegotiationId }) ? [received] : [];

export const takeRenegotiationStep = (command: RenegotiationStep, state: LoanState): readonly LoanEvent[] => {
  switch (command.type) {
    case 'ReserveLoan':
      return reserveLoan(command, state);
    case 'ReserveLoanCode':
      return reserveLoanCode(command, state);
    case 'ReleaseReservation':
      return releaseReservation(command, state);
    case 'RenegotiateLoan':
      return renegotiateLoan(command, state);
    case 'ReceiveRenegotiatedLoan':
      return receiveRenegotiatedLoan(command, state);
  }
};

/** Sent when the new operation is active; by then the reservation is long gone. */
export const completeRenegotiation = (
  { renegotiationId, completedAt }: CompleteRenegotiation,
  state: LoanState,
): readonly LoanRenegotiationCompleted[] => {
  const loan = requireLoan(state);
  if (loan.status !== 'renegotiated') throw wrongStatus(loan, 'no renegotiation has replaced it');
  const { renegotiation } = loan.renegotiated;
  if (loan.completed || renegotiation.renegotiationId !== renegotiationId) return [];
  return [{ type: 'LoanRenegotiationCompleted', renegotiation, completedAt }];
};
