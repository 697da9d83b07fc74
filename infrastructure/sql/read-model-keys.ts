import type { Schema } from './schema.ts';

/** The primary key of every table of a read model, by which rows of two generations are matched. */
const READ_MODEL_KEYS = {
  loan: ['stream'],
  installment: ['stream', 'code'],
  installment_credit: ['stream', 'installment_code', 'revision'],
  prepayment: ['stream', 'revision'],
  document: ['stream', 'document_id'],
  status_history: ['stream', 'revision'],
  reconciled_operation: ['stream'],
  notified_payment: ['date', 'stream', 'revision'],
  completed_repurchase: ['stream'],
  portfolio_operation: ['stream'],
  portfolio_installment: ['stream', 'code'],
  portfolio_credit: ['stream', 'installment_code', 'revision'],
  portfolio_flow: ['stream', 'revision'],
} as const satisfies Partial<Record<keyof Schema, readonly string[]>>;

export const READ_MODEL_NAMES: readonly string[] = Object.keys(READ_MODEL_KEYS);

/** The primary key of a table of a read model, in its order. @throws RangeError for any other table */
export const keyOf = (table: string): readonly string[] => {
  const key = (READ_MODEL_KEYS as Readonly<Record<string, readonly string[]>>)[table];
  if (key === undefined) throw new RangeError(`${table} is no table of a read model`);
  return key;
};
