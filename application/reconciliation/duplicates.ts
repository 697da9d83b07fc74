import type { Line, Matching, Payment } from './matching.ts';

/** For each line or payment that repeats another one: which. */
export type Repetitions<Row> = ReadonlyMap<Row, Row>;

const isOpen = ({ match, isRepetition }: Line): boolean => match === undefined && !isRepetition;

const lineKey = ({ operation, payment, amount, installment }: Line): string | undefined =>
  operation && `${operation.code} ${payment?.eventId ?? ''} ${amount} ${installment ?? ''}`;

/**
 * Open lines that say what another line within the window says as well, a matched one or an earlier one: same reference, same
 * amount. Texts that name no operation repeat for other reasons. Only the keys of open lines are kept, so a statement that matches costs nothing here.
 */
export const repeatedLines = (matching: Matching, windowDays: number): Repetitions<Line> => {
  const alike = new Map<string, Line[]>();
  for (const line of matching.openLines()) {
    const key = lineKey(line);
    if (key !== undefined && !alike.has(key)) alike.set(key, []);
  }
  if (alike.size > 0) for (const line of matching.lines) alike.get(lineKey(line) ?? '')?.push(line);
  const repeated = new Map<Line, Line>();
  for (const group of alike.values()) {
    const originals = group.filter((line) => !isOpen(line));
    for (const line of group) {
      if (!isOpen(line)) continue;
      const original = originals.find((other) => Math.abs(other.day - line.day) <= windowDays);
      if (original === undefined) originals.push(line);
      else repeated.set(line, original);
    }
  }
  return repeated;
};

/** Open payments that repeat another one of their operation within the window: same kind, installment and amount. */
export const repeatedPayments = (matching: Matching, windowDays: number): Repetitions<Payment> => {
  const repeats = (payment: Payment, other: Payment): boolean =>
    other.kind === payment.kind &&
    other.installment === payment.installment &&
    other.amount === payment.amount &&
    Math.abs(other.day - payment.day) <= windowDays;
  const repeated = new Map<Payment, Payment>();
  for (const payment of matching.openPayments()) {
    const mayBeTheOriginal = (other: Payment): boolean =>
      other !== payment && !repeated.has(other) && (other.match !== undefined || other.index < payment.index);
    const original = payment.operation.payments.find(
      (other) => mayBeTheOriginal(other) && repeats(payment, other),
    );
    if (original) repeated.set(payment, original);
  }
  return repeated;
};
