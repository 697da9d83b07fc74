import type { Matching } from './matching.ts';
import { NONE } from './payments.ts';

/** For each line or payment that repeats another one: which. */
export type Repetitions = ReadonlyMap<number, number>;

const lineKey = ({ lines }: Matching, line: number): string | undefined => {
  const operation = lines.operation.at(line);
  if (operation === NONE) return undefined;
  return `${operation} ${lines.payment.at(line)} ${lines.amount.at(line)} ${lines.installment.at(line) ?? ''}`;
};

/**
 * Open lines that say what another line within the window says as well, a matched one or an earlier one: same reference, same
 * amount. Texts that name no operation repeat for other reasons. Only the keys of open lines are kept, so a statement that matches costs nothing here.
 */
export const repeatedLines = (matching: Matching, windowDays: number): Repetitions => {
  const { lines } = matching;
  const alike = new Map<string, number[]>();
  for (const line of matching.openLines()) {
    const key = lineKey(matching, line);
    if (key !== undefined && !alike.has(key)) alike.set(key, []);
  }
  if (alike.size > 0)
    for (let line = 0; line < lines.count; line += 1) alike.get(lineKey(matching, line) ?? '')?.push(line);
  const repeated = new Map<number, number>();
  for (const group of alike.values()) {
    const originals = group.filter((line) => !matching.isOpenLine(line));
    for (const line of group) {
      if (!matching.isOpenLine(line)) continue;
      const near = (other: number) => Math.abs(lines.day.at(other) - lines.day.at(line)) <= windowDays;
      const original = originals.find(near);
      if (original === undefined) originals.push(line);
      else repeated.set(line, original);
    }
  }
  return repeated;
};

/** Open payments that repeat another one of their operation within the window: same kind, installment and amount. */
export const repeatedPayments = (matching: Matching, windowDays: number): Repetitions => {
  const { payments } = matching;
  const repeats = (payment: number, other: number): boolean =>
    payments.kind(other) === payments.kind(payment) &&
    payments.installment.at(other) === payments.installment.at(payment) &&
    payments.amount.at(other) === payments.amount.at(payment) &&
    Math.abs(payments.day.at(other) - payments.day.at(payment)) <= windowDays;
  const repeated = new Map<number, number>();
  for (const payment of matching.openPayments()) {
    for (let p = payments.firstOf(payments.operation.at(payment)); p !== NONE; p = payments.after(p)) {
      const mayBeTheOriginal =
        p !== payment && !repeated.has(p) && (!matching.isOpenPayment(p) || p < payment);
      if (!mayBeTheOriginal || !repeats(payment, p)) continue;
      repeated.set(payment, p);
      break;
    }
  }
  return repeated;
};
