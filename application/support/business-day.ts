import { addDays } from '../../domain/shared/calendar-date.ts';
import type { CalendarDate } from '../../domain/shared/calendar-date.ts';

const saoPaulo = new Intl.DateTimeFormat('en-CA', {
  timeZone: 'America/Sao_Paulo',
  year: 'numeric',
  month: '2-digit',
  day: '2-digit',
});

/** The day in America/Sao_Paulo on which an instant lies, in UNIX milliseconds or as text. */
export const businessDayOf = (instant: string | number): CalendarDate =>
  saoPaulo.format(typeof instant === 'string' ? Date.parse(instant) : instant) as CalendarDate;

/** Hours behind UTC, in winter and in the summers that had one. In spring a day began at 01:00, so the later one comes first. */
const OFFSETS = [3, 2];

/** First instant after a day in America/Sao_Paulo. */
export const endOfBusinessDay = (date: CalendarDate): string => {
  const next = addDays(date, 1);
  const begins = (instant: number): boolean =>
    businessDayOf(instant) === next && businessDayOf(instant - 1) === date;
  const candidates = OFFSETS.map((hours) => Date.parse(`${next}T0${hours}:00:00.000Z`));
  return new Date(candidates.find(begins) ?? candidates[0]!).toISOString();
};
