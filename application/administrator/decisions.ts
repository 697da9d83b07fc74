import { hash } from 'node:crypto';
import type { LoanCommand } from '../../domain/loan/commands.ts';
import { loanDecider } from '../../domain/loan/index.ts';
import type { DecisionRecord, LoanEvent, RejectionReason } from '../../domain/loan/index.ts';
import type { LoanState } from '../../domain/loan/state.ts';
import type { CalendarDate } from '../../domain/shared/calendar-date.ts';
import { DomainError } from '../../domain/shared/domain-error.ts';
import type { FieldViolation } from '../../domain/shared/domain-error.ts';
import type { Timestamp } from '../../domain/shared/identifiers.ts';
import { centsFromAmount } from '../../domain/shared/money.ts';
import type { Cents } from '../../domain/shared/money.ts';
import type { CommandHandler, CommandRequest, Handled } from '../command-handling/command-handler.ts';
import { canonicalText } from '../command-handling/operation.ts';
import type { RefusedDecision } from '../ports/decision-dead-letters.ts';
import type { StoredFormats } from '../event-codec/stored-formats.ts';
import {
  DocumentValidators,
  MOST_VIOLATIONS,
  parseExactJson,
  withoutRepetitions,
} from '../schemas/document-validators.ts';
import type { Validator } from '../schemas/document-validators.ts';
import { UNKNOWN_FIELD, recogniser } from '../schemas/recogniser.ts';
import { valueSchemas } from '../schemas/values.ts';
import { MOST_REASONS, decisionSchemas } from '../publication/description/decision-schema.ts';
import type { DecisionName } from '../publication/description/decision-schema.ts';

/** A decision of the fund's administrator on one operation. */
export interface Decision {
  readonly stream: string;
  readonly applicationId: string;
  /** Names the decision in the events' metadata. */
  readonly decisionId: string;
  /** Who decides, as its sender says it. Default: the administrator. */
  readonly actor?: string;
  /** What it answers to: the event that asked for it, where there is one. */
  readonly causationId?: string;
  /** Present for decisions from outside, whose ids are used up like the keys of requests. */
  readonly idempotency?: NonNullable<CommandRequest['idempotency']>;
  /** Undefined where the state of the operation leaves nothing to decide. */
  readonly command: (state: LoanState) => LoanCommand | undefined;
  /** What has to hold beyond the rules of the operation; `decide` is what those say. Default: nothing. */
  readonly check?: (
    state: LoanState,
    decide: () => readonly LoanEvent[],
  ) => readonly LoanEvent[] | Promise<readonly LoanEvent[]>;
}

/** One that is already carried out changes nothing. @throws DomainError when the operation's state does not allow it, or its id was used for something else */
export type CarryOut = (decision: Decision) => Promise<Handled>;

export const carryingOut =
  (commands: CommandHandler, formats: Pick<StoredFormats, 'forEarlierRelease'>): CarryOut =>
  async (decision) => {
    const { causationId, idempotency, check = (_, decide) => decide() } = decision;
    const earlier = await formats.forEarlierRelease();
    return commands.handle({
      stream: decision.stream,
      applicationId: decision.applicationId,
      actor: decision.actor ?? 'administrator',
      correlationId: decision.decisionId,
      ...(causationId !== undefined && { causationId }),
      ...(idempotency && { idempotency }),
      decide: (state) =>
        check(state, () => {
          const command = decision.command(state);
          return command ? loanDecider.decide(earlier ? asBefore(command) : command, state) : [];
        }),
    });
  };

/** By the rules of release 2026.11.1, whose processes would go on by them with what is decided here. */
const asBefore = (command: LoanCommand): LoanCommand => {
  if (command.type === 'DisburseLoan') return { ...command, exitBasis: 'acquisition_value' };
  if (command.type === 'RejectLoan') return { ...command, onlyBeforeApproval: true };
  return command;
};

interface OfOperation {
  readonly decisionId: string;
  readonly applicationId: string;
  /** originator_proposal_code */
  readonly code: string;
  /** Default: when it is carried out. */
  readonly decidedAt?: Timestamp;
  readonly note?: string;
  /** The status, as the interface names it, that the decision was made on. */
  readonly expectedStatus?: string;
  /** Who decided, as the sender says it. */
  readonly operator?: string;
}

/** A decision whose form is right; whether the operation allows it is another question. */
export type SubmittedDecision = OfOperation &
  (
    | { readonly decision: 'approve' | 'sign_term' | 'process_repurchase' }
    | { readonly decision: 'reject'; readonly reasons: readonly RejectionReason[] }
    | {
        readonly decision: 'disburse';
        readonly disbursementDate: CalendarDate;
        readonly disbursedValue: Cents;
        /** The disbursed value entered a second time, where it is far from the acquisition value. */
        readonly confirmedValue?: Cents;
      }
  );

/** Which decision on which operation, by ids and codes alone. */
export const namesOf = ({ decisionId, applicationId, code, decision }: SubmittedDecision) => ({
  decision_id: decisionId,
  application_id: applicationId,
  originator_proposal_code: code,
  decision,
});

const recordOf = ({ decidedAt, note }: SubmittedDecision, now: Timestamp): DecisionRecord => ({
  decidedAt: decidedAt ?? now,
  ...(note !== undefined && { note }),
});

