import { NONE } from './columns.ts';
import { repeatedLines, repeatedPayments } from './matching.ts';
import type { Matching, Repeated, Rule } from './matching.ts';
import { PAYMENT_KINDS } from './payments.ts';
import type { Steps } from '../support/turns.ts';

export const LONGEST_WINDOW_DAYS = 60;
export const HIGHEST_TOLERANCE_CENTS = 100_000;

export interface Tolerances {
  readonly windowDays: number;
  /** Most cents between the two amounts for them to count as equal. */
  readonly toleranceCents: number;
  /** Lines whose reference names nothing are never matched. */
  readonly requireReference: boolean;
}

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

/** Money that went out is no payment to the fund, however near it is to one. */
const wentOut = ({ lines }: Matching, line: number): boolean => lines.amount.at(line) < 0;

/** The open payment of the line's operation that is near enough: nearest in time, then in amount, then the first. */
const nearest = (matching: Matching, line: number, near: Nearness): number => {
  const { lines, payments } = matching;
  let [best, bestDays, bestCents] = [NONE, Infinity, Infinity];
  const [operation, day] = [lines.operation.at(line), lines.day.at(line)];
  if (operation === NONE || wentOut(matching, line)) return NONE;
  for (const p of payments.around(operation, day, near.days)) {
    if (!matching.isOpenPayment(p)) continue;
    const days = Math.abs(payments.day.at(p) - day);
    const cents = Math.abs(payments.amount.at(p) - lines.amount.at(line));
    if (cents > near.cents) continue;
    if (days > bestDays || (days === bestDays && cents >= bestCents)) continue;
    const named = namedBy(matching, line, p);
    if (named === 'no' || (near.reference === 'whole' && named !== 'whole')) continue;
    [best, bestDays, bestCents] = [p, days, cents];
  }
  return best;
};

function* pass(matching: Matching, rule: Rule, near: Nearness): Steps {
  for (const line of matching.openLines()) {
    yield;
    const payment = nearest(matching, line, near);
    if (payment !== NONE) matching.join(rule, [payment], [line]);
  }
}

/** Same reference and same amount, on the day and then around it; first what names one payment, then what names an operation. */
function* matchByReference(matching: Matching, { windowDays }: Tolerances): Steps {
  yield* pass(matching, 'exact', { reference: 'whole', days: 0, cents: 0 });
  yield* pass(matching, 'reference_and_amount', { reference: 'whole', days: windowDays, cents: 0 });
  yield* pass(matching, 'operation_same_day', { reference: 'operation', days: 0, cents: 0 });
  yield* pass(matching, 'operation_and_amount', { reference: 'operation', days: windowDays, cents: 0 });
}

function* matchWithinTolerance(
  matching: Matching,
  { windowDays: days, toleranceCents: cents }: Tolerances,
): Steps {
  if (cents === 0) return;
  yield* pass(matching, 'within_tolerance', { reference: 'whole', days, cents });
  yield* pass(matching, 'within_tolerance', { reference: 'operation', days, cents });
}

/** Joins a line and a payment whose references agree and whose amounts do not, to be reported as a difference. */
function* pairDifferingAmounts(matching: Matching, { windowDays: days }: Tolerances): Steps {
  yield* pass(matching, 'amount_differs', { reference: 'whole', days, cents: Infinity });
  yield* pass(matching, 'amount_differs', { reference: 'operation', days, cents: Infinity });
}

interface Group {
  readonly members: number[];
  sum: number;
}

const intoGroup = <Key>(groups: Map<Key, Group>, key: Key, member: number, amount: number): void => {
  const group = groups.get(key);
  if (!group) groups.set(key, { members: [member], sum: amount });
  else {
    group.members.push(member);
    group.sum += amount;
  }
};

/** The group of the nearest day whose members add up to the amount; of two equally near days the earlier. */
const groupNear = (
  groupOf: (day: number) => Group | undefined,
  day: number,
  amount: number,
  windowDays: number,
): Group | undefined => {
  for (let distance = 0; distance <= windowDays; distance += 1) {
    for (const near of distance === 0 ? [day] : [day - distance, day + distance]) {
      const group = groupOf(near);
      if (group && group.members.length > 1 && group.sum === amount) return group;
    }
  }
  return undefined;
};

/** One line for all payments of an operation on a day. */
function* matchBatches(matching: Matching, { windowDays }: Tolerances): Steps {
  const { lines, payments } = matching;
  for (const line of matching.openLines()) {
    yield;
    const operation = lines.operation.at(line);
    if (operation === NONE || lines.installment.at(line) !== null || lines.payment.at(line) !== NONE)
      continue;
    const day = lines.day.at(line);
    const groups = new Map<number, Group>();
    for (const p of payments.around(operation, day, windowDays))
      if (matching.isOpenPayment(p)) intoGroup(groups, payments.day.at(p), p, payments.amount.at(p));
    const group = groupNear((near) => groups.get(near), day, lines.amount.at(line), windowDays);
    if (group) matching.join('batch', group.members, [line]);
  }
}

