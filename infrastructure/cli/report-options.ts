import { InvalidArgumentError, Option } from 'commander';
import { instantOf } from '../../application/schemas/instant.ts';
import { isCalendarDate } from '../../domain/shared/calendar-date.ts';
import type { CalendarDate } from '../../domain/shared/calendar-date.ts';
import { REPORT_FORMATS } from './report-output.ts';

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

export const fundOption = (text: string): string => {
  const id = text.toLowerCase();
  if (UUID.test(id)) return id;
  throw new InvalidArgumentError('It must be a UUID.');
};

export const dateOption = (text: string): CalendarDate => {
  if (isCalendarDate(text)) return text;
  throw new InvalidArgumentError('It must be a day that exists, such as 2026-06-30.');
};

export const instantOption = (text: string): string => {
  try {
    return instantOf('time', text);
  } catch {
    throw new InvalidArgumentError('It must be an instant, such as 2026-06-30T18:00:00Z.');
  }
};

/** A whole number of this range. */
export const numberOption =
  (most: number) =>
  (text: string): number => {
    const value = /^\d{1,9}$/.test(text) ? Number(text) : NaN;
    if (value <= most) return value;
    throw new InvalidArgumentError(`It must be a whole number from 0 to ${most}.`);
  };

export const formatOption = (): Option =>
  new Option('--format <format>', 'how the answer is written').choices(REPORT_FORMATS).default('table');
