import type { CalendarDate } from '../../domain/shared/calendar-date.ts';

/** A pending installment of an active operation whose due date has passed. */
export interface DueInstallment {
  /** Stream of its operation. */
  readonly stream: string;
  readonly code: string;
  readonly dueDate: CalendarDate;
}

/**
 * What the read model knows to be due. It may lag behind the streams, so an answer is a hint: the operation itself decides. Costs
 * grow with what is due, not with what is open.
 */
export interface DueInstallments {
  /** Due before `today`, by due date, at most `limit`; those that follow `after`, which need not be there any more. */
  dueBefore(today: CalendarDate, limit: number, after?: DueInstallment): Promise<readonly DueInstallment[]>;
}
