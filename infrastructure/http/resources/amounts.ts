import { formatCents } from '../../../domain/shared/money.ts';
import type { Cents } from '../../../domain/shared/money.ts';

/** Text that `JSON.stringify` writes as it stands; Node has it, the compiler's library does not know it yet. */
declare const rawJsonBrand: unique symbol;
type RawJson = { readonly [rawJsonBrand]: true };

const { rawJSON } = JSON as unknown as { readonly rawJSON: (text: string) => RawJson };

/** A JSON number with exactly two decimals. */
export const amount = (value: Cents): RawJson => rawJSON(formatCents(value));

export const amountOrNull = (value: Cents | null): RawJson | null => (value === null ? null : amount(value));
