import type { DomainEvent } from '../../domain/domain-event.ts';
import type { LoanEvent, PrepaymentProcessed } from '../../domain/loan/events.ts';
import { REPURCHASE_END_STATUSES, REPURCHASE_REASONS } from '../../domain/loan/exits.ts';
import { partiallyPaid } from '../../domain/loan/payments.ts';
import { EXAMPLE } from '../schemas/example-values.ts';
import { listOf, object, oneOf, ref, text } from '../schemas/schema.ts';
import {
  constant,
  fieldsOf,
  named,
  namedAmount,
  namedPartIfThere,
  shown,
  shownAmount,
  shownIfThere,
} from '../schemas/shown-fields.ts';
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

export const EXAMPLE_OPERATION = { applicationId: 'acme', code: EXAMPLE.code } as const;
const RECEIVED = EXAMPLE.received;
const PAID = '2026-02-15T15:04:05.000Z';

export interface Publication<Event, Name extends string = string> {
  readonly name: Name;
  readonly summary: string;
  readonly example: readonly [timestamp: string, sequence: number];
  /** Named one by one: what is not listed stays inside, above all whatever concerns the borrower. */
  readonly data: ShownFields<Event>;
  /** Fields that stand beside the envelope's own as well, for receivers that read the event in its flat form. */
  readonly flat?: readonly string[];
}

const REASON = oneOf(REPURCHASE_REASONS, { description: 'As it was requested.' });

const PARTIALLY_PAID = namedPartIfThere(
  'Present when a part of the money became a credit on an open installment.',
  fieldsOf<NonNullable<PrepaymentProcessed['partial']>>()({
    installment_code: named(ref(InstallmentCode), '001'),
    outstanding_value: shownAmount(ref(Balance), ({ outstandingAtDue }) => outstandingAtDue, 862.4),
  }),
);

const of = <Type extends LoanEvent['type']>() => fieldsOf<Extract<LoanEvent, { type: Type }>>();

