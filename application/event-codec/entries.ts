import type { FundNamed } from '../../domain/fund/names.ts';
import type { ScheduledInstallment } from '../../domain/installment/installment.ts';
import type {
  LoanDocument,
  LoanEvent,
  PrepaymentProcessed,
  Pricing,
  RejectionReason,
  RenegotiationTerms,
  RepurchaseRequested,
  LoanReceived,
} from '../../domain/loan/events.ts';
import {
  amount,
  entry,
  flag,
  integer,
  list,
  object,
  optional,
  privateName,
  privateText,
  shape,
  text,
  texts,
  UnreadableEventError,
} from './fields.ts';
import type { EntriesOf, Shape } from './fields.ts';
import { decision } from './desk-entries.ts';
import type { RenegotiationEvent, Reservation } from '../../domain/renegotiation/state.ts';

const pricing = shape<Pricing>({ policy: text('policy'), dailyFactor: text('daily_factor') });

const scheduledInstallment = shape<ScheduledInstallment>({
  code: text('code'),
  dueDate: text('due_date'),
  faceValue: amount('face_value'),
});

const document = shape<LoanDocument>({
  documentId: text('document_id'),
  type: text('type'),
  value: privateName('value'),
  sha256: text('sha256'),
  size: integer('size'),
  receivedAt: text('received_at'),
});

const renegotiationTerms = shape<RenegotiationTerms>({
  renegotiationId: text('renegotiation_id'),
  originalProposalCodes: texts('original_proposal_codes'),
  newProposalCode: text('new_proposal_code'),
  effectiveDate: text('effective_date'),
});

type Partial = NonNullable<PrepaymentProcessed['partial']>;
const partial = shape<Partial>({
  installmentCode: text('installment_code'),
  credit: object('credit', shape<Partial['credit']>({ value: text('value'), date: text('date') })),
  outstandingAtDue: integer('outstanding_at_due'),
});

export const loanEntries: EntriesOf<LoanEvent> = {
  LoanReceived: entry('LoanReceived', 'loan.received.v1', {
    applicationId: text('application_id'),
    fundId: text('fund_id'),
    code: text('code'),
    productType: text('product_type'),
    acquisitionValue: amount('acquisition_value'),
    dateIssued: text('date_issued'),
    installments: list('installments', scheduledInstallment),
    borrower: text('borrower'),
    documents: list('documents', document),
    pricing: object('pricing', pricing),
    receivedAt: text('received_at'),
    renegotiation: optional(object('renegotiation', renegotiationTerms)),
    sandboxOutcome: optional(text('sandbox_outcome')),
    sandboxDisbursement: optional(amount('sandbox_disbursement')),
  }),
  LoanApproved: entry('LoanApproved', 'loan.approved.v1', {
    approvedAt: text('approved_at'),
    decision: optional(object('decision', decision)),
  }),
  LoanRejected: entry('LoanRejected', 'loan.rejected.v1', {
    rejectedAt: text('rejected_at'),
    reasons: list('reasons', shape<RejectionReason>({ code: text('code'), message: text('message') })),
    decision: optional(object('decision', decision)),
  }),
  LoanTermSigned: entry('LoanTermSigned', 'loan.term_signed.v1', {
    signedAt: text('signed_at'),
    decision: optional(object('decision', decision)),
  }),
  LoanDisbursed: entry('LoanDisbursed', 'loan.disbursed.v1', {
    disbursedValue: amount('disbursed_value'),
    disbursedAt: text('disbursed_at'),
    disbursementDate: optional(text('disbursement_date')),
    exitBasis: optional(text('exit_basis')),
    decision: optional(object('decision', decision)),
    renegotiation: optional(object('renegotiation', renegotiationTerms)),
  }),
  InstallmentSettled: entry('InstallmentSettled', 'installment.settled.v1', {
    installmentCode: text('installment_code'),
    settledAt: text('settled_at'),
    settledValue: amount('settled_value'),
    scheduledValue: integer('scheduled_value'),
    paymentMethod: text('payment_method'),
    lateDays: integer('late_days'),
    processedAt: text('processed_at'),
  }),
  InstallmentUnderpaid: entry('InstallmentUnderpaid', 'installment.underpaid.v1', {
    installmentCode: text('installment_code'),
    scheduledValue: integer('scheduled_value'),
    settledValue: amount('settled_value'),
    difference: integer('difference'),
    settledAt: text('settled_at'),
    processedAt: text('processed_at'),
  }),
  InstallmentBecameOverdue: entry('InstallmentBecameOverdue', 'installment.became_overdue.v1', {
    installmentCode: text('installment_code'),
    dueDate: text('due_date'),
    recordedAt: text('recorded_at'),
  }),
  PrepaymentProcessed: entry('PrepaymentProcessed', 'loan.prepayment_processed.v1', {
    prepaymentValue: amount('prepayment_value'),
    prepaymentDate: text('prepayment_date'),
    paymentMethod: text('payment_method'),
    settledInstallments: texts('settled_installments'),
    partial: optional(object('partial', partial)),
    payoffValue: integer('payoff_value'),
    remainingBalance: integer('remaining_balance'),
    excessValue: amount('excess_value'),
    pricing: object('pricing', pricing),
    lines: list(
      'lines',
      shape<PrepaymentProcessed['lines'][number]>({
        installmentCode: text('installment_code'),
        presentValue: integer('present_value'),
        paidOff: flag('paid_off'),
      }),
    ),
    processedAt: text('processed_at'),
  }),
  LoanFullySettled: entry('LoanFullySettled', 'loan.fully_settled.v1', {
    settledAt: text('settled_at'),
    closingEvent: text('closing_event'),
    totalReceived: integer('total_received'),
    processedAt: text('processed_at'),
  }),
  RepurchaseRequested: entry('RepurchaseRequested', 'loan.repurchase_requested.v1', {
    reason: text('reason'),
    reasonDetail: optional(privateText('reason_detail')),
    effectiveDate: text('effective_date'),
    repurchaseValue: amount('repurchase_value'),
    calculatedValue: integer('calculated_value'),
    valueSource: text('value_source'),
    pricing: object('pricing', pricing),
    lines: list(
      'lines',
      shape<RepurchaseRequested['lines'][number]>({
        installmentCode: text('installment_code'),
        presentValue: integer('present_value'),
      }),
    ),
    receivedValue: integer('received_value'),
    calculatedAt: text('calculated_at'),
  }),
  RepurchaseCompleted: entry('RepurchaseCompleted', 'loan.repurchase_completed.v1', {
    reason: text('reason'),
    repurchaseValue: amount('repurchase_value'),
    status: text('status'),
    completedAt: text('completed_at'),
    decision: optional(object('decision', decision)),
  }),
  DocumentsAdded: entry('DocumentsAdded', 'loan.documents_added.v1', {
    documents: list('documents', document),
    addedAt: text('added_at'),
  }),
  BorrowerForgotten: entry('BorrowerForgotten', 'loan.borrower_forgotten.v1', {
    reason: optional(text('reason')),
    forgottenAt: text('forgotten_at'),
  }),
  LoanReserved: entry('LoanReserved', 'loan.reserved.v1', {
    renegotiationId: text('renegotiation_id'),
    leaseEndsAt: text('lease_ends_at'),
  }),
  LoanReservationReleased: entry('LoanReservationReleased', 'loan.reservation_released.v1', {
    renegotiationId: text('renegotiation_id'),
  }),
  LoanRenegotiated: entry('LoanRenegotiated', 'loan.renegotiated.v1', {
    renegotiation: object('renegotiation', renegotiationTerms),
    renegotiatedAt: text('renegotiated_at'),
  }),
  LoanRenegotiationCompleted: entry('LoanRenegotiationCompleted', 'loan.renegotiation_completed.v1', {
    renegotiation: object('renegotiation', renegotiationTerms),
    completedAt: text('completed_at'),
  }),
};

