/** The columns that name a row in each logical table. */
export const READ_MODEL_KEYS: Readonly<Record<string, readonly string[]>> = {
  loan: ['stream'],
  installment: ['stream', 'code'],
  installment_credit: ['stream', 'installment_code', 'revision'],
  document: ['stream', 'document_id'],
  status_history: ['stream', 'revision'],
};
