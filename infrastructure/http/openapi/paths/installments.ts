import { REPLAYED } from '../components/headers.ts';
import { settlement, settlementReceipt } from '../examples.ts';
import { json } from '../operation.ts';
import type { OperationSpec } from '../operation.ts';

export const installmentOperations: readonly OperationSpec[] = [
  {
    id: 'settleInstallment',
    method: 'post',
    path: '/installment/settle',
    tag: 'Installments',
    summary: 'Report that an installment was paid',
    description:
      'Closes one installment. Less than its scheduled value is an underpayment, more is taken as charges. ' +
      'The last open installment also closes the operation. With `dry_run` nothing of this happens; the answer says what would.',
    access: 'loans:write',
    bucket: 'settle',
    body: [{ mediaType: 'application/json', schema: 'Settlement', example: settlement }],
    success: [
      {
        ...json(200, 'The installment is settled.', 'SettlementAnswer', settlementReceipt),
        headers: REPLAYED,
      },
    ],
    errors: [
      ...(['installment_not_found', 'invalid_date', 'loan_not_found', 'operation_invalid_state'] as const),
      ...(['idempotency_conflict', 'installment_already_closed', 'concurrent_modification'] as const),
    ],
  },
];
