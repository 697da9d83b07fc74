/**
 * What was compared: the log as a whole, hash chains, stored texts, what an event follows from, prices, keys, renegotiations, rows,
 * deliveries, and heads that were written down earlier.
 */
export type DifferenceKind =
  | 'log'
  | 'chain'
  | 'event'
  | 'decision'
  | 'price'
  | 'claim'
  | 'renegotiation'
  | 'read_model'
  | 'delivery'
  | 'anchor';

export interface Difference {
  readonly kind: DifferenceKind;
  readonly stream: string;
  /** Of the event that it is about; null where it is about none. */
  readonly revision: number | null;
  /** The field, column or rule. */
  readonly what: string;
  readonly expected: string;
  readonly found: string;
}

export type Report = (difference: Difference) => void;

const LONGEST = 200;
/** Sealed text says nothing to a reader, and its bytes are nobody's business. */
const SEALED = /(^|\.)borrower$/;

/** A value as a difference shows it. */
export const shown = (what: string, value: unknown): string => {
  if (value === undefined) return '(nothing)';
  if (SEALED.test(what) && typeof value === 'string')
    return value === '' ? '(no text)' : `(sealed text of ${value.length} characters)`;
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return text.length > LONGEST ? `${text.slice(0, LONGEST)}...` : text;
};
