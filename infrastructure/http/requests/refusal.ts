import type { FieldViolation } from '../../../domain/shared/domain-error.ts';
import type { ErrorCode } from '../errors/error-table.ts';
import { HttpProblem } from '../errors/http-problem.ts';

/** Rules with an error code of their own; it stands for the whole refusal when nothing else is wrong. */
const OWN_CODE: ReadonlySet<string> = new Set<ErrorCode>([
  'invalid_webhook_url',
  'invalid_event',
  'immutable_field',
  'empty_update',
]);

const MOST_NAMED = 5;

const summary = (violations: readonly FieldViolation[]): string => {
  const [only] = violations;
  if (violations.length === 1 && only) return `${only.field} ${only.message}`;
  const names = violations.slice(0, MOST_NAMED).map(({ field }) => field);
  const rest = violations.length - names.length;
  return `${violations.length} rules are broken, see details: ${names.join(', ')}${rest > 0 ? ` and ${rest} more` : ''}`;
};

/** The one refusal that carries the violations of a request. A misspelt field wins: its value was meant to count. */
export const refusalFor = (violations: readonly FieldViolation[]): HttpProblem => {
  const [first] = violations;
  if (violations.some(({ code }) => code === 'unknown_field')) {
    return new HttpProblem('unknown_field', summary(violations), violations);
  }
  const code =
    first && violations.every((violation) => OWN_CODE.has(violation.code)) ? first.code : 'validation_error';
  return new HttpProblem(code as ErrorCode, summary(violations), violations);
};
