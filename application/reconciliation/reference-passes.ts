import type { Line, Matching, Payment, Rule } from './matching.ts';

export interface Tolerances {
  /** Most days between the two dates. */
  readonly windowDays: number;
  /** Most cents between the two amounts for them to count as equal. */
  readonly toleranceCents: number;
  /** Lines whose reference names nothing are never matched. */
  readonly requireReference: boolean;
}

/** How near a payment has to be to a line. */
interface Nearness {
  /** `whole`: the reference names this payment and no other of the operation. */
  readonly reference: 'whole' | 'operation';
  readonly days: number;
  readonly cents: number;
}

/** A settlement is named by its installment; nothing but its operation's code names a prepayment or a repurchase. */
const namedBy = (line: Line, payment: Payment): 'whole' | 'operation' | 'no' => {
  if (line.payment) return line.payment === payment ? 'whole' : 'no';
  if (line.installment === payment.installment) return 'whole';
  return line.installment === null ? 'operation' : 'no';
};

/** The open payment of the line's operation that is near enough: nearest in time, then in amount, then the first. */
const nearest = (line: Line, near: Nearness): Payment | undefined => {
  let best: Payment | undefined;
  let [bestDays, bestCents] = [Infinity, Infinity];
  for (const payment of line.operation?.payments ?? []) {
    if (payment.match) continue;
    const days = Math.abs(payment.day - line.day);
    const cents = Math.abs(payment.amount - line.amount);
    if (days > near.days || cents > near.cents) continue;
    if (days > bestDays || (days === bestDays && cents >= bestCents)) continue;
    const named = namedBy(line, payment);
    if (named === 'no' || (near.reference === 'whole' && named !== 'whole')) continue;
    [best, bestDays, bestCents] = [payment, days, cents];
  }
  return best;
};

const pass = (matching: Matching, rule: Rule, near: Nearness): void => {
  for (const line of matching.openLines()) {
    const payment = nearest(line, near);
    if (payment) matching.join(rule, [payment], [line]);
  }
};

/** Same reference and same amount, on the day and then around it; first what names one payment, then what names an operation. */
export const matchByReference = (matching: Matching, { windowDays }: Tolerances): void => {
  pass(matching, 'exact', { reference: 'whole', days: 0, cents: 0 });
  pass(matching, 'reference_and_amount', { reference: 'whole', days: windowDays, cents: 0 });
  pass(matching, 'operation_same_day', { reference: 'operation', days: 0, cents: 0 });
  pass(matching, 'operation_and_amount', { reference: 'operation', days: windowDays, cents: 0 });
};

export const matchWithinTolerance = (
  matching: Matching,
  { windowDays: days, toleranceCents: cents }: Tolerances,
): void => {
  if (cents === 0) return;
  pass(matching, 'within_tolerance', { reference: 'whole', days, cents });
  pass(matching, 'within_tolerance', { reference: 'operation', days, cents });
};

/** The same movement, as far as the reference tells, with another amount: joined, and reported as a difference. */
export const pairDifferingAmounts = (matching: Matching, { windowDays: days }: Tolerances): void => {
  pass(matching, 'amount_differs', { reference: 'whole', days, cents: Infinity });
  pass(matching, 'amount_differs', { reference: 'operation', days, cents: Infinity });
};
