import type { DayNumbers } from './day-numbers.ts';
import type { Repetitions } from './duplicates.ts';
import type { Matching } from './matching.ts';
import { NONE } from './payments.ts';
import type { ShownLine, ShownPayment } from './reconciliation.ts';

export interface Comparison {
  readonly matching: Matching;
  readonly days: DayNumbers;
  /** Day numbers, both inclusive. */
  readonly from: number;
  readonly to: number;
  readonly repeatedLines: Repetitions;
  readonly repeatedPayments: Repetitions;
}

/** A finished comparison: what of it concerns the period, and its rows in words. */
export class Compared {
  readonly matching: Matching;
  readonly repeatedLines: Repetitions;
  readonly repeatedPayments: Repetitions;
  readonly #days: DayNumbers;
  readonly #from: number;
  readonly #to: number;
  /** Matches with a side in the period. */
  readonly #concerned: Uint8Array;

  constructor({ matching, days, from, to, repeatedLines, repeatedPayments }: Comparison) {
    this.matching = matching;
    this.repeatedLines = repeatedLines;
    this.repeatedPayments = repeatedPayments;
    this.#days = days;
    this.#from = from;
    this.#to = to;
    this.#concerned = new Uint8Array(matching.count);
    const concern = (match: number, day: number): void => {
      if (match !== NONE && this.isWithin(day)) this.#concerned[match] = 1;
    };
    const { payments, lines } = matching;
    for (let p = 0; p < payments.count; p += 1) concern(matching.matchOfPayment(p), payments.day.at(p));
    for (let l = 0; l < lines.count; l += 1) concern(matching.matchOfLine(l), lines.day.at(l));
  }

  isWithin(day: number): boolean {
    return day >= this.#from && day <= this.#to;
  }

  /** In the period itself, or joined with something in it. */
  concernsPayment(payment: number): boolean {
    const match = this.matching.matchOfPayment(payment);
    return match === NONE
      ? this.isWithin(this.matching.payments.day.at(payment))
      : this.#concerned[match] === 1;
  }

  concernsLine(line: number): boolean {
    const match = this.matching.matchOfLine(line);
    return match === NONE ? this.isWithin(this.matching.lines.day.at(line)) : this.#concerned[match] === 1;
  }

  payment(payment: number): ShownPayment {
    const { payments } = this.matching;
    return {
      eventId: payments.eventId[payment]!,
      kind: payments.kind(payment),
      reason: payments.remarks.get(payment)?.reason ?? null,
      code: payments.code(payment),
      installment: payments.installment.at(payment),
      date: this.#days.date(payments.day.at(payment)),
      amount: payments.amount.at(payment),
    };
  }

  line(line: number): ShownLine {
    const { lines } = this.matching;
    return {
      line: lines.line.at(line),
      date: this.#days.date(lines.day.at(line)),
      amount: lines.amount.at(line),
      reference: lines.reference[line]!,
    };
  }
}
