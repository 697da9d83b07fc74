import type { CalendarDate } from '../../domain/shared/calendar-date.ts';
import type { Timestamp } from '../../domain/shared/identifiers.ts';
import type { BusinessClock } from '../ports/clock.ts';

const saoPaulo = new Intl.DateTimeFormat('en-CA', {
  timeZone: 'America/Sao_Paulo',
  year: 'numeric',
  month: '2-digit',
  day: '2-digit',
});

/** The business time as this process knows it: the real time, and how far a sandbox has moved ahead of it. */
export class MovableClock implements BusinessClock {
  readonly #realNow: () => number;
  readonly #listeners = new Set<() => void>();
  #offsetMs = 0;
  #ms = 0;
  #text = '' as Timestamp;

  /** @param realNow milliseconds since 1970 */
  constructor(realNow: () => number) {
    this.#realNow = realNow;
  }

  get offsetMs(): number {
    return this.#offsetMs;
  }

  now(): Timestamp {
    const ms = this.#realNow() + this.#offsetMs;
    // Many commands fall into one millisecond, and printing a date costs more than deciding a settlement.
    if (ms !== this.#ms) {
      this.#text = new Date(ms).toISOString() as Timestamp;
      this.#ms = ms;
    }
    return this.#text;
  }

  today(): CalendarDate {
    return saoPaulo.format(this.#realNow() + this.#offsetMs) as CalendarDate;
  }

  /** Of two moves that are learned in the wrong order the further one stays: this time never goes back. */
  moveTo(offsetMs: number): void {
    if (offsetMs <= this.#offsetMs) return;
    this.#offsetMs = offsetMs;
    for (const listener of [...this.#listeners]) listener();
  }

  /** Called after each move until the function that it answers is called. */
  onMoved(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }
}