export const fundEntries: EntriesOf<FundNamed> = {
  FundNamed: entry('FundNamed', 'fund.named.v1', {
    fundId: text('fund_id'),
    name: text('name'),
    namedAt: text('named_at'),
  }),
};

const reservation = shape<Reservation>({
  code: text('code'),
  stream: text('stream'),
  revision: integer('revision'),
});

/** The event inside keeps its own versioned name, so that it can change as it would in its own stream. */
const loanReceived = loanEntries.LoanReceived;
const storedType = text<string>('type');
const data = object('data', loanReceived);
const received: Shape<LoanReceived> = {
  encode: (event) => ({ type: loanReceived.storedType, data: data.encode(event) }),
  decode: (payload) => {
    const type = storedType.decode(payload['type']);
    if (type !== loanReceived.storedType) throw new UnreadableEventError(`unknown received event ${type}`);
    return data.decode(payload['data']);
  },
};

export const renegotiationEntries: EntriesOf<RenegotiationEvent> = {
  RenegotiationStarted: entry('RenegotiationStarted', 'renegotiation.started.v1', {
    renegotiationId: text('renegotiation_id'),
    applicationId: text('application_id'),
    originalProposalCodes: texts('original_proposal_codes'),
    newProposalCode: text('new_proposal_code'),
    leaseEndsAt: text('lease_ends_at'),
    startedAt: text('started_at'),
  }),
  RenegotiationCommitted: entry('RenegotiationCommitted', 'renegotiation.committed.v1', {
    renegotiation: object('renegotiation', renegotiationTerms),
    applicationId: text('application_id'),
    originals: list('originals', reservation),
    newLoan: object('new_loan', reservation),
    received: object('received', received),
    fingerprint: text('fingerprint'),
    committedAt: text('committed_at'),
  }),
  RenegotiationAborted: entry('RenegotiationAborted', 'renegotiation.aborted.v1', {
    abortedAt: text('aborted_at'),
  }),
  RenegotiationCompleted: entry('RenegotiationCompleted', 'renegotiation.completed.v1', {
    completedAt: text('completed_at'),
  }),
};
