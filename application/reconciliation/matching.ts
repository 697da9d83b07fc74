import { NumberColumn, NONE, NameColumn } from './columns.ts';
import type { DayNumbers, Names } from './columns.ts';
import type { Payments } from './payments.ts';
import type { Steps } from '../support/turns.ts';
import type { StatementLine } from './statements.ts';

export class Lines {
  readonly #days: DayNumbers;
  readonly line = NumberColumn.small();
  readonly day = NumberColumn.small();
  readonly amount = NumberColumn.large();
  readonly reference: string[] = [];
  readonly operation = NumberColumn.small();
  readonly installment: NameColumn;
  readonly payment = NumberColumn.small();

  constructor(days: DayNumbers, names: Names) {
    this.#days = days;
    this.installment = new NameColumn(names);
  }

  get count(): number {
    return this.amount.count;
  }

  add({ line, date, amount, reference }: StatementLine): void {
    this.line.push(line);
    this.day.push(this.#days.of(date));
    this.amount.push(amount);
    this.reference.push(reference);
    this.operation.push(NONE);
    this.installment.push(null);
    this.payment.push(NONE);
  }
}

/** How a statement line and what was notified were brought together, strongest evidence first; the passes run in this order. */
export const RULES = [
  'exact',
  'reference_and_amount',
  'operation_same_day',
  'operation_and_amount',
  'batch',
  'parts',
  'within_tolerance',
  'amount_differs',
  'day_total',
  'amount_and_date',
] as const;
export type Rule = (typeof RULES)[number];

const SET_ASIDE = -2;

/** Lines of a statement, payments, and which of them were brought together. A line and a payment are each in one match at most. */
export class Matching {
  readonly payments: Payments;
  readonly lines: Lines;
  readonly #rules = NumberColumn.small();
  readonly #matchOfPayment: Int32Array;
  readonly #matchOfLine: Int32Array;

  constructor(payments: Payments, lines: Lines) {
    this.payments = payments;
    this.lines = lines;
    this.#matchOfPayment = new Int32Array(payments.count).fill(NONE);
    this.#matchOfLine = new Int32Array(lines.count).fill(NONE);
  }

  join(rule: Rule, payments: readonly number[], lines: readonly number[]): void {
    const match = this.#rules.push(RULES.indexOf(rule));
    for (const payment of payments) this.#matchOfPayment[payment] = match;
    for (const line of lines) this.#matchOfLine[line] = match;
  }

  setAside(line: number): void {
    this.#matchOfLine[line] = SET_ASIDE;
  }

  isOpenPayment(payment: number): boolean {
    return this.#matchOfPayment[payment] === NONE;
  }

  isOpenLine(line: number): boolean {
    return this.#matchOfLine[line] === NONE;
  }

  get count(): number {
    return this.#rules.count;
  }

  rule(match: number): Rule {
    return RULES[this.#rules.at(match)]!;
  }

  /** NONE when it is in no match. */
  matchOfPayment(payment: number): number {
    return this.#matchOfPayment[payment]!;
  }

  /** NONE when it is in no match. */
  matchOfLine(line: number): number {
    return Math.max(NONE, this.#matchOfLine[line]!);
  }

  *openLines(): Generator<number> {
    for (let line = 0; line < this.lines.count; line += 1) if (this.isOpenLine(line)) yield line;
  }

  *openPayments(): Generator<number> {
    for (let payment = 0; payment < this.payments.count; payment += 1)
      if (this.isOpenPayment(payment)) yield payment;
  }
}

const lineKey = ({ lines }: Matching, line: number): string | undefined => {
  const operation = lines.operation.at(line);
  if (operation === NONE) return undefined;
  return `${operation} ${lines.payment.at(line)} ${lines.amount.at(line)} ${lines.installment.at(line) ?? ''}`;
};

/** What each of those that repeat another one repeats. */
export type Repeated = ReadonlyMap<number, number>;

/** The first of the originals that lies within the window. */
class Originals {
  readonly #places = new Map<number, { readonly place: number; readonly line: number }>();
  readonly #windowDays: number;

  constructor(windowDays: number) {
    this.#windowDays = windowDays;
  }

  add(line: number, day: number): void {
    if (!this.#places.has(day)) this.#places.set(day, { place: this.#places.size, line });
  }

  near(day: number): number | undefined {
    let first: { readonly place: number; readonly line: number } | undefined;
    for (let other = day - this.#windowDays; other <= day + this.#windowDays; other += 1) {
      const found = this.#places.get(other);
      if (found && (first === undefined || found.place < first.place)) first = found;
    }
    return first?.line;
  }
}

/**
 * Open lines that say what another line within the window says as well, a matched one or an earlier one: same reference, same
 * amount. Texts that name no operation repeat for other reasons. Only the keys of open lines are kept, so a statement that matches costs nothing here.
 */
export function* repeatedLines(matching: Matching, windowDays: number): Steps<Repeated> {
  const { lines } = matching;
  const alike = new Map<string, number[]>();
  for (const line of matching.openLines()) {
    yield;
    const key = lineKey(matching, line);
    if (key !== undefined && !alike.has(key)) alike.set(key, []);
  }
  for (let line = 0; alike.size > 0 && line < lines.count; line += 1) {
    yield;
    alike.get(lineKey(matching, line) ?? '')?.push(line);
  }
  const repeated = new Map<number, number>();
  for (const group of alike.values()) {
    const originals = new Originals(windowDays);
    for (const line of group) if (!matching.isOpenLine(line)) originals.add(line, lines.day.at(line));
    for (const line of group) {
      yield;
      if (!matching.isOpenLine(line)) continue;
      const day = lines.day.at(line);
      const original = originals.near(day);
      if (original === undefined) originals.add(line, day);
      else repeated.set(line, original);
    }
  }
  return repeated;
}

/** Open payments that repeat another one of their operation within the window: same kind, installment and amount. */
export function* repeatedPayments(matching: Matching, windowDays: number): Steps<Repeated> {
  const { payments } = matching;
  const repeats = (payment: number, other: number): boolean =>
    payments.kind(other) === payments.kind(payment) &&
    payments.installment.at(other) === payments.installment.at(payment) &&
    payments.amount.at(other) === payments.amount.at(payment);
  const repeated = new Map<number, number>();
  for (const payment of matching.openPayments()) {
    yield;
    const [operation, day] = [payments.operation.at(payment), payments.day.at(payment)];
    for (const p of payments.around(operation, day, windowDays)) {
      const mayBeTheOriginal =
        p !== payment && !repeated.has(p) && (!matching.isOpenPayment(p) || p < payment);
      if (!mayBeTheOriginal || !repeats(payment, p)) continue;
      repeated.set(payment, p);
      break;
    }
  }
  return repeated;
}
