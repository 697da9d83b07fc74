import type { ScheduledInstallment } from '../../domain/installment/state.ts';
import type {
  DecisionRecord,
  ExitBasis,
  LoanDocument,
  Pricing,
  SandboxOutcome,
} from '../../domain/loan/events.ts';
import type { CalendarDate } from '../../domain/shared/calendar-date.ts';
import type { EventEntry } from './event-entry.ts';
import { encodePrivate, integer, list, object, optional, privateName, text } from './payload.ts';
import type { Payload } from './payload.ts';
import { decodeTerms, encodeTerms } from './renegotiation-entries.ts';

export const encodePricing = (pricing: Pricing): Payload => ({
  policy: pricing.policy,
  daily_factor: pricing.dailyFactor,
});
export const decodePricing = (p: Payload): Pricing => ({
  policy: text(p, 'policy'),
  dailyFactor: text(p, 'daily_factor'),
});

const encodeInstallment = (installment: ScheduledInstallment): Payload => ({
  code: installment.code,
  due_date: installment.dueDate,
  face_value: installment.faceValue,
});
const decodeInstallment = (p: Payload): ScheduledInstallment => ({
  code: text(p, 'code'),
  dueDate: text(p, 'due_date'),
  faceValue: integer(p, 'face_value'),
});

export const encodeDocument = (document: LoanDocument): Payload => ({
  document_id: document.documentId,
  type: document.type,
  value: encodePrivate(document.value),
  sha256: document.sha256,
  size: document.size,
  received_at: document.receivedAt,
});
export const decodeDocument = (p: Payload): LoanDocument => ({
  documentId: text(p, 'document_id'),
  type: text(p, 'type'),
  value: privateName(p, 'value'),
  sha256: text(p, 'sha256'),
  size: integer(p, 'size'),
  receivedAt: text(p, 'received_at'),
});

export const loanReceived: EventEntry<'LoanReceived'> = {
  storedType: 'loan.received.v1',
  encode: (event) => ({
    application_id: event.applicationId,
    fund_id: event.fundId,
    code: event.code,
    product_type: event.productType,
    acquisition_value: event.acquisitionValue,
    date_issued: event.dateIssued,
    installments: event.installments.map(encodeInstallment),
    borrower: event.borrower,
    documents: event.documents.map(encodeDocument),
    pricing: encodePricing(event.pricing),
    received_at: event.receivedAt,
    ...(event.renegotiation && { renegotiation: encodeTerms(event.renegotiation) }),
    ...(event.sandboxOutcome !== undefined && { sandbox_outcome: event.sandboxOutcome }),
  }),
  decode: (p) => ({
    type: 'LoanReceived',
    applicationId: text(p, 'application_id'),
    fundId: text(p, 'fund_id'),
    code: text(p, 'code'),
    productType: text(p, 'product_type'),
    acquisitionValue: integer(p, 'acquisition_value'),
    dateIssued: text(p, 'date_issued'),
    installments: list(p, 'installments', decodeInstallment),
    borrower: text(p, 'borrower'),
    documents: list(p, 'documents', decodeDocument),
    pricing: decodePricing(object(p, 'pricing')),
    receivedAt: text(p, 'received_at'),
    ...optional(p, 'renegotiation', 'renegotiation', decodeTerms),
    ...optional(p, 'sandbox_outcome', 'sandboxOutcome', text<SandboxOutcome>),
  }),
};

export const encodeDecision = (decision: DecisionRecord): Payload => ({
  decided_at: decision.decidedAt,
  ...(decision.note !== undefined && { note: decision.note }),
});
export const decodeDecision = (payload: Payload, field: string): DecisionRecord => {
  const p = object(payload, field);
  return { decidedAt: text(p, 'decided_at'), ...optional(p, 'note', 'note', text) };
};

export const loanApproved: EventEntry<'LoanApproved'> = {
  storedType: 'loan.approved.v1',
  encode: (event) => ({
    approved_at: event.approvedAt,
    ...(event.decision && { decision: encodeDecision(event.decision) }),
  }),
  decode: (p) => ({
    type: 'LoanApproved',
    approvedAt: text(p, 'approved_at'),
    ...optional(p, 'decision', 'decision', decodeDecision),
  }),
};

export const loanRejected: EventEntry<'LoanRejected'> = {
  storedType: 'loan.rejected.v1',
  encode: (event) => ({
    rejected_at: event.rejectedAt,
    reasons: event.reasons.map(({ code, message }) => ({ code, message })),
    ...(event.decision && { decision: encodeDecision(event.decision) }),
  }),
  decode: (p) => ({
    type: 'LoanRejected',
    rejectedAt: text(p, 'rejected_at'),
    reasons: list(p, 'reasons', (r) => ({ code: text(r, 'code'), message: text(r, 'message') })),
    ...optional(p, 'decision', 'decision', decodeDecision),
  }),
};

export const loanTermSigned: EventEntry<'LoanTermSigned'> = {
  storedType: 'loan.term_signed.v1',
  encode: (event) => ({
    signed_at: event.signedAt,
    ...(event.decision && { decision: encodeDecision(event.decision) }),
  }),
  decode: (p) => ({
    type: 'LoanTermSigned',
    signedAt: text(p, 'signed_at'),
    ...optional(p, 'decision', 'decision', decodeDecision),
  }),
};

export const loanDisbursed: EventEntry<'LoanDisbursed'> = {
  storedType: 'loan.disbursed.v1',
  encode: (event) => ({
    disbursed_value: event.disbursedValue,
    disbursed_at: event.disbursedAt,
    ...(event.disbursementDate !== undefined && { disbursement_date: event.disbursementDate }),
    ...(event.exitBasis !== undefined && { exit_basis: event.exitBasis }),
    ...(event.decision && { decision: encodeDecision(event.decision) }),
    ...(event.renegotiation && { renegotiation: encodeTerms(event.renegotiation) }),
  }),
  decode: (p) => ({
    type: 'LoanDisbursed',
    disbursedValue: integer(p, 'disbursed_value'),
    disbursedAt: text(p, 'disbursed_at'),
    ...optional(p, 'disbursement_date', 'disbursementDate', text<CalendarDate>),
    ...optional(p, 'exit_basis', 'exitBasis', text<ExitBasis>),
    ...optional(p, 'decision', 'decision', decodeDecision),
    ...optional(p, 'renegotiation', 'renegotiation', decodeTerms),
  }),
};
