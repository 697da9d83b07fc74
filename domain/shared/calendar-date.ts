import type { Brand } from './identifiers.ts';

/** A calendar date `YYYY-MM-DD`; never an instant, so no time zone ever moves it. Compares correctly as text. */
export type CalendarDate = Brand<string, 'CalendarDate'>;

const MS_PER_DAY = 86_400_000;
const LENGTH = 10;
const DASH = 45;
const ZERO = 48;
const MONTH_LENGTHS = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

const isLeap = (year: number): boolean => year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);

const lengthOf = (year: number, month: number): number =>
  month === 2 && isLeap(year) ? 29 : (MONTH_LENGTHS[month - 1] ?? 0);

const digitsOf = (text: string, start: number, end: number): number => {
  let number = 0;
  for (let i = start; i < end; i += 1) {
    const digit = text.charCodeAt(i) - ZERO;
    if (digit < 0 || digit > 9) return NaN;
    number = number * 10 + digit;
  }
  return number;
};

/** Days since 1970-01-01; undefined for a text that is no date or a date that does not exist. */
const epochDay = (date: string): number | undefined => {
  if (date.length !== LENGTH || date.charCodeAt(4) !== DASH || date.charCodeAt(7) !== DASH) return undefined;
  const year = digitsOf(date, 0, 4);
  const month = digitsOf(date, 5, 7);
  const day = digitsOf(date, 8, 10);
  if (!(year >= 0 && day >= 1 && day <= lengthOf(year, month))) return undefined;
  return Date.UTC(year, month - 1, day) / MS_PER_DAY;
};

/** True for a date that exists, between the years 1000 and 9999. */
export const isCalendarDate = (text: string): text is CalendarDate =>
  text >= '1000' && epochDay(text) !== undefined;

export const calendarDate = (text: string): CalendarDate => {
  if (!isCalendarDate(text)) throw new RangeError(`not a calendar date: ${text}`);
  return text;
};

/** Days of 137 years. */
const MOST_SHARED = 50_000;
const shared = new Map<CalendarDate, CalendarDate>();

/** The same date as the one text that all who asked for it hold: schedules repeat theirs, and a date takes as much room as four numbers. */
export const sharedDate = (date: CalendarDate): CalendarDate => {
  const known = shared.get(date);
  if (known === undefined && shared.size < MOST_SHARED) shared.set(date, date);
  return known ?? date;
};

/** Whole calendar days from `from` to `to`; negative when `to` comes first. */
export const daysBetween = (from: CalendarDate, to: CalendarDate): number => {
  const a = epochDay(from);
  const b = epochDay(to);
  if (a === undefined || b === undefined) throw new RangeError(`not calendar dates: ${from}, ${to}`);
  return b - a;
};

const LAST_DAY = Date.UTC(9999, 11, 31) / MS_PER_DAY;

/** Never later than 9999-12-31: a year of five digits would, as text, come before all others. */
export const addDays = (date: CalendarDate, days: number): CalendarDate => {
  const day = epochDay(date);
  if (day === undefined) throw new RangeError(`not a calendar date: ${date}`);
  return new Date(Math.min(day + days, LAST_DAY) * MS_PER_DAY).toISOString().slice(0, 10) as CalendarDate;
};
