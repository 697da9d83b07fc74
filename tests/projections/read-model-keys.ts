/** The columns that name a row in each logical table. */
export const READ_MODEL_KEYS: Readonly<Record<string, readonly string[]>> = {
  quarantined_operation: ['projection', 'stream'],
  loan: ['stream'],
  progress: ['stream'],
  installment: ['stream', 'code'],
  installment_credit: ['stream', 'installment_code', 'revision'],
  payment: ['stream', 'revision'],
  prepayment: ['stream', 'revision'],
  document: ['stream', 'document_id'],
  status_history: ['stream', 'revision'],
  feed: ['application_id', 'position', 'revision'],
  published_event: ['stream', 'revision'],
};
