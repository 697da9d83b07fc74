import { calendarDate, daysBetween } from '../../domain/shared/calendar-date.ts';
import type { CalendarDate } from '../../domain/shared/calendar-date.ts';
import type { NotifiedPayment } from '../ports/notified-payments.ts';
import type { StatementLine } from './statement-line.ts';

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

export type PaymentKind = NotifiedPayment['kind'];

/** An operation that one of the sides names. */
export interface Operation {
  readonly code: string;
  /** In the order in which they were notified; none when only a line names the operation. */
  readonly payments: Payment[];
}

/** What deserves a look at a payment beside whether it arrived; cents. */
export interface PaymentRemarks {
  readonly reason: NotifiedPayment['reason'];
  readonly owedValue: number;
  readonly underpaidValue: number;
  readonly excessValue: number;
  readonly shortfallValue: number;
  readonly receivedBefore: number;
  readonly completedAt: string | null;
}

/** Payments and lines of one movement. A payment and a line are each in one match at most. */
export interface Match {
  readonly number: number;
  readonly rule: Rule;
  readonly line: Line;
  /** In the order of the file; nearly always none. */
  readonly furtherLines: readonly Line[];
  /** Kind of its first payment. */
  readonly kind: PaymentKind;
  /** A side of it lies in the period. */
  readonly concerned: boolean;
}

/** A notified payment; cents. */
export interface Payment {
  /** Place in the order of the notifications. */
  readonly index: number;
  readonly eventId: string;
  readonly kind: PaymentKind;
  readonly operation: Operation;
  readonly installment: string | null;
  readonly date: CalendarDate;
  /** The date as a whole number, for distances. */
  readonly day: number;
  readonly amount: number;
  /** Of the few that have any. */
  readonly remarks: PaymentRemarks | undefined;
  match: Match | undefined;
}

/** A line of the statement, and what its reference names. */
export interface Line extends StatementLine {
  readonly day: number;
  operation: Operation | undefined;
  installment: string | null;
  /** The payment whose event id the reference is. */
  payment: Payment | undefined;
  match: Match | undefined;
  /** Says what another line says as well, so that no later pass takes it. */
  isRepetition: boolean;
}

/** At least one. */
export type Some<Row> = readonly [Row, ...Row[]];

const NO_LINES: readonly Line[] = [];

const EPOCH = calendarDate('1970-01-01');

const remarksOf = (payment: NotifiedPayment): PaymentRemarks | undefined => {
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

/** Both sides of a reconciliation, and which of their rows belong together. */
export class Matching {
  readonly payments: Payment[] = [];
  readonly lines: Line[] = [];
  /** Matches with a side in the period. */
  readonly matched = Object.fromEntries(RULES.map((rule) => [rule, 0])) as Record<Rule, number>;
  readonly #operations = new Map<string, Operation>();
  /** A period has few dates and a million rows, so each date is kept once, with its number. */
  readonly #days = new Map<string, { readonly date: CalendarDate; readonly day: number }>();
  /** Schedules name their installments alike, so each name is kept once. */
  readonly #installments = new Map<string, string>();
  readonly #from: number;
  readonly #to: number;
  #matches = 0;

  /** Both dates inclusive. */
  constructor(period: { readonly from: CalendarDate; readonly to: CalendarDate }) {
    [this.#from, this.#to] = [this.#dayOf(period.from).day, this.#dayOf(period.to).day];
  }

  addPayment(payment: NotifiedPayment): void {
    const operation = this.operationOf(payment.code);
    const added: Payment = {
      index: this.payments.length,
      eventId: payment.event_id,
      kind: payment.kind,
      operation,
      installment: payment.installment_code === null ? null : this.#installmentOf(payment.installment_code),
      ...this.#dayOf(payment.date as CalendarDate),
      amount: payment.amount,
      remarks: remarksOf(payment),
      match: undefined,
    };
    this.payments.push(added);
    operation.payments.push(added);
  }

  /** Answers whether the line lies in the period or no more than so many days outside. */
  addLine({ line, date, amount, reference }: StatementLine, windowDays: number): boolean {
    const dated = this.#dayOf(date);
    if (dated.day < this.#from - windowDays || dated.day > this.#to + windowDays) return false;
    const nothingNamed = { operation: undefined, installment: null, payment: undefined };
    const unmatched = { match: undefined, isRepetition: false };
    this.lines.push({ line, ...dated, amount, reference, ...nothingNamed, ...unmatched });
    return true;
  }

  /** The operation with this code, a new one without payments when there is none. */
  operationOf(code: string): Operation {
    let operation = this.#operations.get(code);
    if (!operation) this.#operations.set(code, (operation = { code, payments: [] }));
    return operation;
  }

  findOperation(code: string): Operation | undefined {
    return this.#operations.get(code);
  }

  operations(): Iterable<Operation> {
    return this.#operations.values();
  }

  join(rule: Rule, payments: Some<Payment>, lines: Some<Line>): void {
    const within = ({ day }: Payment | Line): boolean => this.isWithin(day);
    const concerned = payments.some(within) || lines.some(within);
    const furtherLines = lines.length === 1 ? NO_LINES : lines.slice(1);
    const match = {
      number: this.#matches++,
      rule,
      line: lines[0],
      furtherLines,
      kind: payments[0].kind,
      concerned,
    };
    for (const payment of payments) payment.match = match;
    for (const line of lines) line.match = match;
    if (concerned) this.matched[rule] += 1;
  }

  isWithin(day: number): boolean {
    return day >= this.#from && day <= this.#to;
  }

  /** In the period itself, or joined with something in it. */
  concerns(row: Payment | Line): boolean {
    return row.match?.concerned ?? this.isWithin(row.day);
  }

  openPayments(): Iterable<Payment> {
    return this.payments.values().filter(({ match }) => match === undefined);
  }

  openLines(): Iterable<Line> {
    return this.lines.values().filter(({ match, isRepetition }) => match === undefined && !isRepetition);
  }

  #installmentOf(name: string): string {
    const known = this.#installments.get(name);
    if (known === undefined) this.#installments.set(name, name);
    return known ?? name;
  }

  #dayOf(date: CalendarDate): { readonly date: CalendarDate; readonly day: number } {
    let known = this.#days.get(date);
    if (!known) this.#days.set(date, (known = { date, day: daysBetween(EPOCH, date) }));
    return known;
  }
}
