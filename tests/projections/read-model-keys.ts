/** The columns that name a row in each logical table. */
export const READ_MODEL_KEYS: Readonly<Record<string, readonly string[]>> = {
  quarantined_operation: ['projection', 'stream'],
  loan: ['stream'],
  installment: ['stream', 'code'],
  installment_credit: ['stream', 'installment_code', 'revision'],
  prepayment: ['stream', 'revision'],
  document: ['stream', 'document_id'],
  status_history: ['stream', 'revision'],
  reconciled_operation: ['stream'],
  notified_payment: ['stream', 'revision'],
  completed_repurchase: ['stream'],
  portfolio_operation: ['stream'],
  portfolio_installment: ['stream', 'code'],
  portfolio_credit: ['stream', 'installment_code', 'revision'],
  portfolio_flow: ['stream', 'revision'],
  published_event: ['stream', 'revision'],
};
