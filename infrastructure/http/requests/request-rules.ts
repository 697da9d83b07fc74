import { addDays, isCalendarDate } from '../../../domain/shared/calendar-date.ts';
import type { CalendarDate } from '../../../domain/shared/calendar-date.ts';
import type { FieldViolation } from '../../../domain/shared/domain-error.ts';

/** What differs between requests and days in the contents of requests. */
export interface RequestRules {
  /** As in production: CPF and CNPJ must carry the right check digits, and nothing is issued after tomorrow. */
  readonly strict: boolean;
  /** The calendar date in Sao Paulo. */
  readonly today: () => CalendarDate;
}

/** A parsed body that may still break any rule. */
export type Draft = Readonly<Record<string, unknown>>;

/**
 * Rules between fields. They also look at drafts that break their schema, and then judge only what has the right shape.
 * `carrier` is the part of the form that the draft came in, or `body`.
 */
export type CrossCheck = (draft: Draft, rules: RequestRules, carrier: string) => readonly FieldViolation[];

export const asDraft = (value: unknown): Draft | undefined =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Draft) : undefined;

export const asList = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

export const asText = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);

/** Positions of texts that appeared before, with the text. */
export const repetitions = (
  texts: readonly (string | undefined)[],
): readonly { index: number; text: string }[] => {
  const seen = new Set<string>();
  const repeated: { index: number; text: string }[] = [];
  texts.forEach((text, index) => {
    if (text === undefined) return;
    if (seen.has(text)) repeated.push({ index, text });
    seen.add(text);
  });
  return repeated;
};

/** A text inside of an entry that may have any shape. */
export const textIn = (entry: unknown, field: string): string | undefined => asText(asDraft(entry)?.[field]);

/** RFC 3339 writes leap seconds, which no clock here shows. @param code as the field's other rules are told */
export const withoutLeapSecond = (
  draft: Draft,
  fields: readonly string[],
  code: string,
): readonly FieldViolation[] =>
  fields
    .filter((field) => /T\d\d:\d\d:60/i.test(asText(draft[field]) ?? ''))
    .map((field) => ({ field, code, message: 'must be an instant without a leap second' }));

export const notAfter = (
  field: string,
  date: unknown,
  last: CalendarDate,
  why: string,
): readonly FieldViolation[] => {
  const text = asText(date);
  if (text === undefined || !isCalendarDate(text) || text <= last) return [];
  return [{ field, code: 'invalid_date', message: `must not be after ${last}: ${why}` }];
};

/** An operation that is issued later could not be disbursed. */
export const checkIssue = (
  field: string,
  date: unknown,
  { strict, today }: RequestRules,
): readonly FieldViolation[] =>
  strict ? notAfter(field, date, addDays(today(), 1), 'an operation is assigned once it is issued') : [];
