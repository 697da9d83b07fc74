import type { SettlementReceipt } from '../../../application/loans/inputs.ts';
import { amount } from './amount.ts';

export const presentSettlement = (receipt: SettlementReceipt): object => ({
  originator_proposal_code: receipt.code,
  installment_code: receipt.installmentCode,
  status: receipt.status,
  settled_at: receipt.settledAt,
  settled_value: amount(receipt.settledValue),
  processed_at: receipt.processedAt,
});
