import { isCalendarDate } from '../../domain/shared/calendar-date.ts';
import type { CalendarDate } from '../../domain/shared/calendar-date.ts';

const PARTS = /yyyy|yy|mm|dd/g;
const WIDTHS: Readonly<Record<string, string>> = { yyyy: '\\d{4}', yy: '\\d{2}', mm: '\\d{2}', dd: '\\d{2}' };
/** Spreadsheets add a time to every date. A statement's day is the one that is written, whatever the time says. */
const TIME = '(?:[ T]\\d{2}:\\d{2}(?::\\d{2})?)?';

const literally = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');

/**
 * Reads dates of a pattern such as `dd/mm/yyyy`; two digits of a year are of this century.
 * @returns undefined for another shape, or a day that does not exist
 */
export const dateReader = (format: string): ((text: string) => CalendarDate | undefined) => {
  const pattern = format.toLowerCase();
  const parts = pattern.match(PARTS) ?? [];
  const between = pattern.split(PARTS).map(literally);
  const shape = between.map((text, i) => text + (i < parts.length ? `(${WIDTHS[parts[i]!]!})` : '')).join('');
  const expression = new RegExp(`^${shape}${TIME}$`);
  const place = (part: string): number => parts.findIndex((found) => found.startsWith(part)) + 1;
  const [year, month, day] = [place('y'), place('m'), place('d')];
  const known = new Map<string, CalendarDate>();
  return (text) => {
    const seen = known.get(text);
    if (seen !== undefined) return seen;
    const found = expression.exec(text);
    if (!found) return undefined;
    const date = `${found[year]!.padStart(4, '20')}-${found[month]!}-${found[day]!}`;
    if (!isCalendarDate(date)) return undefined;
    known.set(text, date);
    return date;
  };
};
