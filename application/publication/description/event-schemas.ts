import { REPURCHASE_END_STATUSES, REPURCHASE_REASONS } from '../../../domain/loan/exits.ts';
import type { EventName } from '../event-names.ts';
import { object, ref } from '../../schemas/schema.ts';
import type { Schema } from '../../schemas/schema.ts';

const status = (value: string): Schema => ({ type: 'string', const: value });
const codes = (description: string): Schema => ({ type: 'array', items: ref('ProposalCode'), description });
const text = (description: string): Schema => ({ type: 'string', description });

const reason: Schema = { type: 'string', enum: [...REPURCHASE_REASONS], description: 'As it was requested.' };

const partiallyPaid: Schema = {
  ...object({ installment_code: ref('InstallmentCode'), outstanding_value: ref('Balance') }),
  description: 'Present when a part of the money became a credit on an open installment.',
};

/** What each event says about what happened: the field `data` of its body. */
const DATA: Readonly<Record<EventName, Schema>> = {
  loan_received: object({
    status: status('received'),
    received_at: ref('Timestamp'),
    acquisition_value: ref('Amount'),
    number_of_installments: { type: 'integer', minimum: 1, description: 'Length of the schedule.' },
  }),
  loan_approved: object({ status: status('approved'), approved_at: ref('Timestamp') }),
  loan_rejected: object({
    status: status('rejected'),
    rejected_at: ref('Timestamp'),
    reasons: {
      type: 'array',
      items: object({ code: text('Stable name of the reason.'), message: text('For people.') }),
      description: 'Why the administrator turned the operation down.',
    },
  }),
  loan_term_signed: object({ status: status('term_signed'), signed_at: ref('Timestamp') }),
  disbursement_completed: object(
    {
      status: status('active'),
      disbursed_value: ref('Amount'),
      disbursed_at: ref('Timestamp'),
      disbursement_date: {
        ...ref('CalendarDate'),
        description: 'The day on which the fund paid, if stated.',
      },
    },
    ['disbursement_date'],
  ),
  installment_settled: object({
    installment_code: ref('InstallmentCode'),
    settled_at: ref('CalendarDate'),
    settled_value: ref('Amount'),
    scheduled_value: ref('Balance'),
    payment_method: ref('PaymentMethod'),
    late_days: { type: 'integer', minimum: 0, description: 'Days after the due date; 0 when in time.' },
  }),
  installment_prepaid: object(
    {
      prepayment_value: ref('Amount'),
      prepayment_date: ref('CalendarDate'),
      settled_installments: {
        type: 'array',
        items: ref('InstallmentCode'),
        description: 'What the money closed; may be empty.',
      },
      remaining_balance: ref('Balance'),
      excess_value: ref('Balance'),
      partially_paid: partiallyPaid,
    },
    ['partially_paid'],
  ),
  loan_fully_settled: object({
    status: status('settled'),
    settled_at: ref('CalendarDate'),
    closing_event: {
      type: 'string',
      enum: ['installment_settled', 'installment_prepaid'],
      description: 'Kind of payment that closed the last installment.',
    },
    total_received: ref('Balance'),
  }),
  installment_underpaid: object({
    installment_code: ref('InstallmentCode'),
    scheduled_value: ref('Balance'),
    settled_value: ref('Amount'),
    difference: { ...ref('Balance'), description: 'Scheduled less settled: log it.' },
    settled_at: ref('CalendarDate'),
  }),
  repurchase_received: object({
    reason,
    effective_date: ref('CalendarDate'),
    repurchase_value: ref('Balance'),
    calculated_at: ref('Timestamp'),
    value_source: {
      type: 'string',
      enum: ['calculated', 'informed'],
      description: 'Whether the value is ours or came with the request.',
    },
  }),
  repurchase_completed: object({
    reason,
    repurchase_value: ref('Balance'),
    status: { type: 'string', enum: [...REPURCHASE_END_STATUSES], description: 'Final status.' },
    completed_at: ref('Timestamp'),
  }),
  renegotiation_completed: object({
    original_proposal_codes: codes('Every operation that was replaced.'),
    new_proposal_code: ref('ProposalCode'),
    effective_date: ref('CalendarDate'),
    completed_at: ref('Timestamp'),
  }),
  'webhook.ping': object({ message: text('A greeting.') }),
};

const envelope: Schema = {
  ...object({
    event: { type: 'string', description: 'Name of the event.' },
    event_id: {
      type: 'string',
      format: 'uuid',
      description: 'The same however often the event arrives: remember it to drop repetitions.',
    },
    originator_proposal_code: {
      type: ['string', 'null'],
      description: 'The operation; null where the event is about none.',
    },
    fund_id: { type: ['string', 'null'], description: 'Its fund; null where there is no operation.' },
    timestamp: { ...ref('Timestamp'), description: 'When it happened; put events in order by it.' },
    sequence: { type: 'integer', minimum: 0, description: 'Grows within an operation, with gaps.' },
    api_version: { type: 'string', description: 'Version of this description that the body follows.' },
    data: { type: 'object', description: 'What depends on the kind of event.' },
  }),
  description: 'What the bodies of all events have in common. None carries personal data of the borrower.',
};

const operationFields: Schema = {
  originator_proposal_code: ref('ProposalCode'),
  fund_id: { type: 'string', format: 'uuid', description: 'Fund of the operation.' },
};
const noOperationFields: Schema = {
  originator_proposal_code: { type: 'null', description: 'It is about no operation.' },
  fund_id: { type: 'null', description: 'It is about no fund.' },
};
/** These two stand at the top as well, for receivers that read the event in its flat form. */
const flatFields: Schema = { installment_code: ref('InstallmentCode'), settled_value: ref('Amount') };

/** `installment_settled` -> `InstallmentSettledEvent` */
export const eventSchemaName = (event: string): string =>
  `${event
    .split(/[._]/)
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join('')}Event`;

const eventSchema = (event: EventName): Schema => ({
  type: 'object',
  allOf: [ref('EventEnvelope')],
  ...(event === 'installment_settled' && { required: Object.keys(flatFields) }),
  properties: {
    event: { type: 'string', const: event, description: 'Name of the event.' },
    ...(event === 'webhook.ping' ? noOperationFields : operationFields),
    ...(event === 'installment_settled' && flatFields),
    data: { ...DATA[event], description: 'What happened.' },
  },
  description: `Body of \`${event}\`.`,
});

/** Bodies that the service sends to receivers. */
export const eventSchemas: Readonly<Record<string, Schema>> = {
  EventEnvelope: envelope,
  ...Object.fromEntries(
    (Object.keys(DATA) as EventName[]).map((event) => [eventSchemaName(event), eventSchema(event)]),
  ),
};
