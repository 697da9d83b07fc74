import { DomainError } from '../../domain/shared/domain-error.ts';

const RFC3339 = /^(\d{4}-\d{2}-\d{2})[Tt ](\d{2}):(\d{2}):(\d{2})(?:\.\d{1,9})?([Zz]|[+-]\d{2}:\d{2})$/;
const LATEST = Date.parse('9999-12-31T23:59:59.999Z');

/** The instant in UTC with the milliseconds that events have. @throws DomainError `invalid_query_parameter` */
export const instantOf = (field: string, text: string): string => {
  const parts = RFC3339.exec(text);
  const ms = parts ? Date.parse(text.toUpperCase().replace(' ', 'T')) : NaN;
  const dayExists = parts && new Date(`${parts[1]}T00:00:00Z`).toISOString().startsWith(parts[1]!);
  if (Number.isNaN(ms) || !dayExists) {
    const message = 'give an instant such as 2026-01-15T12:00:00Z';
    const details = [{ field, code: 'invalid_value', message }];
    throw new DomainError('invalid_query_parameter', `${field}: ${message}`, details);
  }
  return new Date(Math.min(LATEST, ms)).toISOString();
};
