import { Decimal } from 'decimal.js';

/*
 * The curve as the rules describe it, in the plainest way, with more digits than the product: nothing here knows the product's
 * code. Amounts are integer cents, dates are calendar texts.
 */
const Exact = Decimal.clone({ defaults: true, precision: 70, rounding: Decimal.ROUND_HALF_UP });
const FACTOR_DIGITS = 30;
/** Highest amount that can be stated. */
const LARGEST_AMOUNT = 99_999_999_999;
/** Where the curve itself ends. */
const CEILING = 999_999_999_999_999;

export type Number70 = Decimal;

export interface Credit {
  /** Exact cents. */
  readonly cents: Number70;
  readonly date: string;
}

/** What is open of an installment. */
export interface Owed {
  readonly code: string;
  readonly due: string;
  readonly face: number;
  readonly credits: readonly Credit[];
}

const DAY_MS = 86_400_000;
export const daysFrom = (start: string, end: string): number =>
  (Date.parse(end) - Date.parse(start)) / DAY_MS;
export const dayAfter = (date: string, days: number): string =>
  new Date(Date.parse(date) + days * DAY_MS).toISOString().slice(0, 10);

/** The daily factor v with sum(face * v^days) = price, by halving an interval and Newton's steps at the end. */
export const dailyFactor = (
  price: number,
  issued: string,
  owed: readonly Omit<Owed, 'credits'>[],
): Number70 => {
  const terms = owed.map(({ face, due }) => ({ face, days: daysFrom(issued, due) }));
  if (terms.reduce((sum, { face }) => sum + face, 0) === price) return new Exact(1);
  const float = (v: number): number => terms.reduce((sum, { face, days }) => sum + face * v ** days, 0);
  let [low, high] = [0, 2];
  while (float(high) < price) high *= 2;
  for (let step = 0; step < 200; step += 1) {
    const middle = (low + high) / 2;
    if (float(middle) < price) low = middle;
    else high = middle;
  }
  let v = new Exact(low === 0 ? high : low);
  for (let step = 0; step < 8; step += 1) {
    let [value, slope] = [new Exact(-price), new Exact(0)];
    for (const { face, days } of terms) {
      const power = v.pow(days - 1);
      value = value.plus(power.times(v).times(face));
      slope = slope.plus(power.times(face * days));
    }
    const next = v.minus(value.div(slope));
    if (next.minus(v).abs().lt('1e-60')) break;
    v = next;
  }
  return v.toDecimalPlaces(decimalsOf(v));
};

/** Of a factor: thirty, and more where zeros lead. */
const decimalsOf = (v: Number70): number => FACTOR_DIGITS - Math.min(0, v.e + 1);
export const factorText = (v: Number70): string => v.toFixed(decimalsOf(v));

const round = (exact: Number70): number =>
  exact.gt(CEILING) ? CEILING : exact.lt(-CEILING) ? -CEILING : exact.toDecimalPlaces(0).toNumber() + 0;

/** Exact value of one open installment on a date: its face along the curve, less each credit carried the same way. */
const valueOf = (v: Number70, { face, due, credits }: Owed, date: string): Number70 => {
  const along = (amount: Decimal.Value, from: string): Number70 => v.pow(daysFrom(date, from)).times(amount);
  return credits.reduce((left, { cents, date: paid }) => left.minus(along(cents, paid)), along(face, due));
};

/** What it owes on its due date: a credit below zero never makes it more than its face. */
export const owedAtDue = (v: Number70, owed: Owed): number =>
  Math.min(owed.face, Math.max(0, round(valueOf(v, owed, owed.due))));

interface Valuation {
  readonly total: number;
  /** In the order given; rounded on running totals, so that they add up. */
  readonly lines: readonly number[];
  readonly exact: readonly Number70[];
}

export const valuation = (v: Number70, owed: readonly Owed[], date: string): Valuation => {
  const exact = owed.map((one) => valueOf(v, one, date));
  const lines: number[] = [];
  let [sum, before] = [new Exact(0), 0];
  for (const value of exact) {
    sum = sum.plus(value);
    const after = round(sum);
    lines.push(after - before);
    before = after;
  }
  return { total: before, lines, exact };
};
export const isBeyond = (total: number): boolean => total > LARGEST_AMOUNT;

export interface Spread {
  readonly payoff: number;
  /** Codes with the cents that each got, in the order in which the money reached them. */
  readonly paidOff: readonly (readonly [code: string, cents: number])[];
  readonly partial?: { readonly code: string; readonly credit: Credit; readonly owedAtDue: number };
  readonly remaining: number;
  readonly excess: number;
}

const inOrder = (owed: readonly Owed[], date: string): readonly Owed[] => {
  const overdue = owed.filter(({ due }) => due < date);
  const later = owed.filter(({ due }) => due >= date);
  const byCode = (a: Owed, b: Owed): number => (a.code < b.code ? -1 : 1);
  overdue.sort((a, b) => (a.due === b.due ? byCode(a, b) : a.due < b.due ? -1 : 1));
  later.sort((a, b) => (a.due === b.due ? byCode(a, b) : a.due > b.due ? -1 : 1));
  return [...overdue, ...later];
};

/** Where an advance payment goes. */
export const spread = (v: Number70, owed: readonly Owed[], value: number, date: string): Spread => {
  const all = valuation(v, owed, date);
  if (value >= all.total) {
    const paidOff = owed.map(({ code }, i) => [code, all.lines[i]!] as const);
    return { payoff: all.total, paidOff, remaining: 0, excess: value - all.total };
  }
  const ordered = inOrder(owed, date);
  const { exact, lines } = valuation(v, ordered, date);
  const paidOff: (readonly [string, number])[] = [];
  let spent = new Exact(0);
  for (const [i, { code }] of ordered.entries()) {
    const next = spent.plus(exact[i]!);
    if (round(next) > value) break;
    spent = next;
    paidOff.push([code, lines[i]!]);
  }
  const next = ordered[paidOff.length];
  const left = new Exact(value).minus(spent);
  const base = { payoff: all.total, paidOff, remaining: all.total - value, excess: 0 };
  if (!next || left.isZero()) return base;
  const credit = { cents: left, date };
  const after = { ...next, credits: [...next.credits, credit] };
  return { ...base, partial: { code: next.code, credit, owedAtDue: owedAtDue(v, after) } };
};
