import type { Schema } from './schema.ts';
import type { Slot } from './slot.ts';
import type { PhysicalTables } from './table-write-statements.ts';

/** The primary key of every table of a read model, by which rows of both copies are matched. */
const READ_MODEL_KEYS = {
  loan: ['stream'],
  installment: ['stream', 'code'],
  installment_credit: ['stream', 'installment_code', 'revision'],
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

export const otherSlot = (slot: Slot): Slot => (slot === 'a' ? 'b' : 'a');

export const physicalName = (table: string, slot: Slot): string => (slot === 'a' ? table : `${table}__b`);

const mapping = (slot: Slot): PhysicalTables =>
  // The second copy has the columns of the first, so the builder's types hold for both.
  new Map(READ_MODEL_NAMES.map((table) => [table, physicalName(table, slot) as keyof Schema]));

/** Where the logical tables of read models lie, by slot. */
export const SLOT_TABLES: Readonly<Record<Slot, PhysicalTables>> = { a: mapping('a'), b: mapping('b') };