/** Whether a line may be a part of a payment: one that names another payment or another installment is none. */
const mayBePart = ({ lines, payments }: Matching, line: number, payment: number): boolean => {
  const named = lines.payment.at(line);
  if (named !== NONE) return named === payment;
  const [part, own] = [lines.installment.at(line), payments.installment.at(payment)];
  return part === null || own === null || part === own;
};

/** Several lines of an operation on a day for one payment, such as one for each installment that a prepayment paid off. */
function* matchParts(matching: Matching, { windowDays }: Tolerances): Steps {
  const { lines, payments } = matching;
  const linesOf = new Map<number, Map<number, number[]>>();
  for (const line of matching.openLines()) {
    yield;
    const operation = lines.operation.at(line);
    if (operation === NONE || wentOut(matching, line)) continue;
    const [own, day] = [linesOf.get(operation) ?? new Map<number, number[]>(), lines.day.at(line)];
    linesOf.set(operation, own);
    const those = own.get(day);
    if (those) those.push(line);
    else own.set(day, [line]);
  }
  for (const payment of matching.openPayments()) {
    yield;
    const own = linesOf.get(payments.operation.at(payment));
    if (!own) continue;
    const partsOn = (day: number): Group | undefined => {
      const members = own
        .get(day)
        ?.filter((line) => matching.isOpenLine(line) && mayBePart(matching, line, payment));
      return members && { members, sum: members.reduce((sum, line) => sum + lines.amount.at(line), 0) };
    };
    const group = groupNear(partsOn, payments.day.at(payment), payments.amount.at(payment), windowDays);
    if (group) matching.join('parts', [payment], group.members);
  }
}

/** One line without a usable reference for everything that is still open on its day, of one kind or of all. */
function* matchDayTotals(matching: Matching): Steps {
  const { lines, payments } = matching;
  const groups = new Map<string, Group>();
  for (const p of matching.openPayments())
    for (const kind of ['all', payments.kind(p)])
      intoGroup(groups, `${payments.day.at(p)} ${kind}`, p, payments.amount.at(p));
  for (const line of matching.openLines()) {
    yield;
    if (lines.operation.at(line) !== NONE) continue;
    for (const kind of ['all', ...PAYMENT_KINDS]) {
      const group = groups.get(`${lines.day.at(line)} ${kind}`);
      if (!group || group.members.length < 2 || group.sum !== lines.amount.at(line)) continue;
      if (!group.members.every((payment) => matching.isOpenPayment(payment))) continue;
      matching.join('day_total', group.members, [line]);
      break;
    }
  }
}

class Shelf {
  readonly #byAmount = new Map<number, Map<number, { readonly payments: number[]; taken: number }>>();

  put(amount: number, day: number, payment: number): void {
    const days = this.#byAmount.get(amount) ?? new Map<number, { payments: number[]; taken: number }>();
    this.#byAmount.set(amount, days);
    const shelf = days.get(day);
    if (shelf) shelf.payments.push(payment);
    else days.set(day, { payments: [payment], taken: 0 });
  }

  take(amount: number, day: number): number {
    const shelf = this.#byAmount.get(amount)?.get(day);
    return shelf && shelf.taken < shelf.payments.length ? shelf.payments[shelf.taken++]! : NONE;
  }
}

/** Lines whose reference names nothing, by their amount: all of the same day first, then one day apart, and so on. */
function* matchByAmountAndDate(matching: Matching, { windowDays }: Tolerances): Steps {
  const { lines, payments } = matching;
  const shelf = new Shelf();
  for (const p of matching.openPayments()) shelf.put(payments.amount.at(p), payments.day.at(p), p);
  for (let distance = 0; distance <= windowDays; distance += 1) {
    for (const line of matching.openLines()) {
      yield;
      if (lines.operation.at(line) !== NONE) continue;
      const [amount, day] = [lines.amount.at(line), lines.day.at(line)];
      let payment = shelf.take(amount, day - distance);
      if (payment === NONE && distance > 0) payment = shelf.take(amount, day + distance);
      if (payment !== NONE) matching.join('amount_and_date', [payment], [line]);
    }
  }
}

/** A repeated line leaves before amounts that differ are paired, so that it is not taken for another payment. */
export function* matchAll(
  matching: Matching,
  tolerances: Tolerances,
): Steps<{ readonly repeatedLines: Repeated; readonly repeatedPayments: Repeated }> {
  yield* matchByReference(matching, tolerances);
  yield* matchBatches(matching, tolerances);
  yield* matchParts(matching, tolerances);
  yield* matchWithinTolerance(matching, tolerances);
  const lines = yield* repeatedLines(matching, tolerances.windowDays);
  for (const line of lines.keys()) matching.setAside(line);
  yield* pairDifferingAmounts(matching, tolerances);
  if (!tolerances.requireReference) {
    yield* matchDayTotals(matching);
    yield* matchByAmountAndDate(matching, tolerances);
  }
  return { repeatedLines: lines, repeatedPayments: yield* repeatedPayments(matching, tolerances.windowDays) };
}
