import { Column } from './columns.ts';
import type { Lines } from './lines.ts';
import { NONE } from './payments.ts';
import type { Payments } from './payments.ts';

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

/** Both sides and who belongs to whom. A line and a payment are each in one match at most. */
export class Matching {
  readonly payments: Payments;
  readonly lines: Lines;
  readonly #rules = Column.small();
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

  /** Leaves a line out of every later pass. */
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
