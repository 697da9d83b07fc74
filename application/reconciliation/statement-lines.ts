import type { CalendarDate } from '../../domain/shared/calendar-date.ts';
import { NumberColumn, NONE, NameColumn } from './columns.ts';
import type { DayNumbers, Names } from './columns.ts';

export interface StatementLine {
  readonly line: number;
  readonly date: CalendarDate;
  /** Integer cents; below zero when money went out. */
  readonly amount: number;
  /** As it stands in the file, without spaces around it; may be empty. */
  readonly reference: string;
}

export interface StatementProblem {
  readonly kind:
    | 'date'
    | 'amount'
    | 'encoding'
    | 'width'
    | 'quotes'
    | 'too_long'
    | 'empty'
    | 'no_column'
    | 'same_titles'
    | 'other';
  /** Of the file, counted from 1. */
  readonly line?: number;
  /** Counted from 1. */
  readonly column?: number;
  readonly text?: string;
}

/** The file cannot be read as a statement. Nothing was compared. */
export class StatementError extends Error {
  override readonly name = 'StatementError';
  readonly problem: StatementProblem;

  constructor(message: string, options: ErrorOptions & { readonly problem?: StatementProblem } = {}) {
    super(message, options);
    this.problem = options.problem ?? { kind: 'other' };
  }
}

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