export const commandOf = (submitted: SubmittedDecision, now: Timestamp): LoanCommand => {
  const common = { now, decision: recordOf(submitted, now) };
  switch (submitted.decision) {
    case 'approve':
      return { type: 'ApproveLoan', ...common };
    case 'reject':
      return { type: 'RejectLoan', reasons: submitted.reasons, ...common };
    case 'sign_term':
      return { type: 'SignLoanTerm', ...common };
    case 'disburse': {
      const { disbursementDate, disbursedValue } = submitted;
      return { type: 'DisburseLoan', disbursementDate, disbursedValue, ...common };
    }
    case 'process_repurchase':
      return { type: 'CompleteRepurchase', ...common };
  }
};

/**
 * Equal for equal contents, whatever the order of the fields was. Left out are its own id, who decided, and what only guards it
 * against a mistake: sent again with or without those, it is the same decision.
 */
export const fingerprintOf = (submitted: SubmittedDecision): string => {
  const contents = Object.entries(submitted).filter(([name]) => !NOT_COMPARED.has(name));
  const reasons =
    submitted.decision === 'reject'
      ? submitted.reasons.map(({ code, message }) => ({ code, message }))
      : undefined;
  return hash('sha256', canonicalText({ ...Object.fromEntries(contents), reasons }));
};
const NOT_COMPARED: ReadonlySet<string> = new Set([
  'decisionId',
  'expectedStatus',
  'confirmedValue',
  'operator',
]);

/** One line of JSON, as the schema RefusedDecision describes it: what every kind of dead letter holds. */
export const deadLetterText = ({ decisionId, origin, text, reason, refusedAt }: RefusedDecision): string =>
  JSON.stringify({
    ...(decisionId !== undefined && { decision_id: decisionId }),
    origin,
    text,
    reason: {
      code: reason.code,
      message: reason.message,
      details: reason.details.map(({ field, code, message }) => ({ field, code, message })),
    },
    refused_at: refusedAt,
  });

/** Its fields by their published names, after the schema has accepted them. */
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

type DecisionReading =
  | { readonly kind: 'read'; readonly decision: SubmittedDecision }
  | { readonly kind: 'malformed'; readonly decisionId?: string; readonly reason: DomainError };

const NAME = 'AdministratorDecision';
let compiled: Validator | undefined;
/** Compiled when the first decision comes: most processes never see one. */
const validator = (): Validator => (compiled ??= compile());

const compile = (): Validator => {
  const document = { components: { schemas: { ...valueSchemas, ...decisionSchemas } } };
  const validate = new DocumentValidators(document).component(NAME, 'decision');
  const recognise = recogniser(document, NAME);
  // Unknown fields of a decision are ignored, however they are spelt.
  return (value) =>
    withoutRepetitions([
      ...recognise(value).violations.filter(({ code }) => code !== UNKNOWN_FIELD),
      ...validate(value),
    ]);
};

/** RFC 3339 writes leap seconds, which the clock of no computer here knows. */
const NO_SUCH_INSTANT = {
  field: 'decided_at',
  code: 'invalid_date',
  message: 'must be an instant that exists, without a leap second',
};

const malformed = (all: readonly FieldViolation[], value?: unknown): DecisionReading => {
  const violations = all.slice(0, MOST_VIOLATIONS);
  const id = (value as { decision_id?: unknown } | null | undefined)?.decision_id;
  const message = violations.map((violation) => `${violation.field} ${violation.message}`).join('; ');
  return {
    kind: 'malformed',
    ...(typeof id === 'string' && { decisionId: id }),
    reason: new DomainError('validation_error', message, violations),
  };
};

const submitted = (fields: DecisionFields): SubmittedDecision => {
  const common = {
    decisionId: fields.decision_id,
    applicationId: fields.application_id,
    code: fields.originator_proposal_code,
    ...(fields.decided_at !== undefined && {
      decidedAt: new Date(fields.decided_at).toISOString() as Timestamp,
    }),
    ...(fields.note !== undefined && { note: fields.note }),
    ...(fields.expected_status !== undefined && { expectedStatus: fields.expected_status }),
    ...(fields.operator !== undefined && { operator: fields.operator }),
  };
  const { decision } = fields;
  switch (decision) {
    case 'reject':
      return {
        ...common,
        decision,
        reasons: fields.reasons.map(({ code, message }) => ({ code, message })),
      };
    case 'disburse': {
      const { disbursement_date: disbursementDate, confirmed_value: confirmed } = fields;
      const disbursedValue = centsFromAmount(fields.disbursed_value);
      return {
        ...common,
        decision,
        disbursementDate,
        disbursedValue,
        ...(confirmed !== undefined && { confirmedValue: centsFromAmount(confirmed) }),
      };
    }
    case 'approve':
    case 'sign_term':
    case 'process_repurchase':
      return { ...common, decision };
  }
};

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

/** Reads one decision from its JSON text. A malformed one names every broken field. */
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
    value = shortened(parseExactJson(text));
  } catch {
    return malformed([{ field: 'decision', code: 'invalid_format', message: 'must be one JSON object' }]);
  }
  const violations = validator()(value);
  if (violations.length > 0) return malformed(violations, value);
  const fields = value as DecisionFields;
  if (fields.decided_at !== undefined && Number.isNaN(Date.parse(fields.decided_at))) {
    return malformed([NO_SUCH_INSTANT], value);
  }
  return { kind: 'read', decision: submitted(fields) };
};
