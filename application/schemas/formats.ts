import { isCalendarDate } from '../../domain/shared/calendar-date.ts';

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
const TIME = /^([01]\d|2[0-3]):[0-5]\d:([0-5]\d|60)(\.\d{1,9})?(Z|[+-]([01]\d|2[0-3]):[0-5]\d)$/i;

/** RFC 3339, section 5.6, on days that exist. */
const isDateTime = (text: string): boolean =>
  isCalendarDate(text.slice(0, 10)) && /[Tt]/.test(text.charAt(10)) && TIME.test(text.slice(11));

/** The formats that the interface description uses. */
export const FORMATS: Readonly<Record<string, (text: string) => boolean>> = {
  date: isCalendarDate,
  'date-time': isDateTime,
  uuid: (text) => UUID.test(text),
};
