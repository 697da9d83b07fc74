import { formatCents } from '../../domain/shared/money.ts';
import type { Cents } from '../../domain/shared/money.ts';

declare global {
  interface JSON {
    rawJSON(text: string): { readonly rawJSON: string };
    isRawJSON(value: unknown): value is { readonly rawJSON: string };
  }
}

/** A JSON number with exactly two decimals: `950.00`, where a plain number would be printed as `950`. */
export const amount = (value: Cents): { readonly rawJSON: string } => JSON.rawJSON(formatCents(value));

export const amountOrNull = (value: Cents | null): { readonly rawJSON: string } | null =>
  value === null ? null : amount(value);

/** Whether a field of this name holds money, in requests, answers and events. */
export const holdsMoney = (name: string): boolean =>
  /(?:^|_)value$|^(?:remaining_balance|difference|surplus|total_received)$/.test(name);
