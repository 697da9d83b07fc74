import { Column, NameColumn } from './columns.ts';
import type { Names } from './columns.ts';
import type { DayNumbers } from './day-numbers.ts';
import { NONE } from './payments.ts';
import type { StatementLine } from './statement-line.ts';

/** Statement lines as columns, in the order of the file. */
export class Lines {
  readonly #days: DayNumbers;
  readonly line = Column.small();
  readonly day = Column.small();
  readonly amount = Column.large();
  readonly reference: string[] = [];
  /** Operation that the reference names, or NONE. */
  readonly operation = Column.small();
  /** Installment that it names, or null. */
  readonly installment: NameColumn;
  /** Payment whose event id it is, or NONE. */
  readonly payment = Column.small();

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
