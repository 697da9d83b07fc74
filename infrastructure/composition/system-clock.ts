import type { Clock } from '../../application/ports/clock.ts';
import type { CalendarDate } from '../../domain/shared/calendar-date.ts';
import type { Timestamp } from '../../domain/shared/identifiers.ts';

const saoPaulo = new Intl.DateTimeFormat('en-CA', {
  timeZone: 'America/Sao_Paulo',
  year: 'numeric',
  month: '2-digit',
  day: '2-digit',
});

export class SystemClock implements Clock {
  #ms = 0;
  #text = '' as Timestamp;

  now(): Timestamp {
    const ms = Date.now();
    // Many commands fall into one millisecond, and printing a date costs more than deciding a settlement.
    if (ms !== this.#ms) {
      this.#text = new Date(ms).toISOString() as Timestamp;
      this.#ms = ms;
    }
    return this.#text;
  }

  today(): CalendarDate {
    return saoPaulo.format(new Date()) as CalendarDate;
  }
}
