import type { InstallmentSettled, InstallmentUnderpaid } from '../../domain/installment/events.ts';
import type {
  LoanDisbursed,
  LoanEvent,
  LoanFullySettled,
  LoanReceived,
  LoanRejected,
  LoanRenegotiationCompleted,
  PrepaymentProcessed,
  RepurchaseCompleted,
  RepurchaseRequested,
} from '../../domain/loan/events.ts';
import { amount } from './amount.ts';
import type { LoanEventName } from './event-names.ts';

/** One event of the catalogue as a stored event gives it, without its envelope. */
export interface PublicPayload {
  readonly name: LoanEventName;
  readonly data: object;
  /** Fields that stand beside the envelope's own as well. */
  readonly flat?: object;
}

const loanReceived = (event: LoanReceived): PublicPayload => ({
  name: 'loan_received',
  data: {
    status: 'received',
    received_at: event.receivedAt,
    acquisition_value: amount(event.acquisitionValue),
    number_of_installments: event.installments.length,
  },
});

const disbursementCompleted = (event: LoanDisbursed): PublicPayload => ({
  name: 'disbursement_completed',
  data: {
    status: 'active',
    disbursed_value: amount(event.disbursedValue),
    disbursed_at: event.disbursedAt,
    ...(event.disbursementDate !== undefined && { disbursement_date: event.disbursementDate }),
  },
});

const installmentSettled = (event: InstallmentSettled): PublicPayload => ({
  name: 'installment_settled',
  data: {
    installment_code: event.installmentCode,
    settled_at: event.settledAt,
    settled_value: amount(event.settledValue),
    scheduled_value: amount(event.scheduledValue),
    payment_method: event.paymentMethod,
    late_days: event.lateDays,
  },
  flat: { installment_code: event.installmentCode, settled_value: amount(event.settledValue) },
});

const installmentUnderpaid = (event: InstallmentUnderpaid): PublicPayload => ({
  name: 'installment_underpaid',
  data: {
    installment_code: event.installmentCode,
    scheduled_value: amount(event.scheduledValue),
    settled_value: amount(event.settledValue),
    difference: amount(event.difference),
    settled_at: event.settledAt,
  },
});

const installmentPrepaid = (event: PrepaymentProcessed): PublicPayload => ({
  name: 'installment_prepaid',
  data: {
    prepayment_value: amount(event.prepaymentValue),
    prepayment_date: event.prepaymentDate,
    settled_installments: event.settledInstallments,
    remaining_balance: amount(event.remainingBalance),
    excess_value: amount(event.excessValue),
    ...(event.partial && {
      partially_paid: {
        installment_code: event.partial.installmentCode,
        outstanding_value: amount(event.partial.outstandingAtDue),
      },
    }),
  },
});

const loanFullySettled = (event: LoanFullySettled): PublicPayload => ({
  name: 'loan_fully_settled',
  data: {
    status: 'settled',
    settled_at: event.settledAt,
    closing_event: event.closingEvent,
    total_received: amount(event.totalReceived),
  },
});

const repurchaseReceived = (event: RepurchaseRequested): PublicPayload => ({
  name: 'repurchase_received',
  data: {
    reason: event.reason,
    effective_date: event.effectiveDate,
    repurchase_value: amount(event.repurchaseValue),
    calculated_at: event.calculatedAt,
    value_source: event.valueSource,
  },
});

const repurchaseCompleted = (event: RepurchaseCompleted): PublicPayload => ({
  name: 'repurchase_completed',
  data: {
    reason: event.reason,
    repurchase_value: amount(event.repurchaseValue),
    status: event.status,
    completed_at: event.completedAt,
  },
});

const renegotiationCompleted = ({
  renegotiation,
  completedAt,
}: LoanRenegotiationCompleted): PublicPayload => ({
  name: 'renegotiation_completed',
  data: {
    original_proposal_codes: renegotiation.originalProposalCodes,
    new_proposal_code: renegotiation.newProposalCode,
    effective_date: renegotiation.effectiveDate,
    completed_at: completedAt,
  },
});

const loanRejected = ({ rejectedAt, reasons }: LoanRejected): PublicPayload => ({
  name: 'loan_rejected',
  data: {
    status: 'rejected',
    rejected_at: rejectedAt,
    reasons: reasons.map(({ code, message }) => ({ code, message })),
  },
});

type Publication<Type extends LoanEvent['type']> = (
  event: Extract<LoanEvent, { type: Type }>,
) => PublicPayload;
type Publications = { readonly [Type in LoanEvent['type']]: Publication<Type> | 'internal' };

/** One entry an event, so that the compiler asks whether a new one goes out. */
const publications: Publications = {
  LoanReceived: loanReceived,
  LoanApproved: ({ approvedAt }) => ({
    name: 'loan_approved',
    data: { status: 'approved', approved_at: approvedAt },
  }),
  LoanRejected: loanRejected,
  LoanTermSigned: ({ signedAt }) => ({
    name: 'loan_term_signed',
    data: { status: 'term_signed', signed_at: signedAt },
  }),
  LoanDisbursed: disbursementCompleted,
  InstallmentSettled: installmentSettled,
  InstallmentUnderpaid: installmentUnderpaid,
  InstallmentBecameOverdue: 'internal',
  PrepaymentProcessed: installmentPrepaid,
  LoanFullySettled: loanFullySettled,
  RepurchaseRequested: repurchaseReceived,
  RepurchaseCompleted: repurchaseCompleted,
  DocumentsAdded: 'internal',
  BorrowerForgotten: 'internal',
  LoanReserved: 'internal',
  LoanReservationReleased: 'internal',
  LoanRenegotiated: 'internal',
  LoanRenegotiationCompleted: renegotiationCompleted,
};

/** Every field is named here one by one: what is not listed stays inside, above all whatever concerns the borrower. */
export const publicPayloads = (event: LoanEvent): readonly PublicPayload[] => {
  const publication = publications[event.type] as Publication<LoanEvent['type']> | 'internal';
  return publication === 'internal' ? [] : [publication(event)];
};
