import type { CalendarDate } from '../../domain/shared/calendar-date.ts';
import type { RealTime, Timestamp } from '../../domain/shared/identifiers.ts';

/** The time of the world. Whatever waits, expires, is retried or is kept for so long goes by it: nothing moves it. */
export interface RealClock {
  realNow(): RealTime;
}

/**
 * The time that operations live in: events, due dates, payments. In a sandbox it can be moved ahead of the real time; elsewhere the
 * two are the same. Neither clock can stand in for the other.
 */
export interface BusinessClock {
  now(): Timestamp;
  today(): CalendarDate;
}
