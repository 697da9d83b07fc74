import type { LoanDetails } from '../../../application/loans/loan-details.ts';

export const presentDocument = (document: LoanDetails['documents'][number]): object => ({
  document_id: document.documentId,
  type: document.type,
  value: document.value,
  sha256: document.sha256,
  size: document.size,
  received_at: document.receivedAt,
});
