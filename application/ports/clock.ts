import type { CalendarDate } from '../../domain/shared/calendar-date.ts';
import type { Timestamp } from '../../domain/shared/identifiers.ts';

export interface Clock {
  now(): Timestamp;
  /** The calendar date in America/Sao_Paulo. */
  today(): CalendarDate;
}
