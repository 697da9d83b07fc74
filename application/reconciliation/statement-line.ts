import type { CalendarDate } from '../../domain/shared/calendar-date.ts';

/** One movement of a custodian's statement. */
export interface StatementLine {
  /** Line of the file on which it ends, counted from 1. */
  readonly line: number;
  readonly date: CalendarDate;
  /** Integer cents; below zero when money went out. */
  readonly amount: number;
  /** As it stands in the file, without spaces around it; may be empty. */
  readonly reference: string;
}

/** The file cannot be read as a statement. Nothing was compared. */
export class StatementError extends Error {
  override readonly name = 'StatementError';
}
