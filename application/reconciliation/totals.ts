import type { Matching, Rule } from './matching.ts';
import { findingsOf } from './findings.ts';
import type { Compared } from './findings.ts';
import { RESULTS } from './reconciliation.ts';
import type { DayTotal, Result, Sum } from './reconciliation.ts';

const KINDS = ['settlement', 'prepayment', 'repurchase', 'unidentified'] as const;

interface Tally {
  count: number;
  amount: number;
}
const emptyTally = (): Tally => ({ count: 0, amount: 0 });
const into = (tally: Tally, amount: number, count = 1): void => {
  tally.count += count;
  tally.amount += amount;
};

export interface Counted {
  readonly results: Readonly<Record<Result, Sum>>;
  readonly rules: Readonly<Record<Rule, number>>;
}

/** Findings of each result, and matches by rule. */
export const countFindings = (compared: Compared): Counted => {
  const results = Object.fromEntries(RESULTS.map((one) => [one, emptyTally()])) as Record<Result, Tally>;
  for (const { result, match, payment, line } of findingsOf(compared))
    into(results[result], payment?.amount ?? (match === undefined ? (line?.amount ?? 0) : 0));
  return { results, rules: compared.matching.matched };
};

/** By day and kind, each side by its own date; lines take the kind of the payment that they were joined with. */
export const dayTotals = (matching: Matching): readonly DayTotal[] => {
  const totals = new Map<string, { readonly notified: Tally; readonly statement: Tally } & DayTotal>();
  const total = (date: DayTotal['date'], kind: DayTotal['kind']) => {
    const key = `${date} ${KINDS.indexOf(kind)}`;
    let found = totals.get(key);
    if (!found) totals.set(key, (found = { date, kind, notified: emptyTally(), statement: emptyTally() }));
    return found;
  };
  for (const payment of matching.payments)
    if (matching.concerns(payment)) into(total(payment.date, payment.kind).notified, payment.amount);
  for (const line of matching.lines)
    if (matching.concerns(line))
      into(total(line.date, line.match?.kind ?? 'unidentified').statement, line.amount);
  return [...totals].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, found]) => found);
};

export const sumOf = (sums: readonly Sum[]): Sum => {
  const all = emptyTally();
  for (const { count, amount } of sums) into(all, amount, count);
  return all;
};
