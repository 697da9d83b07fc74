import { becomeOverdue } from '../../domain/installment/index.ts';
import type { InstallmentBecameOverdue } from '../../domain/installment/events.ts';
import { loanDecider } from '../../domain/loan/index.ts';
import type {
  DecisionRecord,
  LoanCommand,
  LoanEvent,
  LoanReceived,
  LoanReserved,
  LoanState,
} from '../../domain/loan/index.ts';
import { addDays } from '../../domain/shared/calendar-date.ts';

const decidedBy = ({ decision }: { readonly decision?: DecisionRecord }) => (decision ? { decision } : {});

/** An operation's code is reserved before it has a state, an active one as it is. */
const reservation = (event: LoanReserved, state: LoanState, code: string): LoanCommand => {
  const { renegotiationId, leaseEndsAt } = event;
  return state.status === 'none'
    ? { type: 'ReserveLoanCode', renegotiationId, leaseEndsAt, code: code as LoanReceived['code'] }
    : { type: 'ReserveLoan', renegotiationId, leaseEndsAt };
};

type Caused = Exclude<
  LoanEvent['type'],
  'LoanReceived' | 'InstallmentBecameOverdue' | 'InstallmentUnderpaid' | 'LoanFullySettled'
>;
type Of<Type extends LoanEvent['type']> = Extract<LoanEvent, { type: Type }>;

const repurchase = (event: Of<'RepurchaseRequested'>): LoanCommand => {
  const { reason, reasonDetail, effectiveDate, calculatedAt: now, repurchaseValue } = event;
  return {
    type: 'RequestRepurchase',
    reason,
    ...(reasonDetail !== undefined && { reasonDetail }),
    effectiveDate,
    ...(event.valueSource === 'informed' && { repurchaseValue }),
    now,
  };
};

/** The command that an event says it follows from; one entry an event, so that the compiler asks for a new one. */
const commands: {
  readonly [Type in Caused]: (event: Of<Type>, state: LoanState, code: string) => LoanCommand;
} = {
  LoanApproved: (event) => ({ type: 'ApproveLoan', now: event.approvedAt, ...decidedBy(event) }),
  LoanRejected: (event) => {
    const { reasons, rejectedAt: now } = event;
    return { type: 'RejectLoan', now, reasons, ...decidedBy(event) };
  },
  LoanTermSigned: (event) => ({ type: 'SignLoanTerm', now: event.signedAt, ...decidedBy(event) }),
  LoanDisbursed: ({ exitBasis = 'acquisition_value', ...event }) => ({
    ...event,
    type: 'DisburseLoan',
    exitBasis,
    now: event.disbursedAt,
  }),
  InstallmentSettled: (event) => ({ ...event, type: 'SettleInstallment', now: event.processedAt }),
  PrepaymentProcessed: (event) => ({ ...event, type: 'ProcessPrepayment', now: event.processedAt }),
  RepurchaseRequested: repurchase,
  RepurchaseCompleted: (event) => ({
    type: 'CompleteRepurchase',
    now: event.completedAt,
    ...decidedBy(event),
  }),
  DocumentsAdded: ({ documents, addedAt: now }) => ({ type: 'AddDocuments', documents, now }),
  BorrowerForgotten: ({ reason, forgottenAt: now }) => ({
    type: 'ForgetBorrower',
    ...(reason !== undefined && { reason }),
    now,
  }),
  LoanReserved: reservation,
  LoanReservationReleased: ({ renegotiationId }) => ({ type: 'ReleaseReservation', renegotiationId }),
  LoanRenegotiated: (event) => ({ ...event, type: 'RenegotiateLoan' }),
  LoanRenegotiationCompleted: ({ renegotiation, completedAt }) => ({
    type: 'CompleteRenegotiation',
    renegotiationId: renegotiation.renegotiationId,
    completedAt,
  }),
};

/** Its timer may have come days late: the first day on which it could says whether it was due at all. */
const overdue = (event: InstallmentBecameOverdue, state: LoanState): readonly LoanEvent[] => {
  if (state.status !== 'active' || event.recordedAt.slice(0, 10) <= event.dueDate) return [];
  const index = state.indexByCode.get(event.installmentCode);
  const installment = index === undefined ? undefined : state.installments[index];
  return installment ? becomeOverdue(installment, addDays(event.dueDate, 1), event.recordedAt) : [];
};

/** The price's factor is checked by itself: solving it again costs more than everything else together. */
const received = (event: LoanReceived, state: LoanState): readonly LoanEvent[] => {
  const { renegotiation } = event;
  if (!renegotiation) return state.status === 'none' ? [event] : [];
  const { renegotiationId } = renegotiation;
  return loanDecider.decide({ type: 'ReceiveRenegotiatedLoan', renegotiationId, received: event }, state);
};

/**
 * Everything that the rules of today make of the command behind this event, in the state before it; nothing where the event has no
 * command of its own and only follows another. @throws DomainError when the rules refuse it
 */
export const decideAgain = (event: LoanEvent, state: LoanState, code: string): readonly LoanEvent[] => {
  const { type } = event;
  if (type === 'InstallmentUnderpaid' || type === 'LoanFullySettled') return [];
  if (type === 'InstallmentBecameOverdue') return overdue(event, state);
  if (type === 'LoanReceived') return received(event, state);
  const commandOf = commands[type] as (event: LoanEvent, state: LoanState, code: string) => LoanCommand;
  return loanDecider.decide(commandOf(event, state, code), state);
};
