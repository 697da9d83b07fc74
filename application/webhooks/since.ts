import { DomainError } from '../../domain/shared/domain-error.ts';

const RFC3339 = /^(\d{4}-\d{2}-\d{2})[Tt ](\d{2}):(\d{2}):(\d{2})(\.\d{1,9})?([Zz]|[+-]\d{2}:\d{2})$/;

/** The instant in UTC with milliseconds. @throws DomainError `invalid_query_parameter` */
export const instantOf = (field: string, text: string): string => {
  const parts = RFC3339.exec(text);
  const ms = parts ? Date.parse(text.toUpperCase().replace(' ', 'T')) : NaN;
  const dayExists = parts && new Date(`${parts[1]}T00:00:00Z`).toISOString().startsWith(parts[1]!);
  if (Number.isNaN(ms) || !dayExists) {
    throw new DomainError(
      'invalid_query_parameter',
      `${field}: give an instant such as 2026-01-15T12:00:00Z`,
    );
  }
  return new Date(ms).toISOString();
};
