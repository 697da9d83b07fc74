import { addDays, isCalendarDate } from '../../../domain/shared/calendar-date.ts';
import type { CalendarDate } from '../../../domain/shared/calendar-date.ts';
import type { FieldViolation } from '../../../domain/shared/domain-error.ts';
import type { ReceivedFile } from '../../../application/ports/document-store.ts';
import { HttpProblem } from '../errors/http-problem.ts';

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

export const textIn = (entry: unknown, field: string): string | undefined => asText(asDraft(entry)?.[field]);

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

const FILES = 'files';

const isFirst = (files: readonly ReceivedFile[], index: number): boolean =>
  files.findIndex(({ name }) => name === files[index]!.name) === index;

/**
 * Files and documents name each other, one to one, but for files that may be left out. All mismatches are listed; the first kind found gives the error its code.
 * @throws HttpProblem `duplicate_file_name`, `missing_file`, `unreferenced_file`
 */
export const requireMatchingFiles = (
  names: readonly string[],
  files: readonly ReceivedFile[],
  mayLack = false,
): void => {
  const referenced = new Set(names);
  const normal = new Set(names.map((name) => name.normalize()));
  const uploaded = new Set(files.map(({ name }) => name));
  const repeated = repetitions(files.map(({ name }) => name));
  const missing = mayLack ? [] : names.filter((name) => !uploaded.has(name));
  const unreferenced = files.filter(({ name }, i) => !referenced.has(name) && isFirst(files, i));
  const details = [
    ...repeated.map(({ index, text }) => ({
      field: files[index]!.field,
      code: 'duplicate_file_name' as const,
      message: `${text} was uploaded more than once; send each name once`,
    })),
    ...missing.map((name) => ({
      field: FILES,
      code: 'missing_file' as const,
      message: `${name} was not uploaded; send it in a part named files under exactly this name`,
    })),
    ...unreferenced.map(({ name, field }) => ({
      field,
      code: 'unreferenced_file' as const,
      message: normal.has(name.normalize())
        ? `${name} differs from the name of its document in how accents are written; send both in one form of Unicode, such as NFC`
        : `${name} is named by no document; leave it out or add a document`,
    })),
  ];
  const [first] = details;
  if (first) throw new HttpProblem(first.code, details.map(({ message }) => message).join('; '), details);
};
