import type { BusinessClock, RealClock } from '../../application/ports/clock.ts';
import type { CalendarDate } from '../../domain/shared/calendar-date.ts';
import type { RealTime, Timestamp } from '../../domain/shared/identifiers.ts';

/** Stands still until it is moved; both kinds of time at once. */
export class ManualClock implements BusinessClock, RealClock {
  #now: number;

  constructor(start = '2026-01-15T12:00:00.000Z') {
    this.#now = Date.parse(start);
  }

  now(): Timestamp {
    return new Date(this.#now).toISOString() as Timestamp;
  }

  realNow(): RealTime {
    return new Date(this.#now).toISOString() as RealTime;
  }

  today(): CalendarDate {
    return this.now().slice(0, 10) as CalendarDate;
  }

  set(now: string): void {
    this.#now = Date.parse(now);
  }

  advance(milliseconds: number): void {
    this.#now += milliseconds;
  }
}
