import { presentValue } from '../curve/present-value.ts';
import {
  carryCredit,
  evolveInstallment,
  isOpen,
  payOff,
  pendingInstallment,
} from '../installment/installment.ts';
import type { Installment, InstallmentEvent } from '../installment/installment.ts';
import type { CalendarDate } from '../shared/calendar-date.ts';
import { ZERO, addCents } from '../shared/money.ts';
import type { Cents } from '../shared/money.ts';
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
import { holds } from './state.ts';
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

/** Face values of the installments that are pending or overdue, in cents; credits of prepayments are not taken off. */
export const openFaceValue = (installments: readonly Installment[]): Cents =>
  addCents(...installments.filter(isOpen).map(({ faceValue }) => faceValue));

/** What would pay off everything open on `date`, in cents, along the curve of this daily factor. */
export const payoffValue = (
  installments: readonly Installment[],
  dailyFactor: string,
  date: CalendarDate,
): Cents => presentValue(dailyFactor, installments.filter(isOpen), date).total;

/** What the fund gave for the operation, in cents, as far as an exit is concerned: by the rule under which it was disbursed. */
export const exitBasisValue = ({
  exitBasis,
  disbursedValue,
  acquisitionValue,
}: LoanTerms & LoanBooks): Cents => (exitBasis === 'disbursed_value' ? disbursedValue : acquisitionValue);

/** Money received in cents: settlements, charges included, plus prepayments net of excess. */
export const totalReceived = (state: LoanState): Cents =>
  'receivedValue' in state ? state.receivedValue : ZERO;

/** Unchecked on purpose: replaying must not fail, and `decide` bounds every amount that gets into an event. */
const plus = (received: Cents, value: number): Cents => (received + value) as Cents;

const openBooks = (
  { schedule }: LoanTerms,
  { disbursedValue, disbursementDate, exitBasis = 'acquisition_value' }: LoanDisbursed,
): LoanBooks => ({
  disbursedValue,
  ...(disbursementDate !== undefined && { disbursementDate }),
  exitBasis,
  installments: schedule.map(pendingInstallment),
  openCount: schedule.length,
  receivedValue: 0 as Cents,
  prepayments: [],
});

/** The same loan when the event names no installment of it, or one that is closed already. */
const applyToInstallment = (loan: ActiveLoan, event: InstallmentEvent): ActiveLoan => {
  const index = loan.indexByCode.get(event.installmentCode);
  const before = index === undefined ? undefined : loan.installments[index];
  if (index === undefined || before === undefined) return loan;
  const after = evolveInstallment(before, event);
  if (after === before) return loan;
  return {
    ...loan,
    installments: loan.installments.with(index, after),
    openCount: isOpen(after) ? loan.openCount : loan.openCount - 1,
    receivedValue:
      event.type === 'InstallmentSettled' ? plus(loan.receivedValue, event.settledValue) : loan.receivedValue,
  };
};

const applyPrepayment = (loan: ActiveLoan, event: PrepaymentProcessed): ActiveLoan => {
  const installments: Installment[] = [...loan.installments];
  let openCount = loan.openCount;
  const change = (code: string, next: (installment: Installment) => Installment): void => {
    const index = loan.indexByCode.get(code);
    const before = index === undefined ? undefined : installments[index];
    if (index === undefined || before === undefined) return;
    const after = next(before);
    installments[index] = after;
    if (isOpen(before) && !isOpen(after)) openCount -= 1;
  };
  const payment = { date: event.prepaymentDate, paymentMethod: event.paymentMethod };
  for (const code of event.settledInstallments) change(code, (installment) => payOff(installment, payment));
  const { partial } = event;
  if (partial) change(partial.installmentCode, (installment) => carryCredit(installment, partial.credit));
  return {
    ...loan,
    installments,
    openCount,
    receivedValue: plus(loan.receivedValue, event.prepaymentValue - event.excessValue),
    prepayments: [...loan.prepayments, event],
  };
};

const receivedLoan = (event: LoanReceived): ReceivedLoan => ({
  status: 'received',
  applicationId: event.applicationId,
  fundId: event.fundId,
  code: event.code,
  productType: event.productType,
  acquisitionValue: event.acquisitionValue,
  dateIssued: event.dateIssued,
  schedule: event.installments,
  indexByCode: new Map(event.installments.map(({ code }, index) => [code, index])),
  borrower: event.borrower,
  documents: event.documents,
  pricing: event.pricing,
  receivedAt: event.receivedAt,
  ...(event.renegotiation && { origin: event.renegotiation }),
  ...(event.sandboxOutcome !== undefined && { sandboxOutcome: event.sandboxOutcome }),
});

type Evolution<Event extends LoanEvent> = (state: LoanState, event: Event) => LoanState;
type Evolutions = { readonly [Type in LoanEvent['type']]: Evolution<Extract<LoanEvent, { type: Type }>> };

const onInstallment: Evolution<InstallmentEvent> = (state, event) =>
  state.status === 'active' ? applyToInstallment(state, event) : state;

const withDocuments: Evolution<DocumentsAdded> = (state, { documents }) =>
  'documents' in state ? { ...state, documents: [...state.documents, ...documents] } : state;

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

/** One entry an event, so that the compiler asks for a new one; which status it needs stands before what it does. */
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
  PrepaymentProcessed: (state, event) => (state.status === 'active' ? applyPrepayment(state, event) : state),
  LoanFullySettled: (state, event) =>
    state.status === 'active' ? { ...state, status: 'settled', closing: event } : state,
  RepurchaseRequested: (state, event) =>
    state.status === 'active' ? { ...state, status: 'repurchase_pending', repurchase: event } : state,
  RepurchaseCompleted: (state, event) =>
    state.status === 'repurchase_pending' ? { ...state, status: event.status, completion: event } : state,
  DocumentsAdded: withDocuments,
  BorrowerForgotten: withoutBorrower,
  LoanReserved: reserved,
  LoanReservationReleased: (state, event) => (holds(state, event) ? released(state) : state),
  LoanRenegotiated: (state, event) =>
    state.status === 'reserved' && holds(state, event.renegotiation) ? renegotiated(state, event) : state,
  LoanRenegotiationCompleted: (state, event) =>
    state.status === 'renegotiated' ? { ...state, completed: event } : state,
};

/** Total: an event that does not fit the status leaves the state as it is, so that a stream can always be read. */
export const evolve = (state: LoanState, event: LoanEvent): LoanState =>
  (evolutions[event.type] as Evolution<LoanEvent>)(state, event);
