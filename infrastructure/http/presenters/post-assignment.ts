import type {
  DocumentsReceipt,
  PrepaymentReceipt,
  RepurchaseReceipt,
} from '../../../application/loans/inputs.ts';
import { amount } from '../resources/amounts.ts';
import { presentDocument } from './document.ts';

export const presentPrepayment = (receipt: PrepaymentReceipt): object => ({
  originator_proposal_code: receipt.code,
  status: receipt.status,
  prepayment_value: amount(receipt.prepaymentValue),
  settled_installments: receipt.settledInstallments,
  remaining_balance: amount(receipt.remainingBalance),
  excess_value: amount(receipt.excessValue),
  ...(receipt.partiallyPaid && {
    partially_paid: {
      installment_code: receipt.partiallyPaid.installmentCode,
      outstanding_value: amount(receipt.partiallyPaid.outstandingValue),
    },
  }),
  processed_at: receipt.processedAt,
});

export const presentRepurchase = (receipt: RepurchaseReceipt): object => ({
  originator_proposal_code: receipt.code,
  status: receipt.status,
  reason: receipt.reason,
  repurchase_value: amount(receipt.repurchaseValue),
  calculated_at: receipt.calculatedAt,
});

export const presentDocuments = ({ code, documents }: DocumentsReceipt): object => ({
  originator_proposal_code: code,
  documents: documents.map(presentDocument),
});
