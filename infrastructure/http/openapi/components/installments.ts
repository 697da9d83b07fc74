import { object, ref, requestObject } from '../../../../application/schemas/schema.ts';
import type { Schema } from '../../../../application/schemas/schema.ts';
import { dryRun } from './quotes.ts';

/** Payments of installments. */
export const installmentSchemas: Readonly<Record<string, Schema>> = {
  Settlement: {
    ...requestObject(
      {
        originator_proposal_code: ref('ProposalCode'),
        installment_code: ref('InstallmentCode'),
        settled_at: { ...ref('CalendarDate'), description: 'Day on which the borrower paid.' },
        settled_value: {
          ...ref('Amount'),
          description: 'What came in, whether less or more than scheduled.',
        },
        payment_method: ref('PaymentMethod'),
        idempotency_key: ref('IdempotencyKey'),
        dry_run: dryRun,
      },
      ['dry_run'],
    ),
    description: 'Says that one installment was paid.',
  },
  SettlementReceipt: object({
    originator_proposal_code: ref('ProposalCode'),
    installment_code: ref('InstallmentCode'),
    status: { type: 'string', const: 'settled' },
    settled_at: ref('CalendarDate'),
    settled_value: ref('Amount'),
    processed_at: ref('Timestamp'),
  }),
};
