import { addDays, calendarDate, daysBetween } from '../../domain/shared/calendar-date.ts';
import type { CalendarDate } from '../../domain/shared/calendar-date.ts';

const EPOCH = calendarDate('1970-01-01');

/** Dates as whole numbers and back. A period has few dates and a million rows, so each is converted once. */
export class DayNumbers {
  readonly #numbers = new Map<string, number>();
  readonly #dates = new Map<number, CalendarDate>();

  of(date: CalendarDate): number {
    let day = this.#numbers.get(date);
    if (day === undefined) this.#numbers.set(date, (day = daysBetween(EPOCH, date)));
    return day;
  }

  date(day: number): CalendarDate {
    let date = this.#dates.get(day);
    if (date === undefined) this.#dates.set(day, (date = addDays(EPOCH, day)));
    return date;
  }
}
