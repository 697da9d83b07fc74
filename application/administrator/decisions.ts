import { hash } from 'node:crypto';
import type { FirstDecision } from '../../domain/decision/first-decision.ts';
import type { LoanCommand } from '../../domain/loan/commands.ts';
import { loanDecider } from '../../domain/loan/index.ts';
import type { DecisionRecord, LoanEvent, RejectionReason } from '../../domain/loan/index.ts';
import type { LoanState } from '../../domain/loan/state.ts';
import { DomainError } from '../../domain/shared/domain-error.ts';
import type { CalendarDate } from '../../domain/shared/calendar-date.ts';
import type { Timestamp } from '../../domain/shared/identifiers.ts';
import type { Cents } from '../../domain/shared/money.ts';
import type { CommandHandler, CommandRequest, Handled } from '../command-handling/command-handler.ts';
import { actorNamed } from '../command-handling/actors.ts';
import { canonicalText } from '../command-handling/operation.ts';
import type { StreamRevision } from '../ports/event-store.ts';
import type { SecondDecisionName, DecisionName } from '../publication/description/decision-schema.ts';
import type { StoredFormats } from '../event-codec/stored-formats.ts';
import { RoleError } from '../desk/rights.ts';
import type { RetryPolicy } from '../support/retry.ts';

export interface ReceivedDecision {
  readonly text: string;
  readonly origin: string;
}

export interface RefusedDecision extends ReceivedDecision {
  readonly decisionId?: string;
  readonly reason: {
    readonly code: string;
    readonly message: string;
    readonly details: readonly { readonly field: string; readonly code: string; readonly message: string }[];
  };
  readonly refusedAt: string;
}

/** Where refused decisions wait for people. Durable when `put` resolves; the same one may be put again after a crash. */
export interface DecisionDeadLetters {
  put(refused: RefusedDecision): Promise<void>;
}

const mayPass = (error: unknown): boolean =>
  error instanceof DomainError ? error.code === 'concurrent_modification' : !(error instanceof RoleError);

/** For a person who waits: a store that is away, a renegotiation that is being decided may pass; refusals of the domain or of a role do not. */
export const PATIENTLY: RetryPolicy = { pausesMs: [100, 300, 1_000, 3_000], mayPass };

interface Decision extends Omit<CommandRequest, 'actor' | 'correlationId' | 'onlyFundIds' | 'decide'> {
  readonly decisionId: string;
  readonly actor?: string;
  readonly command: (state: LoanState) => LoanCommand | undefined;
  /** What has to hold beyond the rules of the operation; `decide` is what those say, `revision` that of its stream. Default: nothing. */
  readonly check?: (
    state: LoanState,
    decide: () => readonly LoanEvent[],
    revision: StreamRevision,
  ) => readonly LoanEvent[] | Promise<readonly LoanEvent[]>;
}

/** One that is already carried out changes nothing. @throws DomainError when the operation's state does not allow it, or its id was used for something else */
export type CarryOut = (decision: Decision) => Promise<Handled>;

export const carryingOut =
  (commands: CommandHandler, formats: Pick<StoredFormats, 'forEarlierRelease'>): CarryOut =>
  async ({
    decisionId,
    command,
    check = (_, decide) => decide(),
    actor = actorNamed(undefined),
    ...request
  }) => {
    const earlier = await formats.forEarlierRelease();
    const byRules = (state: LoanState) => {
      const decided = command(state);
      return decided ? loanDecider.decide(earlier ? asBefore(decided) : decided, state) : [];
    };
    return commands.handle({
      ...request,
      actor,
      correlationId: decisionId,
      decide: (state, revision) => check(state, () => byRules(state), revision),
    });
  };

/** By the rules of release 2026.11.1, whose processes would go on by them with what is decided here. */
const asBefore = (command: LoanCommand): LoanCommand => {
  if (command.type === 'DisburseLoan') return { ...command, exitBasis: 'acquisition_value' };
  if (command.type === 'RejectLoan') return { ...command, onlyBeforeApproval: true };
  return command;
};

/** So many are carried out side by side, and refused ones among them put aside, before the next ones begin. */
export const DECISIONS_AT_ONCE = 64;

export interface SecondDecision {
  readonly decisionId: string;
  readonly decision: SecondDecisionName;
  readonly firstDecisionId: string;
  readonly operator?: string;
}

export interface AnsweredDecision {
  readonly decisionId: string;
  readonly applicationId: string | null;
  readonly code: string | null;
  readonly decision: DecisionName | SecondDecisionName;
  /** Of a rule, which is of no operation. */
  readonly fundId?: string | undefined;
  readonly firstDecisionId?: string;
  readonly operator?: string;
  readonly disbursedValue?: Cents;
}

interface OfOperation {
  readonly decisionId: string;
  readonly applicationId: string;
  readonly code: string;
  readonly decidedAt?: Timestamp;
  readonly note?: string;
  readonly expectedStatus?: string;
  readonly operator?: string;
}

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

export const namesOf = ({
  decisionId,
  applicationId,
  code,
  decision,
  firstDecisionId,
}: AnsweredDecision) => ({
  decision_id: decisionId,
  application_id: applicationId,
  originator_proposal_code: code,
  decision,
  ...(firstDecisionId !== undefined && { first_decision_id: firstDecisionId }),
});

const recordOf = (
  { decidedAt, note }: SubmittedDecision,
  now: Timestamp,
  fourEyes: DecisionRecord['fourEyes'],
): DecisionRecord => ({
  decidedAt: decidedAt ?? now,
  ...(note !== undefined && { note }),
  ...(fourEyes && { fourEyes }),
});

/** @param fourEyes the two people behind it, where it needed two */
export const commandOf = (
  submitted: SubmittedDecision,
  now: Timestamp,
  fourEyes?: DecisionRecord['fourEyes'],
): LoanCommand => {
  const common = { now, decision: recordOf(submitted, now, fourEyes) };
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

/** As it was submitted first: a first decision has the details of what it decides, and no others. */
export const submittedOf = (
  { firstDecisionId: decisionId, decision, decidedAt, ...made }: FirstDecision,
  applicationId: string,
  code: string,
): SubmittedDecision => {
  const { note, reasons, disbursementDate, disbursedValue } = made;
  return {
    ...{ decisionId, applicationId, code, decidedAt, decision },
    ...(note !== undefined && { note }),
    ...(reasons && { reasons }),
    ...(disbursementDate && { disbursementDate, disbursedValue }),
  } as SubmittedDecision;
};

/** Equal for equal contents: without its own id, who decided, and what only guards it against a mistake. */
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
