import type { Line, Matching, Operation, Payment } from './matching.ts';
import type { Tolerances } from './reference-passes.ts';

interface Group<Row> {
  readonly members: [Row, ...Row[]];
  sum: number;
}

const intoGroup = <Key, Row extends Payment | Line>(
  groups: Map<Key, Group<Row>>,
  key: Key,
  row: Row,
): void => {
  const group = groups.get(key);
  if (!group) groups.set(key, { members: [row], sum: row.amount });
  else {
    group.members.push(row);
    group.sum += row.amount;
  }
};

/** The group of the nearest day whose members add up to the amount; of two equally near days the earlier. */
const groupNear = <Row>(
  groups: ReadonlyMap<number, Group<Row>> | undefined,
  { day, amount }: Payment | Line,
  windowDays: number,
): Group<Row> | undefined => {
  if (!groups) return undefined;
  for (let distance = 0; distance <= windowDays; distance += 1) {
    for (const near of distance === 0 ? [day] : [day - distance, day + distance]) {
      const group = groups.get(near);
      if (group && group.members.length > 1 && group.sum === amount) return group;
    }
  }
  return undefined;
};

/** One line for all payments of an operation on a day. */
export const matchBatches = (matching: Matching, { windowDays }: Tolerances): void => {
  for (const line of matching.openLines()) {
    if (!line.operation || line.installment !== null || line.payment) continue;
    const groups = new Map<number, Group<Payment>>();
    for (const payment of line.operation.payments)
      if (!payment.match) intoGroup(groups, payment.day, payment);
    const group = groupNear(groups, line, windowDays);
    if (group) matching.join('batch', group.members, [line]);
  }
};

/** Several lines of an operation on a day for one payment, such as one for each installment that a prepayment paid off. */
export const matchParts = (matching: Matching, { windowDays }: Tolerances): void => {
  const linesOf = new Map<Operation, Map<number, Group<Line>>>();
  for (const line of matching.openLines()) {
    if (!line.operation) continue;
    let groups = linesOf.get(line.operation);
    if (!groups) linesOf.set(line.operation, (groups = new Map<number, Group<Line>>()));
    intoGroup(groups, line.day, line);
  }
  for (const payment of matching.openPayments()) {
    const group = groupNear(linesOf.get(payment.operation), payment, windowDays);
    if (group?.members.every(({ match }) => match === undefined))
      matching.join('parts', [payment], group.members);
  }
};

/** One line without a usable reference for everything that is still open on its day, of one kind or of all. */
export const matchDayTotals = (matching: Matching): void => {
  const groups = new Map<string, Group<Payment>>();
  for (const payment of matching.openPayments())
    for (const kind of ['all', payment.kind]) intoGroup(groups, `${payment.day} ${kind}`, payment);
  for (const line of matching.openLines()) {
    if (line.operation) continue;
    for (const kind of ['all', 'settlement', 'prepayment', 'repurchase']) {
      const group = groups.get(`${line.day} ${kind}`);
      if (!group || group.members.length < 2 || group.sum !== line.amount) continue;
      if (group.members.some(({ match }) => match !== undefined)) continue;
      matching.join('day_total', group.members, [line]);
      break;
    }
  }
};

/** Lines whose reference names nothing, by their amount: all of the same day first, then one day apart, and so on. */
export const matchByAmountAndDate = (matching: Matching, { windowDays }: Tolerances): void => {
  // Open payments by amount and day, each list taken from its end.
  const waiting = new Map<number, Map<number, Payment[]>>();
  for (const payment of [...matching.openPayments()].toReversed()) {
    const days = waiting.get(payment.amount) ?? new Map<number, Payment[]>();
    const some = days.get(payment.day) ?? [];
    some.push(payment);
    waiting.set(payment.amount, days.set(payment.day, some));
  }
  for (let distance = 0; distance <= windowDays; distance += 1) {
    for (const line of matching.openLines()) {
      if (line.operation) continue;
      const days = waiting.get(line.amount);
      const payment = days?.get(line.day - distance)?.pop() ?? days?.get(line.day + distance)?.pop();
      if (payment) matching.join('amount_and_date', [payment], [line]);
    }
  }
};
