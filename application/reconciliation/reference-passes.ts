import type { Matching, Rule } from './matching.ts';
import { NONE } from './payments.ts';

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
const namedBy = (
  { lines, payments }: Matching,
  line: number,
  payment: number,
): 'whole' | 'operation' | 'no' => {
  if (lines.payment.at(line) !== NONE) return lines.payment.at(line) === payment ? 'whole' : 'no';
  const named = lines.installment.at(line);
  const own = payments.installment.at(payment);
  if (named === own) return 'whole';
  return named === null ? 'operation' : 'no';
};

/** The open payment of the line's operation that is near enough: nearest in time, then in amount, then the first. */
const nearest = (matching: Matching, line: number, near: Nearness): number => {
  const { lines, payments } = matching;
  let [best, bestDays, bestCents] = [NONE, Infinity, Infinity];
  const operation = lines.operation.at(line);
  if (operation === NONE) return NONE;
  for (let p = payments.firstOf(operation); p !== NONE; p = payments.after(p)) {
    if (!matching.isOpenPayment(p)) continue;
    const days = Math.abs(payments.day.at(p) - lines.day.at(line));
    const cents = Math.abs(payments.amount.at(p) - lines.amount.at(line));
    if (days > near.days || cents > near.cents) continue;
    if (days > bestDays || (days === bestDays && cents >= bestCents)) continue;
    const named = namedBy(matching, line, p);
    if (named === 'no' || (near.reference === 'whole' && named !== 'whole')) continue;
    [best, bestDays, bestCents] = [p, days, cents];
  }
  return best;
};

const pass = (matching: Matching, rule: Rule, near: Nearness): void => {
  for (const line of matching.openLines()) {
    const payment = nearest(matching, line, near);
    if (payment !== NONE) matching.join(rule, [payment], [line]);
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
