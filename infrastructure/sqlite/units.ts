/**
 * Statements as they travel to the thread that runs them. Flat lists of primitives cross a thread boundary several times faster than
 * one object a statement, and equal SQL texts travel once.
 */
export interface FlatUnit {
  /** Distinct SQL texts. */
  readonly texts: readonly string[];
  /** Three numbers a statement: index into `texts`, how many parameters, changes expected (`NO_GUARD` when any will do). */
  readonly calls: readonly number[];
  /** All parameters, one statement's after the other's. */
  readonly parameters: readonly Bindable[];
  /** Need not be on the disk when it is answered. */
  readonly relaxed?: boolean;
}
export const NO_GUARD = -1;

export type Bindable = string | number | bigint | null | Uint8Array;

export interface FlatTable {
  /** Index of the statement that answered these rows. */
  readonly statement: number;
  readonly columns: readonly string[];
  /** Row after row, each as long as `columns`. */
  readonly values: readonly unknown[];
}
export interface FlatResults {
  readonly changes: readonly number[];
  readonly tables: readonly FlatTable[];
}

export type Failure =
  | { readonly kind: 'guard'; readonly index: number; readonly changes: number }
  /** `unavailable`: locked, full or unreadable, and certainly nothing was stored. */
  | { readonly kind: 'constraint' | 'unavailable' | 'error'; readonly message: string };

export type Outcome = FlatResults | Failure;

export const hasFailed = (outcome: Outcome): outcome is Failure => 'kind' in outcome;
