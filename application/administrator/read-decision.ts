import type { RejectionReason } from '../../domain/loan/index.ts';
import type { CalendarDate } from '../../domain/shared/calendar-date.ts';
import { DomainError } from '../../domain/shared/domain-error.ts';
import type { FieldViolation } from '../../domain/shared/domain-error.ts';
import type { Timestamp } from '../../domain/shared/identifiers.ts';
import { centsFromAmount } from '../../domain/shared/money.ts';
import { DocumentValidators, MOST_VIOLATIONS, withoutRepetitions } from '../schemas/document-validators.ts';
import type { Validator } from '../schemas/document-validators.ts';
import { parseJson } from '../schemas/parse-json.ts';
import { UNKNOWN_FIELD, recogniser } from '../schemas/recogniser.ts';
import { valueSchemas } from '../schemas/values.ts';
import {
  SECOND_DECISIONS,
  MOST_REASONS,
  decisionSchemas,
} from '../publication/description/decision-schema.ts';
import type { SecondDecisionName, DecisionName } from '../publication/description/decision-schema.ts';
import type { SecondDecision, SubmittedDecision } from './decisions.ts';

interface DecisionFields {
  readonly decision_id: string;
  readonly application_id: string;
  readonly originator_proposal_code: string;
  readonly decision: DecisionName;
  readonly reasons: readonly RejectionReason[];
  readonly disbursement_date: CalendarDate;
  readonly disbursed_value: number;
  readonly confirmed_value?: number;
  readonly decided_at?: string;
  readonly note?: string;
  readonly expected_status?: string;
  readonly operator?: string;
}

interface ConfirmationFields {
  readonly decision_id: string;
  readonly decision: SecondDecisionName;
  readonly first_decision_id: string;
  readonly operator?: string;
}

export type DecisionReading =
  | { readonly kind: 'read'; readonly decision: SubmittedDecision }
  | { readonly kind: 'second'; readonly second: SecondDecision }
  | { readonly kind: 'malformed'; readonly decisionId?: string; readonly reason: DomainError };

type Named = 'AdministratorDecision' | 'AdministratorConfirmation';
const compiled = new Map<Named, Validator>();
/** Compiled when the first decision comes: most processes never see one. */
const validator = (name: Named): Validator => {
  const validate = compiled.get(name) ?? compile(name);
  compiled.set(name, validate);
  return validate;
};

const compile = (name: Named): Validator => {
  const schemas = { ...valueSchemas, ...decisionSchemas };
  const document = { components: { schemas } };
  const validate = new DocumentValidators(document).component(name, 'decision');
  const recognise = recogniser(document, name);
  // Unknown fields of a decision are ignored, however they are spelt.
  return (value) =>
    withoutRepetitions([
      ...recognise(value).violations.filter(({ code }) => code !== UNKNOWN_FIELD),
      ...validate(value),
    ]);
};

const malformed = (all: readonly FieldViolation[], value?: unknown): DecisionReading => {
  const violations = all.slice(0, MOST_VIOLATIONS);
  const id = (value as { decision_id?: unknown } | null | undefined)?.decision_id;
  // Whatever else was sent in its place names no decision, and may be longer than what it would be written to takes.
  const isId = typeof id === 'string' && !all.some(({ field }) => field === 'decision_id');
  const message = violations.map((violation) => `${violation.field} ${violation.message}`).join('; ');
  return {
    kind: 'malformed',
    ...(isId && { decisionId: id }),
    reason: new DomainError('validation_error', message, violations),
  };
};

/** What belongs to another decision was refused by the schema. */
const submitted = (fields: DecisionFields): SubmittedDecision => {
  const { decision, reasons, disbursement_date: disbursementDate, confirmed_value: confirmed } = fields;
  return {
    decisionId: fields.decision_id,
    applicationId: fields.application_id,
    code: fields.originator_proposal_code,
    decision,
    ...(fields.decided_at !== undefined && {
      decidedAt: new Date(fields.decided_at).toISOString() as Timestamp,
    }),
    ...(fields.note !== undefined && { note: fields.note }),
    ...(fields.expected_status !== undefined && { expectedStatus: fields.expected_status }),
    ...(fields.operator !== undefined && { operator: fields.operator }),
    ...(decision === 'reject' && { reasons: reasons.map(({ code, message }) => ({ code, message })) }),
    ...(decision === 'disburse' && {
      disbursementDate,
      disbursedValue: centsFromAmount(fields.disbursed_value),
      ...(confirmed !== undefined && { confirmedValue: centsFromAmount(confirmed) }),
    }),
  } as SubmittedDecision;
};

const isSecond = (value: unknown): boolean =>
  SECOND_DECISIONS.some((name) => name === (value as { decision?: unknown } | null)?.decision);

const secondOf = (fields: ConfirmationFields): SecondDecision => ({
  decisionId: fields.decision_id,
  decision: fields.decision,
  firstDecisionId: fields.first_decision_id,
  ...(fields.operator !== undefined && { operator: fields.operator }),
});

const REPLACEMENT = '\uFFFD';
/** Twice what the longest reasons take, every character escaped. */
const LONGEST_TEXT = 262_144;

/** The schema knows reasons only under a condition, so the list is cut here: each entry costs, and is told about. */
const shortened = (value: unknown): unknown => {
  const reasons = (value as { reasons?: unknown } | null)?.reasons;
  return Array.isArray(reasons)
    ? { ...(value as object), reasons: reasons.slice(0, MOST_REASONS + 1) }
    : value;
};

export const readDecision = (text: string): DecisionReading => {
  if (text.length > LONGEST_TEXT) {
    const message = `must be one JSON object of at most ${LONGEST_TEXT} characters`;
    return malformed([{ field: 'decision', code: 'invalid_format', message }]);
  }
  // What stands for bytes that were no UTF-8: the reason would reach the integrator mangled.
  if (text.includes(REPLACEMENT))
    return malformed([{ field: 'decision', code: 'invalid_format', message: 'must be UTF-8 text' }]);
  let value: unknown;
  try {
    value = shortened(parseJson(text, 'decision'));
  } catch (error) {
    if (error instanceof DomainError && error.details.length > 0) return malformed(error.details);
    return malformed([{ field: 'decision', code: 'invalid_format', message: 'must be one JSON object' }]);
  }
  const second = isSecond(value);
  const violations = validator(second ? 'AdministratorConfirmation' : 'AdministratorDecision')(value);
  if (violations.length > 0) return malformed(violations, value);
  if (second) return { kind: 'second', second: secondOf(value as ConfirmationFields) };
  return { kind: 'read', decision: submitted(value as DecisionFields) };
};
