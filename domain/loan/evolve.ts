import type { InstallmentEvent } from '../installment/events.ts';
import { applyPrepayment, applyToInstallment, openBooks } from './books.ts';
import type {
  BorrowerForgotten,
  DocumentsAdded,
  LoanEvent,
  LoanReceived,
  LoanRenegotiated,
  LoanReserved,
} from './events.ts';
import { holds } from './state.ts';
import type { LoanState, ReceivedLoan, RenegotiatedLoan, ReservedCode, ReservedLoan } from './state.ts';

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
