import { carryCredit, evolveInstallment, isOpen, payOff, scheduleOf } from '../installment/installment.ts';
import type { Installment, InstallmentEvent } from '../installment/installment.ts';
import type { Decider } from '../shared/decider.ts';
import type { InstallmentCode } from '../shared/identifiers.ts';
import type { Cents } from '../shared/money.ts';
import { addDocuments, forgetBorrower } from './borrower-and-documents.ts';
import { approveLoan, disburseLoan, rejectLoan, signLoanTerm, receiveLoan } from './cession.ts';
import type { LoanCommand, RenegotiationStep } from './commands.ts';
import type {
  BorrowerForgotten,
  DocumentsAdded,
  LoanDisbursed,
  LoanEvent,
  LoanReceived,
  LoanRenegotiated,
  LoanReserved,
  PrepaymentProcessed,
} from './events.ts';
import { markInstallmentsOverdue, processPrepayment, settleInstallment } from './payments.ts';
import { completeRenegotiation, takeRenegotiationStep } from './renegotiation.ts';
import { completeRepurchase, requestRepurchase } from './repurchase.ts';
import { holds, installmentAt, requireUnreserved } from './state.ts';
import type {
  ActiveLoan,
  LoanBooks,
  LoanState,
  LoanTerms,
  ReceivedLoan,
  RenegotiatedLoan,
  ReservedCode,
  ReservedLoan,
} from './state.ts';

/** Unchecked on purpose: replaying must not fail, and `decide` bounds every amount that gets into an event. */
const plus = (received: Cents, value: number): Cents => (received + value) as Cents;

const openBooks = (
  { schedule }: LoanTerms,
  { disbursedValue, disbursementDate, exitBasis = 'acquisition_value' }: LoanDisbursed,
): LoanBooks => ({
  disbursedValue,
  ...(disbursementDate !== undefined && { disbursementDate }),
  exitBasis,
  changed: schedule.codes.map(() => undefined),
  openCount: schedule.codes.length,
  receivedValue: 0 as Cents,
});

/** The first change of a list copies it, later ones of the same fold are written into that copy, which nobody else has seen yet. */
class OwnCopies {
  readonly #own = new Set<readonly unknown[]>();

