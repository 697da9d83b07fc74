import { NONE } from './columns.ts';
import type { Compared } from './findings.ts';
import type { DayNumbers } from './columns.ts';
import { findingsOf, remarksOf } from './findings.ts';
import { PAYMENT_KINDS } from './payments.ts';
import { RULES } from './matching.ts';
import type { Rule } from './matching.ts';
import { RESULTS } from './comparison.ts';
import type { Comparison, DayTotal, Sum } from './comparison.ts';

const KINDS: readonly DayTotal['kind'][] = [...PAYMENT_KINDS, 'unidentified'];

interface Tally {
  count: number;
  amount: number;
}
const emptyTally = (): Tally => ({ count: 0, amount: 0 });
const into = (tally: Tally, amount: number, count = 1): void => {
  tally.count += count;
  tally.amount += amount;
};

const tallies = <Key extends string>(keys: readonly Key[]): Record<Key, Tally> =>
  Object.fromEntries(keys.map((key) => [key, emptyTally()])) as Record<Key, Tally>;

const countFindings = (compared: Compared): Pick<Comparison, 'results' | 'rules'> => {
  const results = tallies(RESULTS);
  const rules = Object.fromEntries(RULES.map((rule) => [rule, 0])) as Record<Rule, number>;
  let last: number | undefined;
  const begun = new Set<number>();
  for (const { result, rule, match, payment, line } of findingsOf(compared)) {
    const further = match !== undefined && (match === last || begun.has(match));
    if (rule === 'batch' || rule === 'day_total') begun.add(match!);
    last = match;
    if (rule !== undefined && !further) rules[rule] += 1;
    const amount = payment?.amount ?? (match === undefined ? (line?.amount ?? 0) : 0);
    into(results[result], amount);
  }
  return { results, rules };
};

const kindsOfMatches = ({ matching }: Compared): Uint8Array => {
  const kinds = new Uint8Array(matching.count);
  for (let p = matching.payments.count - 1; p >= 0; p -= 1) {
    const match = matching.matchOfPayment(p);
    if (match !== NONE) kinds[match] = KINDS.indexOf(matching.payments.kind(p));
  }
  return kinds;
};

const dayTotals = (compared: Compared, days: DayNumbers): readonly DayTotal[] => {
  const { matching } = compared;
  const { payments, lines } = matching;
  const cells = new Map<number, { readonly notified: Tally; readonly statement: Tally }>();
  const cell = (day: number, kind: number) => {
    const key = day * KINDS.length + kind;
    let found = cells.get(key);
    if (!found) cells.set(key, (found = { notified: emptyTally(), statement: emptyTally() }));
    return found;
  };
  for (let p = 0; p < payments.count; p += 1)
    if (compared.concernsPayment(p))
      into(cell(payments.day.at(p), KINDS.indexOf(payments.kind(p))).notified, payments.amount.at(p));
  const kinds = kindsOfMatches(compared);
  for (let l = 0; l < lines.count; l += 1) {
    if (!compared.concernsLine(l)) continue;
    const match = matching.matchOfLine(l);
    const kind = match === NONE ? KINDS.indexOf('unidentified') : kinds[match]!;
    into(cell(lines.day.at(l), kind).statement, lines.amount.at(l));
  }
  return [...cells]
    .toSorted(([a], [b]) => a - b)
    .map(([key, sums]) => ({
      date: days.date(Math.floor(key / KINDS.length)),
      kind: KINDS[key % KINDS.length]!,
      ...sums,
    }));
};

const sumOf = (sums: readonly Sum[]): Sum => {
  const total = emptyTally();
  for (const { count, amount } of sums) into(total, amount, count);
  return total;
};

export const comparisonOf = (
  compared: Compared,
  days: DayNumbers,
  known: Pick<Comparison, 'period' | 'tolerances' | 'linesOutside'>,
): Comparison => {
  const { results, rules } = countFindings(compared);
  const totals = dayTotals(compared, days);
  const differing = Object.entries(results).filter(
    ([result, { count }]) => result !== 'matched' && count > 0,
  );
  return {
    ...known,
    results,
    rules,
    totals,
    notified: sumOf(totals.map(({ notified }) => notified)),
    statement: sumOf(totals.map(({ statement }) => statement)),
    clean: differing.length === 0,
    findings: () => findingsOf(compared),
    remarks: () => remarksOf(compared),
  };
};
