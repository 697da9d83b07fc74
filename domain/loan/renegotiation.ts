import { DomainError } from '../shared/domain-error.ts';
import type {
  CompleteRenegotiation,
  LoanCommand,
  ReceiveRenegotiatedLoan,
  ReleaseReservation,
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
import { codeAlreadyUsed, requireActive, requireLoan, wrongStatus } from './refusals.ts';
import { holds, isReserved } from './state.ts';
import type { LoanState } from './state.ts';

/*
 * What a renegotiation does to one operation. Reserving asks whether it may; everything after that only asks whether it still
 * has to: carrying out a decision that stands must never fail, however often and by however many it is carried out.
 */

/** @throws DomainError `concurrent_modification` while a renegotiation holds it */
export const requireUnreserved = (state: LoanState): LoanState => {
  if (!isReserved(state)) return state;
  throw new DomainError(
    'concurrent_modification',
    'a renegotiation of this operation is being decided; send the request again in a moment',
  );
};

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

/** What a renegotiation does where it holds a reservation, or to get one. */
export type RenegotiationStep =
  ReserveLoan | ReserveLoanCode | ReleaseReservation | RenegotiateLoan | ReceiveRenegotiatedLoan;

const STEPS: { readonly [Type in RenegotiationStep['type']]: true } = {
  ReserveLoan: true,
  ReserveLoanCode: true,
  ReleaseReservation: true,
  RenegotiateLoan: true,
  ReceiveRenegotiatedLoan: true,
};

export const isRenegotiationStep = (command: LoanCommand): command is RenegotiationStep =>
  command.type in STEPS;

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