/** One entry an event, so that the compiler asks whether a new one goes out. Names are part of the interface: never changed, never reused. */
const CATALOGUE = {
  LoanReceived: {
    name: 'loan_received',
    summary: 'An operation was accepted for processing',
    example: [RECEIVED, 0],
    data: of<'LoanReceived'>()({
      status: constant('received'),
      received_at: named(ref(Timestamp), RECEIVED),
      acquisition_value: namedAmount(ref(Amount), 1800.0),
      number_of_installments: shown(
        { type: 'integer', minimum: 1, description: 'Length of the schedule.' },
        ({ installments }) => installments.length,
        2,
      ),
    }),
  },
  LoanApproved: {
    name: 'loan_approved',
    summary: 'An operation met the criteria of the fund',
    example: ['2026-01-15T12:00:02.000Z', 1],
    data: of<'LoanApproved'>()({
      status: constant('approved'),
      approved_at: named(ref(Timestamp), '2026-01-15T12:00:02.000Z'),
    }),
  },
  LoanRejected: {
    name: 'loan_rejected',
    summary: 'An operation was turned down',
    example: ['2026-01-15T12:00:02.000Z', 1],
    data: of<'LoanRejected'>()({
      status: constant('rejected'),
      rejected_at: named(ref(Timestamp), '2026-01-15T12:00:02.000Z'),
      reasons: shown(
        listOf(
          object({
            code: text({ description: 'Stable name of the reason.' }),
            message: text({ description: 'For people.' }),
          }),
          { description: 'Why the administrator turned the operation down.' },
        ),
        ({ reasons }) => reasons.map(({ code, message }) => ({ code, message })),
        [{ code: 'concentration_limit', message: 'The fund holds too much of this borrower' }],
      ),
    }),
  },
  LoanTermSigned: {
    name: 'loan_term_signed',
    summary: 'The assignment term is signed',
    example: ['2026-01-15T12:00:04.000Z', 2],
    data: of<'LoanTermSigned'>()({
      status: constant('term_signed'),
      signed_at: named(ref(Timestamp), '2026-01-15T12:00:04.000Z'),
    }),
  },
  LoanDisbursed: {
    name: 'disbursement_completed',
    summary: 'The fund paid: the operation is active',
    example: ['2026-01-15T12:00:06.000Z', 3],
    data: of<'LoanDisbursed'>()({
      status: constant('active'),
      disbursed_value: namedAmount(ref(Amount), 1800.0),
      disbursed_at: named(ref(Timestamp), '2026-01-15T12:00:06.000Z'),
      // Of a step of the sandbox, which states its day too, `disbursed_at` is enough.
      disbursement_date: shownIfThere(
        { ...ref(CalendarDate), description: 'The day on which the fund paid, if stated.' },
        ({ decision, disbursementDate }) => decision && disbursementDate,
        '2026-01-15',
      ),
    }),
  },
  InstallmentSettled: {
    name: 'installment_settled',
    summary: 'An installment was paid',
    example: [PAID, 4],
    data: of<'InstallmentSettled'>()({
      installment_code: named(ref(InstallmentCode), '001'),
      settled_at: named(ref(CalendarDate), '2026-02-15'),
      settled_value: namedAmount(ref(Amount), 950.0),
      scheduled_value: namedAmount(ref(Balance), 950.0),
      payment_method: named(ref(PaymentMethod), 'pix'),
      late_days: named(
        { type: 'integer', minimum: 0, description: 'Days after the due date; 0 when in time.' },
        0,
      ),
    }),
    flat: ['installment_code', 'settled_value'],
  },
  PrepaymentProcessed: {
    name: 'installment_prepaid',
    summary: 'A prepayment was allocated',
    example: [PAID, 4],
    data: of<'PrepaymentProcessed'>()({
      prepayment_value: namedAmount(ref(Amount), 1000.0),
      prepayment_date: named(ref(CalendarDate), '2026-02-15'),
      settled_installments: named(
        listOf(ref(InstallmentCode), { description: 'What the money closed; may be empty.' }),
        ['002'],
      ),
      remaining_balance: namedAmount(ref(Balance), 862.4),
      excess_value: namedAmount(ref(Balance), 0.0),
      partially_paid: {
        ...PARTIALLY_PAID,
        of: (event: PrepaymentProcessed) => PARTIALLY_PAID.show!(partiallyPaid(event)),
      },
    }),
  },
  LoanFullySettled: {
    name: 'loan_fully_settled',
    summary: 'Nothing is open any more: the operation has ended',
    example: [PAID, 6],
    data: of<'LoanFullySettled'>()({
      status: constant('settled'),
      settled_at: named(ref(CalendarDate), '2026-02-15'),
      closing_event: named(
        oneOf(['installment_settled', 'installment_prepaid'], {
          description: 'Kind of payment that closed the last installment.',
        }),
        'installment_settled',
      ),
      total_received: namedAmount(ref(Balance), 1900.5),
    }),
  },
  InstallmentUnderpaid: {
    name: 'installment_underpaid',
    summary: 'An installment was closed with less than it owed',
    example: [PAID, 5],
    data: of<'InstallmentUnderpaid'>()({
      installment_code: named(ref(InstallmentCode), '001'),
      scheduled_value: namedAmount(ref(Balance), 950.0),
      settled_value: namedAmount(ref(Amount), 900.0),
      difference: namedAmount({ ...ref(Balance), description: 'Scheduled less settled: log it.' }, 50.0),
      settled_at: named(ref(CalendarDate), '2026-02-15'),
    }),
  },
  RepurchaseRequested: {
    name: 'repurchase_received',
    summary: 'A repurchase was recorded and valued',
    example: [PAID, 4],
    data: of<'RepurchaseRequested'>()({
      reason: named(REASON, 'repurchase'),
      effective_date: named(ref(CalendarDate), '2026-02-15'),
      repurchase_value: namedAmount(ref(Balance), 1871.2),
      calculated_at: named(ref(Timestamp), PAID),
      value_source: named(
        oneOf(['calculated', 'informed'], {
          description: 'Whether the value is ours or came with the request.',
        }),
        'calculated',
      ),
    }),
  },
  RepurchaseCompleted: {
    name: 'repurchase_completed',
    summary: 'A repurchase is through: the operation has left the fund',
    example: ['2026-02-15T15:04:07.000Z', 5],
    data: of<'RepurchaseCompleted'>()({
      reason: named(REASON, 'repurchase'),
      repurchase_value: namedAmount(ref(Balance), 1871.2),
      status: named(oneOf(REPURCHASE_END_STATUSES, { description: 'Final status.' }), 'repurchased'),
      completed_at: named(ref(Timestamp), '2026-02-15T15:04:07.000Z'),
    }),
  },
  LoanRenegotiationCompleted: {
    name: 'renegotiation_completed',
    summary: 'The operation that replaces this one is active',
    example: ['2026-02-15T15:04:10.000Z', 8],
    data: of<'LoanRenegotiationCompleted'>()({
      original_proposal_codes: shown(
        listOf(ref(ProposalCode), { description: 'Every operation that was replaced.' }),
        ({ renegotiation }) => renegotiation.originalProposalCodes,
        [EXAMPLE_OPERATION.code],
      ),
      new_proposal_code: shown(
        ref(ProposalCode),
        ({ renegotiation }) => renegotiation.newProposalCode,
        'OP-2026-000456',
      ),
      effective_date: shown(
        ref(CalendarDate),
        ({ renegotiation }) => renegotiation.effectiveDate,
        '2026-02-15',
      ),
      completed_at: named(ref(Timestamp), '2026-02-15T15:04:10.000Z'),
    }),
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

export const PUBLISHED: ReadonlySet<DomainEvent['type']> = new Set(TYPES.filter(publicationOf));

export const PUBLICATIONS: readonly AnyPublication[] = TYPES.flatMap((type) => publicationOf(type) ?? []);

/** Addresses of the published language. They are part of the interface: never renamed. */
export const TOPICS = {
  events: 'receivables.events',
  eventsDeadLetter: 'receivables.events.dead-letter',
  decisions: 'receivables.administrator-decisions',
  decisionsDeadLetter: 'receivables.administrator-decisions.dead-letter',
} as const;

/** Raised only by a change that an older reader could not bear; additive ones keep it. */
export const SCHEMA_VERSION = '1';

export const LOAN_EVENTS = Object.fromEntries(
  PUBLICATIONS.map(({ name, summary }) => [name, summary]),
) as Readonly<Record<LoanEventName, string>>;
export const LOAN_EVENT_NAMES = Object.keys(LOAN_EVENTS) as readonly LoanEventName[];

export const PING = 'webhook.ping';
export const EVENTS = {
  ...LOAN_EVENTS,
  [PING]: 'A test message after a registration in the sandbox',
} as const;
export type EventName = keyof typeof EVENTS;
export const EVENT_NAMES = Object.keys(EVENTS) as readonly EventName[];

/** Subscribes to every event, also to names that do not exist yet. */
export const ALL_EVENTS = '*';
