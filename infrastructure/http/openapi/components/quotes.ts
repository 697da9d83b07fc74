import { REPURCHASE_REASONS } from '../../../../domain/loan/events.ts';
import { object, ref } from '../../../../application/schemas/schema.ts';
import type { Schema } from '../../../../application/schemas/schema.ts';

/** Of every request that moves money. */
export const dryRun: Schema = {
  type: 'boolean',
  default: false,
  description:
    'True only asks what would happen: the same checks and the same numbers, line by line. Nothing is stored, nobody is told, ' +
    'and the idempotency key stays unused.',
};

const place = {
  installment_code: ref('InstallmentCode'),
  due_date: ref('CalendarDate'),
  days: {
    type: 'integer',
    description: 'From the day of the quote to the due date; negative when it is late.',
  },
  face_value: ref('Amount'),
};

const line = {
  ...place,
  present_value: {
    type: 'number',
    description: 'Its share of the total on the day of the quote; the shares add up to the cent.',
  },
};

const beginning = {
  originator_proposal_code: ref('ProposalCode'),
  status: { type: 'string', const: 'quoted' },
  dry_run: { type: 'boolean', const: true },
  resulting_status: {
    ...ref('LoanStatus'),
    description: 'Status of the operation right after the request, had it been made.',
  },
  pricing_policy: { type: 'string', const: 'curve_v1' },
  daily_factor: {
    type: 'string',
    description: 'Factor of one day on the curve, as a decimal; one day of waiting multiplies a value by it.',
    examples: ['0.999321899697897308243314396013'],
  },
};

const valueOrNull = (description: string): Schema => ({ type: ['number', 'null'], description });

const renegotiationQuote: Schema = {
  ...object({
    original_proposal_code: { ...ref('ProposalCode'), description: 'The first of the originals.' },
    original_proposal_codes: { type: 'array', items: ref('ProposalCode') },
    status: beginning.status,
    dry_run: beginning.dry_run,
    resulting_status: { type: 'string', const: 'renegotiated', description: 'What all originals would be.' },
    new_proposal: {
      ...object({
        originator_proposal_code: ref('ProposalCode'),
        status: { ...ref('LoanStatus'), description: 'Where it would begin.' },
        acquisition_value: ref('Amount'),
        number_of_installments: ref('NumberOfInstallments'),
        pricing_policy: beginning.pricing_policy,
        daily_factor: beginning.daily_factor,
      }),
      description: 'The operation that would take their place, with the curve that it would have.',
    },
    effective_date: ref('CalendarDate'),
    originals: {
      type: 'array',
      items: object({
        originator_proposal_code: ref('ProposalCode'),
        open_face_value: { ...ref('Balance'), description: 'Face values of what is open.' },
        present_value: valueOrNull(
          'What is open is worth so much on the effective date; null when beyond what can be stated.',
        ),
      }),
      description: 'What each original would leave the fund with.',
    },
    lines: {
      type: 'array',
      items: object({
        originator_proposal_code: ref('ProposalCode'),
        ...place,
        present_value: valueOrNull(
          'Its share of the value of its operation on the effective date; null with that value.',
        ),
      }),
      description: 'Open installments that would be written off, operation by operation.',
    },
    calculated_at: ref('Timestamp'),
  }),
  description: 'Answer to a renegotiation with `dry_run`.',
};

const prepaymentQuote: Schema = {
  ...object(
    {
      ...beginning,
      prepayment_value: ref('Amount'),
      prepayment_date: ref('CalendarDate'),
      payoff_value: {
        ...ref('Balance'),
        description: 'What would close the operation on that day.',
      },
      settled_installments: {
        type: 'array',
        items: ref('InstallmentCode'),
        description: 'Installments that would be closed.',
      },
      remaining_balance: { ...ref('Balance'), description: 'Present value of what would stay open.' },
      excess_value: { ...ref('Balance'), description: 'What would come in beyond everything open.' },
      partially_paid: {
        ...object({ installment_code: ref('InstallmentCode'), outstanding_value: ref('Balance') }),
        description: 'The installment that would carry a credit, and its debt on the due date.',
      },
      lines: {
        type: 'array',
        items: object({ ...line, paid_off: { type: 'boolean', description: 'Whether it would be closed.' } }),
        description: 'Installments that the money would reach, in that order.',
      },
      calculated_at: ref('Timestamp'),
    },
    ['partially_paid'],
  ),
  description: 'Answer to a prepayment with `dry_run`.',
};

const repurchaseQuote: Schema = {
  ...object({
    ...beginning,
    reason: { type: 'string', enum: [...REPURCHASE_REASONS], description: 'As asked.' },
    effective_date: ref('CalendarDate'),
    repurchase_value: { ...ref('Balance'), description: 'What would be owed to the fund.' },
    calculated_value: { ...ref('Balance'), description: 'What the reason gives, whatever was agreed.' },
    value_source: { type: 'string', enum: ['calculated', 'informed'], description: 'Which one would count.' },
    acquisition_value: { ...ref('Amount'), description: 'Price of the operation.' },
    disbursed_value: { ...ref('Amount'), description: 'What the administrator registered as disbursed.' },
    exit_basis: {
      type: 'string',
      enum: ['disbursed_value', 'acquisition_value'],
      description: 'Which of the two a reversal gives back, and a resolution starts from.',
    },
    received_value: { ...ref('Balance'), description: 'Money received so far.' },
    lines: {
      type: 'array',
      items: object(line),
      description: 'Open installments whose values make up the calculated value; empty off the curve.',
    },
    calculated_at: ref('Timestamp'),
  }),
  description: 'Answer to a repurchase with `dry_run`.',
};

const either = (receipt: string, quote: string, description: string): Schema => ({
  oneOf: [ref(receipt), ref(quote)],
  description,
});

/** What a request would do, asked for without doing it. */
export const quoteSchemas: Readonly<Record<string, Schema>> = {
  RenegotiationQuote: renegotiationQuote,
  RenegotiationAnswer: either(
    'RenegotiationReceipt',
    'RenegotiationQuote',
    'The receipt, or the quote of a `dry_run`.',
  ),
  PrepaymentQuote: prepaymentQuote,
  RepurchaseQuote: repurchaseQuote,
  PrepaymentAnswer: either(
    'PrepaymentReceipt',
    'PrepaymentQuote',
    'The receipt, or the quote of a `dry_run`.',
  ),
  RepurchaseAnswer: either(
    'RepurchaseReceipt',
    'RepurchaseQuote',
    'The receipt, or the quote of a `dry_run`.',
  ),
};
