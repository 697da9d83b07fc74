import { REPURCHASE_REASONS } from '../../../../domain/loan/events.ts';
import { object, ref, refused, requestObject } from '../../../../application/schemas/schema.ts';
import type { Schema } from '../../../../application/schemas/schema.ts';
import { dryRun, quoteSchemas } from './quotes.ts';
import { longText } from '../../../../application/schemas/values.ts';

const prepayment: Schema = {
  ...requestObject(
    {
      originator_proposal_code: ref('ProposalCode'),
      prepayment_value: { ...ref('Amount'), description: 'What came in ahead of the schedule.' },
      prepayment_date: {
        ...ref('CalendarDate'),
        description: 'Day of the payment; everything is valued on it.',
      },
      payment_method: ref('PaymentMethod'),
      idempotency_key: ref('IdempotencyKey'),
      dry_run: dryRun,
    },
    ['dry_run'],
  ),
  description: 'Says that money came in before it was due.',
};

const prepaymentReceipt: Schema = {
  ...object(
    {
      originator_proposal_code: ref('ProposalCode'),
      status: { type: 'string', const: 'prepayment_processed' },
      prepayment_value: ref('Amount'),
      settled_installments: {
        type: 'array',
        items: ref('InstallmentCode'),
        description:
          'Installments that it closed, in the order in which the money reached them; may be empty.',
      },
      remaining_balance: {
        ...ref('Balance'),
        description: 'Present value, on the day of the payment, of what is still open.',
      },
      excess_value: { ...ref('Balance'), description: 'Surplus over everything that was open.' },
      partially_paid: {
        ...object({
          installment_code: ref('InstallmentCode'),
          outstanding_value: {
            ...ref('Balance'),
            description: 'Its debt on the due date once the credit has grown.',
          },
        }),
        description: 'Present when part of the money became a credit on an open installment.',
      },
      processed_at: ref('Timestamp'),
    },
    ['partially_paid'],
  ),
  description: 'What this prepayment did. Sent again, it answers the same, whatever happened since.',
};

const repurchaseReason: Schema = {
  type: 'string',
  enum: [...REPURCHASE_REASONS],
  description:
    'Why the operation leaves. It decides the value that is calculated and the final status: repurchased, ' +
    'reversed after a cession_reversal, resolved after a resolution.',
  examples: ['repurchase'],
  ...refused('invalid_value', `must be one of ${REPURCHASE_REASONS.join(', ')}`),
};

const repurchaseRequest: Schema = {
  ...requestObject(
    {
      originator_proposal_code: ref('ProposalCode'),
      reason: repurchaseReason,
      reason_detail: longText('Remark for auditors.', 2_000, 'Customer returned the goods'),
      effective_date: { ...ref('CalendarDate'), description: 'Day on which the value is calculated.' },
      repurchase_value: {
        ...ref('Amount'),
        description: 'Agreed value; leave it out to have it calculated.',
      },
      idempotency_key: ref('IdempotencyKey'),
      dry_run: dryRun,
    },
    ['reason_detail', 'repurchase_value', 'dry_run'],
  ),
  description: 'Asks that an active operation leaves the fund.',
};

const repurchaseReceipt: Schema = {
  ...object({
    originator_proposal_code: ref('ProposalCode'),
    status: {
      type: 'string',
      enum: ['repurchase_pending', 'repurchased', 'reversed', 'resolved'],
      description: 'Pending until the administrator has processed it; a repeated request shows its end.',
    },
    reason: repurchaseReason,
    repurchase_value: ref('Balance'),
    calculated_at: ref('Timestamp'),
  }),
  description: 'Acknowledges a repurchase. The value stays what it was at the first request.',
};

const filesData: Schema = {
  ...object({
    originator_proposal_code: ref('ProposalCode'),
    documents: ref('BackingDocuments'),
  }),
  description: 'Names the operation and ties each uploaded file to its purpose.',
};

/** What happens to operations after their assignment. */
export const postAssignmentSchemas: Readonly<Record<string, Schema>> = {
  Prepayment: prepayment,
  PrepaymentReceipt: prepaymentReceipt,
  RepurchaseRequest: repurchaseRequest,
  RepurchaseReceipt: repurchaseReceipt,
  ...quoteSchemas,
  FilesData: filesData,
  FilesReceipt: {
    ...object({
      originator_proposal_code: ref('ProposalCode'),
      documents: { type: 'array', items: ref('StoredDocument') },
    }),
    description: 'The documents of the request as they are kept.',
  },
};
