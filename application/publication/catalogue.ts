import type { DomainEvent } from '../../domain/domain-event.ts';
import type { LoanEvent } from '../../domain/loan/events.ts';
import { REPURCHASE_END_STATUSES, REPURCHASE_REASONS } from '../../domain/loan/exits.ts';
import { partiallyPaid } from '../../domain/loan/payments.ts';
import { listOf, object, oneOf, ref, text } from '../schemas/schema.ts';
import { constant, shown, shownAmount, shownIfThere, shownPartIfThere } from '../schemas/shown-fields.ts';
import type { ShownFields } from '../schemas/shown-fields.ts';
import {
  Amount,
  Balance,
  CalendarDate,
  InstallmentCode,
  PaymentMethod,
  ProposalCode,
  Timestamp,
} from '../schemas/values.ts';

/** What all examples of messages are about. */
export const EXAMPLE_OPERATION = { applicationId: 'acme', code: 'OP-2026-000123' } as const;
const RECEIVED = '2026-01-15T12:00:00.000Z';
const PAID = '2026-02-15T15:04:05.000Z';

/** What is published of a stored event. */
export interface Publication<Event, Name extends string = string> {
  readonly name: Name;
  /** What happened. */
  readonly summary: string;
  /** When the example happened, and its place in the operation. */
  readonly example: readonly [timestamp: string, sequence: number];
  /** Named one by one: what is not listed stays inside, above all whatever concerns the borrower. */
  readonly data: ShownFields<Event>;
  /** Fields that stand beside the envelope's own as well, for receivers that read the event in its flat form. */
  readonly flat?: readonly string[];
}

const REASON = oneOf(REPURCHASE_REASONS, { description: 'As it was requested.' });

