import type { PaymentKind } from '../../projections/loan/payment-writes.ts';
import type { CalendarDate } from '../../domain/shared/calendar-date.ts';
import type { NotifiedPayment } from './reconciliation-reader.ts';
import { NumberColumn, NONE, NameColumn } from './columns.ts';
import type { DayNumbers, Names } from './columns.ts';

export const PAYMENT_KINDS: readonly PaymentKind[] = ['settlement', 'prepayment', 'repurchase'];

/** What deserves a look at a payment beside whether it arrived; cents. */
const remarksOf = (payment: NotifiedPayment) => {
  const { kind, underpaid_value: underpaidValue, excess_value: excessValue } = payment;
  const shortfallValue = payment.shortfall_value;
  if (kind !== 'repurchase' && underpaidValue + excessValue + shortfallValue === 0) return undefined;
  return {
    reason: payment.reason,
    owedValue: payment.owed_value,
    underpaidValue,
    excessValue,
    shortfallValue,
    receivedBefore: payment.received_before,
    completedAt: payment.completed_at,
  };
};

/** Few operations have more payments than this. To look through so many costs less than to remember them for a statement that may ask for each of its lines. */
const FEW = 24;

/** As columns, since a million objects would take several times the memory. */
export class Payments {
  readonly #days: DayNumbers;
  readonly #operations = new Map<string, number>();
  readonly #codes: string[] = [];
  readonly #first = NumberColumn.small();
  readonly #last = NumberColumn.small();
  readonly #next = NumberColumn.small();
  readonly #inOrder = new Map<number, number[]>();
  readonly #kind = NumberColumn.small();
  readonly operation = NumberColumn.small();
  readonly installment: NameColumn;
  readonly eventId: string[] = [];
  readonly day = NumberColumn.small();
  readonly amount = NumberColumn.large();
  readonly remarks = new Map<number, NonNullable<ReturnType<typeof remarksOf>>>();

  constructor(days: DayNumbers, names: Names) {
    this.#days = days;
    this.installment = new NameColumn(names);
  }

  get count(): number {
    return this.amount.count;
  }

  /** By date. */
  add(payment: NotifiedPayment): void {
    const operation = this.operationOf(payment.code);
    const index = this.amount.push(payment.amount);
    this.operation.push(operation);
    this.installment.push(payment.installment_code);
    this.eventId.push(payment.event_id);
    this.day.push(this.#days.of(payment.date as CalendarDate));
    this.#kind.push(PAYMENT_KINDS.indexOf(payment.kind));
    this.#next.push(NONE);
    const last = this.#last.at(operation);
    if (last === NONE) this.#first.set(operation, index);
    else this.#next.set(last, index);
    this.#last.set(operation, index);
    const remarks = remarksOf(payment);
    if (remarks) this.remarks.set(index, remarks);
  }

  operationOf(code: string): number {
    let operation = this.#operations.get(code);
    if (operation === undefined) {
      operation = this.#codes.push(code) - 1;
      this.#operations.set(code, operation);
      this.#first.push(NONE);
      this.#last.push(NONE);
    }
    return operation;
  }

  findOperation(code: string): number {
    return this.#operations.get(code) ?? NONE;
  }

  codes(): Iterable<readonly [string, number]> {
    return this.#operations;
  }

  code(payment: number): string {
    return this.#codes[this.operation.at(payment)]!;
  }

  kind(payment: number): PaymentKind {
    return PAYMENT_KINDS[this.#kind.at(payment)]!;
  }

  /** By date. */
  *of(operation: number): Generator<number> {
    for (let p = this.#first.at(operation); p !== NONE; p = this.after(p)) yield p;
  }

  /** The first payment of an operation that is wanted, or NONE; undefined when that is none of a few and there are more. */
  firstOfFew(operation: number, isWanted: (payment: number) => boolean): number | undefined {
    let [found, steps] = [this.#first.at(operation), 0];
    for (; found !== NONE && !isWanted(found); found = this.after(found)) if (++steps > FEW) return undefined;
    return found;
  }

  /** Those of an operation that are at most so many days away. */
  *around(operation: number, day: number, days: number): Generator<number> {
    const from = day - days;
    let p = this.firstOfFew(operation, (one) => this.day.at(one) >= from) ?? this.#searched(operation, from);
    for (; p !== NONE && this.day.at(p) <= day + days; p = this.after(p)) yield p;
  }

  /** The operation's payment after this one, which is not of an earlier day, or NONE. */
  after(payment: number): number {
    return this.#next.at(payment);
  }

  #searched(operation: number, day: number): number {
    let all = this.#inOrder.get(operation);
    if (!all) this.#inOrder.set(operation, (all = [...this.of(operation)]));
    let [low, high] = [0, all.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.day.at(all[middle]!) < day) low = middle + 1;
      else high = middle;
    }
    return all[low] ?? NONE;
  }
}