  of<Item>(list: readonly Item[]): Item[] {
    if (this.#own.has(list)) return list as Item[];
    const copy = [...list];
    this.#own.add(copy);
    return copy;
  }
}

/** The loan as it was when the event names no installment of it, or one that is closed already. */
const applyToInstallment = (loan: ActiveLoan, event: InstallmentEvent, copies: OwnCopies): ActiveLoan => {
  const index = loan.schedule.codes.indexOf(event.installmentCode);
  if (index < 0) return loan;
  const before = installmentAt(loan, index);
  const after = evolveInstallment(before, event);
  if (after === before) return loan;
  const changed = copies.of(loan.changed);
  changed[index] = after;
  return {
    ...loan,
    changed,
    openCount: isOpen(after) ? loan.openCount : loan.openCount - 1,
    receivedValue:
      event.type === 'InstallmentSettled' ? plus(loan.receivedValue, event.settledValue) : loan.receivedValue,
  };
};

const applyPrepayment = (loan: ActiveLoan, event: PrepaymentProcessed, copies: OwnCopies): ActiveLoan => {
  const { schedule } = loan;
  const changed = copies.of(loan.changed);
  let openCount = loan.openCount;
  const change = (code: InstallmentCode, next: (installment: Installment) => Installment): void => {
    const index = schedule.codes.indexOf(code);
    if (index < 0) return;
    const before = installmentAt({ schedule, changed }, index);
    const after = next(before);
    changed[index] = after;
    if (isOpen(before) && !isOpen(after)) openCount -= 1;
  };
  const payment = { date: event.prepaymentDate, paymentMethod: event.paymentMethod };
  for (const code of event.settledInstallments) change(code, (installment) => payOff(installment, payment));
  const { partial } = event;
  if (partial) change(partial.installmentCode, (installment) => carryCredit(installment, partial.credit));
  return {
    ...loan,
    changed,
    openCount,
    receivedValue: plus(loan.receivedValue, event.prepaymentValue - event.excessValue),
  };
};

const receivedLoan = ({ type: _, installments, renegotiation, ...terms }: LoanReceived): ReceivedLoan => ({
  status: 'received',
  ...terms,
  schedule: scheduleOf(installments),
  ...(renegotiation && { origin: renegotiation }),
});

type Evolution<Event extends LoanEvent> = (state: LoanState, event: Event, copies: OwnCopies) => LoanState;
type Evolutions = { readonly [Type in LoanEvent['type']]: Evolution<Extract<LoanEvent, { type: Type }>> };

const onInstallment: Evolution<InstallmentEvent> = (state, event, copies) =>
  state.status === 'active' ? applyToInstallment(state, event, copies) : state;

const withDocuments: Evolution<DocumentsAdded> = (state, { documents }, copies) => {
  if (!('documents' in state)) return state;
  const all = copies.of(state.documents);
  all.push(...documents);
  return { ...state, documents: all };
};

const withoutBorrower: Evolution<BorrowerForgotten> = (state, { forgottenAt }) =>
  'schedule' in state ? { ...state, borrowerForgottenAt: forgottenAt } : state;

const reserved: Evolution<LoanReserved> = (state, { renegotiationId }) => {
  if (state.status === 'none') return { status: 'code_reserved', renegotiationId };
  return state.status === 'active' ? { ...state, status: 'reserved', renegotiationId } : state;
};

const released = (state: ReservedLoan | ReservedCode): LoanState => {
  if (state.status === 'code_reserved') return { status: 'none' };
  const { renegotiationId: _, ...loan } = state;
  return { ...loan, status: 'active' };
};

const renegotiated = (state: ReservedLoan, event: LoanRenegotiated): RenegotiatedLoan => {
  const { renegotiationId: _, ...loan } = state;
  return { ...loan, status: 'renegotiated', renegotiated: event };
};

/** One entry an event, so that the compiler asks for a new one. */
const evolutions: Evolutions = {
  LoanReceived: (state, event) =>
    state.status === 'none' || holds(state, event.renegotiation) ? receivedLoan(event) : state,
  LoanApproved: (state) => (state.status === 'received' ? { ...state, status: 'approved' } : state),
  LoanRejected: (state, event) =>
    state.status === 'received' || state.status === 'approved' || state.status === 'term_signed'
      ? { ...state, status: 'rejected', reasons: event.reasons }
      : state,
  LoanTermSigned: (state) => (state.status === 'approved' ? { ...state, status: 'term_signed' } : state),
  LoanDisbursed: (state, event) =>
    state.status === 'term_signed' ? { ...state, ...openBooks(state, event), status: 'active' } : state,
  InstallmentSettled: onInstallment,
  InstallmentUnderpaid: onInstallment,
  InstallmentBecameOverdue: onInstallment,
  PrepaymentProcessed: (state, event, copies) =>
    state.status === 'active' ? applyPrepayment(state, event, copies) : state,
  LoanFullySettled: (state) => (state.status === 'active' ? { ...state, status: 'settled' } : state),
  RepurchaseRequested: (state, event) =>
    state.status === 'active' ? { ...state, status: 'repurchase_pending', repurchase: event } : state,
  RepurchaseCompleted: (state, event) =>
    state.status === 'repurchase_pending' ? { ...state, status: event.status } : state,
  DocumentsAdded: withDocuments,
  BorrowerForgotten: withoutBorrower,
  LoanReserved: reserved,
  LoanReservationReleased: (state, event) => (holds(state, event) ? released(state) : state),
  LoanRenegotiated: (state, event) =>
    state.status === 'reserved' && holds(state, event.renegotiation) ? renegotiated(state, event) : state,
  LoanRenegotiationCompleted: (state) =>
    state.status === 'renegotiated' ? { ...state, completed: true } : state,
};

/**
 * What evolving by one event after the other gives, with each list of the operation copied once, not for every event. Total: an event
 * that does not fit the status leaves the state as it is, so that a stream can always be read.
 */
export const fold = (state: LoanState, events: readonly LoanEvent[]): LoanState => {
  const copies = new OwnCopies();
  let folded = state;
  for (const event of events)
    folded = (evolutions[event.type] as Evolution<LoanEvent>)(folded, event, copies);
  return folded;
};

type Unreserved = Exclude<LoanCommand, RenegotiationStep>;
type Decision<Command extends LoanCommand> = (command: Command, state: LoanState) => readonly LoanEvent[];

/** What waits until a reservation is gone: everything but the steps of the renegotiation itself. */
const decisions: { readonly [Type in Unreserved['type']]: Decision<Extract<Unreserved, { type: Type }>> } = {
  ReceiveLoan: receiveLoan,
  ApproveLoan: approveLoan,
  RejectLoan: rejectLoan,
  SignLoanTerm: signLoanTerm,
  DisburseLoan: disburseLoan,
  SettleInstallment: settleInstallment,
  MarkInstallmentsOverdue: markInstallmentsOverdue,
  ProcessPrepayment: processPrepayment,
  RequestRepurchase: requestRepurchase,
  CompleteRepurchase: completeRepurchase,
  AddDocuments: addDocuments,
  ForgetBorrower: forgetBorrower,
  CompleteRenegotiation: completeRenegotiation,
};

const waits = (command: LoanCommand): command is Unreserved => command.type in decisions;

const decide = (command: LoanCommand, state: LoanState): readonly LoanEvent[] =>
  waits(command)
    ? (decisions[command.type] as Decision<LoanCommand>)(command, requireUnreserved(state))
    : takeRenegotiationStep(command, state);

export const loanDecider: Decider<LoanState, LoanCommand, LoanEvent> = {
  initialState: { status: 'none' },
  decide,
  evolve: (state, event) => fold(state, [event]),
};