/** One entry an event, so that the compiler asks whether a new one goes out. Names are part of the interface: never changed, never reused. */
const CATALOGUE = {
  LoanReceived: {
    name: 'loan_received',
    summary: 'An operation was accepted for processing',
    example: [RECEIVED, 0],
    data: {
      status: constant('received'),
      received_at: shown(ref(Timestamp), RECEIVED, ({ receivedAt }) => receivedAt),
      acquisition_value: shownAmount(ref(Amount), 1800.0, ({ acquisitionValue }) => acquisitionValue),
      number_of_installments: shown(
        { type: 'integer', minimum: 1, description: 'Length of the schedule.' },
        2,
        ({ installments }) => installments.length,
      ),
    },
  },
  LoanApproved: {
    name: 'loan_approved',
    summary: 'An operation met the criteria of the fund',
    example: ['2026-01-15T12:00:02.000Z', 1],
    data: {
      status: constant('approved'),
      approved_at: shown(ref(Timestamp), '2026-01-15T12:00:02.000Z', ({ approvedAt }) => approvedAt),
    },
  },
  LoanRejected: {
    name: 'loan_rejected',
    summary: 'An operation was turned down',
    example: ['2026-01-15T12:00:02.000Z', 1],
    data: {
      status: constant('rejected'),
      rejected_at: shown(ref(Timestamp), '2026-01-15T12:00:02.000Z', ({ rejectedAt }) => rejectedAt),
      reasons: shown(
        listOf(
          object({
            code: text({ description: 'Stable name of the reason.' }),
            message: text({ description: 'For people.' }),
          }),
          { description: 'Why the administrator turned the operation down.' },
        ),
        [{ code: 'concentration_limit', message: 'The fund holds too much of this borrower' }],
        ({ reasons }) => reasons.map(({ code, message }) => ({ code, message })),
      ),
    },
  },
  LoanTermSigned: {
    name: 'loan_term_signed',
    summary: 'The assignment term is signed',
    example: ['2026-01-15T12:00:04.000Z', 2],
    data: {
      status: constant('term_signed'),
      signed_at: shown(ref(Timestamp), '2026-01-15T12:00:04.000Z', ({ signedAt }) => signedAt),
    },
  },
  LoanDisbursed: {
    name: 'disbursement_completed',
    summary: 'The fund paid: the operation is active',
    example: ['2026-01-15T12:00:06.000Z', 3],
    data: {
      status: constant('active'),
      disbursed_value: shownAmount(ref(Amount), 1800.0, ({ disbursedValue }) => disbursedValue),
      disbursed_at: shown(ref(Timestamp), '2026-01-15T12:00:06.000Z', ({ disbursedAt }) => disbursedAt),
      // Of a step of the sandbox, which states its day too, `disbursed_at` is enough.
      disbursement_date: shownIfThere(
        { ...ref(CalendarDate), description: 'The day on which the fund paid, if stated.' },
        '2026-01-15',
        ({ decision, disbursementDate }) => decision && disbursementDate,
      ),
    },
  },
  InstallmentSettled: {
    name: 'installment_settled',
    summary: 'An installment was paid',
    example: [PAID, 4],
    data: {
      installment_code: shown(ref(InstallmentCode), '001', ({ installmentCode }) => installmentCode),
      settled_at: shown(ref(CalendarDate), '2026-02-15', ({ settledAt }) => settledAt),
      settled_value: shownAmount(ref(Amount), 950.0, ({ settledValue }) => settledValue),
      scheduled_value: shownAmount(ref(Balance), 950.0, ({ scheduledValue }) => scheduledValue),
      payment_method: shown(ref(PaymentMethod), 'pix', ({ paymentMethod }) => paymentMethod),
      late_days: shown(
        { type: 'integer', minimum: 0, description: 'Days after the due date; 0 when in time.' },
        0,
        ({ lateDays }) => lateDays,
      ),
    },
    flat: ['installment_code', 'settled_value'],
  },
  PrepaymentProcessed: {
    name: 'installment_prepaid',
    summary: 'A prepayment was allocated',
    example: [PAID, 4],
    data: {
      prepayment_value: shownAmount(ref(Amount), 1000.0, ({ prepaymentValue }) => prepaymentValue),
      prepayment_date: shown(ref(CalendarDate), '2026-02-15', ({ prepaymentDate }) => prepaymentDate),
      settled_installments: shown(
        listOf(ref(InstallmentCode), { description: 'What the money closed; may be empty.' }),
        ['002'],
        ({ settledInstallments }) => settledInstallments,
      ),
      remaining_balance: shownAmount(ref(Balance), 862.4, ({ remainingBalance }) => remainingBalance),
      excess_value: shownAmount(ref(Balance), 0.0, ({ excessValue }) => excessValue),
      partially_paid: shownPartIfThere(
        'Present when a part of the money became a credit on an open installment.',
        partiallyPaid,
        {
          installment_code: shown(ref(InstallmentCode), '001', ({ installmentCode }) => installmentCode),
          outstanding_value: shownAmount(ref(Balance), 862.4, ({ outstandingAtDue }) => outstandingAtDue),
        },
      ),
    },
  },
  LoanFullySettled: {
    name: 'loan_fully_settled',
    summary: 'Nothing is open any more: the operation has ended',
    example: [PAID, 6],
    data: {
      status: constant('settled'),
      settled_at: shown(ref(CalendarDate), '2026-02-15', ({ settledAt }) => settledAt),
      closing_event: shown(
        oneOf(['installment_settled', 'installment_prepaid'], {
          description: 'Kind of payment that closed the last installment.',
        }),
        'installment_settled',
        ({ closingEvent }) => closingEvent,
      ),
      total_received: shownAmount(ref(Balance), 1900.5, ({ totalReceived }) => totalReceived),
    },
  },
  InstallmentUnderpaid: {
    name: 'installment_underpaid',
    summary: 'An installment was closed with less than it owed',
    example: [PAID, 5],
    data: {
      installment_code: shown(ref(InstallmentCode), '001', ({ installmentCode }) => installmentCode),
      scheduled_value: shownAmount(ref(Balance), 950.0, ({ scheduledValue }) => scheduledValue),
      settled_value: shownAmount(ref(Amount), 900.0, ({ settledValue }) => settledValue),
      difference: shownAmount(
        { ...ref(Balance), description: 'Scheduled less settled: log it.' },
        50.0,
        ({ difference }) => difference,
      ),
      settled_at: shown(ref(CalendarDate), '2026-02-15', ({ settledAt }) => settledAt),
    },
  },
  RepurchaseRequested: {
    name: 'repurchase_received',
    summary: 'A repurchase was recorded and valued',
    example: [PAID, 4],
    data: {
      reason: shown(REASON, 'repurchase', ({ reason }) => reason),
      effective_date: shown(ref(CalendarDate), '2026-02-15', ({ effectiveDate }) => effectiveDate),
      repurchase_value: shownAmount(ref(Balance), 1871.2, ({ repurchaseValue }) => repurchaseValue),
      calculated_at: shown(ref(Timestamp), PAID, ({ calculatedAt }) => calculatedAt),
      value_source: shown(
        oneOf(['calculated', 'informed'], {
          description: 'Whether the value is ours or came with the request.',
        }),
        'calculated',
        ({ valueSource }) => valueSource,
      ),
    },
  },
  RepurchaseCompleted: {
    name: 'repurchase_completed',
    summary: 'A repurchase is through: the operation has left the fund',
    example: ['2026-02-15T15:04:07.000Z', 5],
    data: {
      reason: shown(REASON, 'repurchase', ({ reason }) => reason),
      repurchase_value: shownAmount(ref(Balance), 1871.2, ({ repurchaseValue }) => repurchaseValue),
      status: shown(
        oneOf(REPURCHASE_END_STATUSES, { description: 'Final status.' }),
        'repurchased',
        ({ status }) => status,
      ),
      completed_at: shown(ref(Timestamp), '2026-02-15T15:04:07.000Z', ({ completedAt }) => completedAt),
    },
  },
  LoanRenegotiationCompleted: {
    name: 'renegotiation_completed',
    summary: 'The operation that replaces this one is active',
    example: ['2026-02-15T15:04:10.000Z', 8],
    data: {
      original_proposal_codes: shown(
        listOf(ref(ProposalCode), { description: 'Every operation that was replaced.' }),
        [EXAMPLE_OPERATION.code],
        ({ renegotiation }) => renegotiation.originalProposalCodes,
      ),
      new_proposal_code: shown(
        ref(ProposalCode),
        'OP-2026-000456',
        ({ renegotiation }) => renegotiation.newProposalCode,
      ),
      effective_date: shown(
        ref(CalendarDate),
        '2026-02-15',
        ({ renegotiation }) => renegotiation.effectiveDate,
      ),
      completed_at: shown(ref(Timestamp), '2026-02-15T15:04:10.000Z', ({ completedAt }) => completedAt),
    },
  },
  InstallmentBecameOverdue: 'internal',
  DocumentsAdded: 'internal',
  BorrowerForgotten: 'internal',
  LoanReserved: 'internal',
  LoanReservationReleased: 'internal',
  LoanRenegotiated: 'internal',
} as const satisfies {
  readonly [Type in LoanEvent['type']]: Publication<Extract<LoanEvent, { type: Type }>> | 'internal';
};

export type LoanEventName = Extract<(typeof CATALOGUE)[LoanEvent['type']], { name: string }>['name'];
type AnyPublication = Publication<LoanEvent, LoanEventName>;

/** Undefined for what stays inside. */
export const publicationOf = (type: LoanEvent['type']): AnyPublication | undefined => {
  const publication = CATALOGUE[type];
  return publication === 'internal' ? undefined : (publication as AnyPublication);
};

const TYPES = Object.keys(CATALOGUE) as readonly LoanEvent['type'][];

/** Types of events that go out. */
export const PUBLISHED: ReadonlySet<DomainEvent['type']> = new Set(TYPES.filter(publicationOf));

/** In the order in which the descriptions show them. */
export const PUBLICATIONS: readonly AnyPublication[] = TYPES.flatMap((type) => publicationOf(type) ?? []);
