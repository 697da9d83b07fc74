import { hash } from 'node:crypto';
import type { DomainEvent } from '../../domain/domain-event.ts';
import type { InstallmentSettled, InstallmentUnderpaid } from '../../domain/installment/installment.ts';
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
import { partiallyPaid } from '../../domain/loan/payments.ts';
import { amount } from '../support/json-amounts.ts';
import type { PublicEvent } from '../ports/event-bus.ts';
import type { LogPosition } from '../ports/event-store.ts';
import type { LoanEventName } from './event-names.ts';

/** One event of the catalogue as a stored event gives it, without its envelope. */
interface PublicPayload {
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
    // Of a step of the sandbox, which states its day too, `disbursed_at` is enough.
    ...(event.decision &&
      event.disbursementDate !== undefined && { disbursement_date: event.disbursementDate }),
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

const installmentPrepaid = (event: PrepaymentProcessed): PublicPayload => {
  const partial = partiallyPaid(event);
  return {
    name: 'installment_prepaid',
    data: {
      prepayment_value: amount(event.prepaymentValue),
      prepayment_date: event.prepaymentDate,
      settled_installments: event.settledInstallments,
      remaining_balance: amount(event.remainingBalance),
      excess_value: amount(event.excessValue),
      ...(partial && {
        partially_paid: {
          installment_code: partial.installmentCode,
          outstanding_value: amount(partial.outstandingAtDue),
        },
      }),
    },
  };
};

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

/** Types of events that go out. */
export const PUBLISHED: ReadonlySet<DomainEvent['type']> = new Set(
  (Object.keys(publications) as LoanEvent['type'][]).filter((type) => publications[type] !== 'internal'),
);

/** Every field is named here one by one: what is not listed stays inside, above all whatever concerns the borrower. */
export const publicPayloads = (event: LoanEvent): readonly PublicPayload[] => {
  const publication = publications[event.type] as Publication<LoanEvent['type']> | 'internal';
  return publication === 'internal' ? [] : [publication(event)];
};

const bytesOf = (uuid: string): Buffer => Buffer.from(uuid.replaceAll('-', ''), 'hex');

/** The UUID of version 5 of this name in this namespace (RFC 9562): the same in every process and at any time. */
export const derivedId = (namespace: string, name: string): string => {
  const bytes = hash('sha1', Buffer.concat([bytesOf(namespace), Buffer.from(name)]), 'buffer');
  bytes[6] = (bytes[6]! & 0x0f) | 0x50;
  bytes[8] = (bytes[8]! & 0x3f) | 0x80;
  const hex = bytes.toString('hex', 0, 16);
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
};

/** Where a stored event stands, and whose it is. */
interface EventPlace {
  /** Id of the stored event. */
  readonly eventId: string;
  readonly applicationId: string;
  readonly fundId: string;
  /** originator_proposal_code */
  readonly code: string;
  /** Place in the operation's stream. */
  readonly revision: bigint;
  /** ISO 8601 UTC */
  readonly recordedAt: string;
  /** Place in the log. */
  readonly position?: LogPosition;
}

/** What a body is built of; `sequence` and `apiVersion` are ours, the rest is the envelope that receivers know. */
interface Envelope {
  readonly name: string;
  readonly eventId: string;
  readonly code: string | null;
  readonly fundId: string | null;
  readonly timestamp: string;
  readonly sequence: number;
  readonly apiVersion: string;
  readonly data: object;
  readonly flat?: object;
}

/** The bytes that are stored, signed and sent from now on. */
export const bodyOf = (envelope: Envelope): string =>
  JSON.stringify({
    event: envelope.name,
    event_id: envelope.eventId,
    originator_proposal_code: envelope.code,
    fund_id: envelope.fundId,
    timestamp: envelope.timestamp,
    sequence: envelope.sequence,
    api_version: envelope.apiVersion,
    ...envelope.flat,
    data: envelope.data,
  });

/**
 * The public events that a stored event gives, none for what stays inside. Pure: the same input gives the same ids and the same
 * bytes. The timestamp is when the service recorded the event, which never goes back within an operation.
 */
export const toPublicEvents = (
  event: LoanEvent,
  place: EventPlace,
  apiVersion: string,
): readonly PublicEvent[] => {
  const payloads = publicPayloads(event);
  return payloads.map(({ name, data, flat }) => {
    const eventId = payloads.length === 1 ? place.eventId : derivedId(place.eventId, name);
    const { applicationId, fundId, code, position, recordedAt: timestamp } = place;
    const sequence = Number(place.revision);
    const body = bodyOf({
      name,
      eventId,
      code,
      fundId,
      timestamp,
      sequence,
      apiVersion,
      data,
      ...(flat && { flat }),
    });
    const made = { eventId, name, applicationId, fundId, code, sequence, timestamp, body };
    return position === undefined ? made : { ...made, position };
  });
};
