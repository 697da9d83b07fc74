import type { LoanState, ExistingLoan } from '../../domain/loan/state.ts';
import type { RefusedDecision, AnsweredDecision } from './decisions.ts';
import { loanDecider } from '../../domain/loan/index.ts';
import { DomainError } from '../../domain/shared/domain-error.ts';
import { actorNamed, operatorOf } from '../command-handling/actors.ts';
import { decodeLoanEvent } from '../event-codec/event-codec.ts';
import type { RecordedEvent } from '../ports/event-store.ts';
import type { DeskAction, DeskEntry, DeskVisitor } from '../../domain/desk/line.ts';
import type { Desk } from '../desk/desk.ts';

export interface StatusChange {
  readonly status: string;
  readonly actor: string;
  readonly at: string;
}

export interface FoundLoan {
  readonly loan: ExistingLoan;
  readonly changes: readonly StatusChange[];
}

export class ChangedMeanwhileError extends DomainError {
  readonly status: string;
  /** Oldest first: since it was in the expected status, or all of them where it never was. */
  readonly changes: readonly StatusChange[];

  constructor(code: string, expected: string, changes: readonly StatusChange[]) {
    const status = changes.at(-1)?.status ?? 'unknown';
    const told = changes.map((one) => `${one.status} by ${personOf(one.actor)} at ${one.at}`).join(', ');
    super('operation_invalid_state', `operation ${code} is ${status}, not ${expected}: ${told}`, [
      { field: 'expected_status', code: 'changed_meanwhile', message: `it is ${status}` },
    ]);
    this.status = status;
    this.changes = changes;
  }
}

const personOf = (actor: string): string =>
  operatorOf(actor) ?? (actor === actorNamed(undefined) ? 'the administrator' : actor);

export const statusOf = ({ status }: LoanState): string => (status === 'reserved' ? 'active' : status);

/** An operation as its events leave it, and what it went through since it was in this status. @throws UnreadableEventError */
export const foundSince = (
  expected: string,
  events: readonly RecordedEvent[],
): { readonly state: LoanState; readonly changes: readonly StatusChange[] } => {
  let state = loanDecider.initialState;
  let since: StatusChange[] = [];
  for (const recorded of events) {
    const before = statusOf(state);
    state = loanDecider.evolve(state, decodeLoanEvent(recorded));
    const status = statusOf(state);
    if (status === before) continue;
    const { actor, recordedAt: at } = recorded.metadata;
    since = status === expected ? [] : [...since, { status, actor, at }];
  }
  return { state, changes: since };
};

export type DecisionAnswer =
  | {
      /** `already_applied`: carried out before, by it or another. `awaiting_confirmation`: this was the first of two. */
      readonly outcome: 'applied' | 'already_applied' | 'awaiting_confirmation';
      readonly decision: AnsweredDecision;
      /** `already_applied` because it is this very one, given again. */
      readonly repeated?: true;
      readonly status: LoanState['status'] | null;
    }
  | {
      readonly outcome: 'refused';
      readonly decisionId?: string;
      readonly decision?: AnsweredDecision;
      readonly reason: RefusedDecision['reason'];
      readonly meanwhile?: Pick<ChangedMeanwhileError, 'status' | 'changes'>;
    };

export const refused = (
  reason: RefusedDecision['reason'],
  { decisionId, decision }: { readonly decisionId?: string; readonly decision?: AnsweredDecision },
): DecisionAnswer => ({
  outcome: 'refused',
  ...(decisionId !== undefined && { decisionId }),
  ...(decision && { decision }),
  reason: { code: reason.code, message: reason.message, details: reason.details },
  ...(reason instanceof ChangedMeanwhileError && {
    meanwhile: { status: reason.status, changes: reason.changes },
  }),
});

const actionOf = ({ outcome, decision }: DecisionAnswer): DeskAction => {
  if (outcome === 'refused') return 'refused';
  if (decision?.decision === 'confirm') return 'confirmed';
  return decision?.decision === 'withdraw' ? 'withdrawn' : 'decided';
};

const aboutOf = (decided: AnsweredDecision): Omit<DeskEntry, 'action'> => {
  const { applicationId, code, fundId, decision, decisionId, disbursedValue } = decided;
  return {
    ...{ decision, decisionId: decided.firstDecisionId ?? decisionId },
    ...(fundId !== undefined && { fundId }),
    ...(applicationId !== null && { applicationId }),
    ...(code !== null && { code }),
    ...(disbursedValue !== undefined && { sum: disbursedValue }),
  };
};

/** Whether anything is stored under the id that the decision was sent with: otherwise it is only what somebody typed. */
const isUsedUp = (answer: DecisionAnswer): boolean =>
  answer.outcome !== 'already_applied' ||
  answer.repeated === true ||
  answer.decision.firstDecisionId !== undefined;

/** An answer to a decision as the desk log has it; what could not be read names nothing. A second one has the id of the first. */
export const entryOfDecision = (answer: DecisionAnswer): DeskEntry => {
  const { decision, outcome } = answer;
  const { decisionId: id, ...about } = decision ? aboutOf(decision) : {};
  const decided = { ...about, ...(id !== undefined && isUsedUp(answer) && { decisionId: id }) };
  const entry = { action: actionOf(answer), outcome };
  if (answer.outcome !== 'refused') return { ...entry, ...decided };
  const { decisionId, reason } = answer;
  return { ...entry, ...(decisionId !== undefined && { decisionId }), ...decided, reason: reason.code };
};

/** A line for each answer, in the name of whom the decision names, otherwise of the visitor. Those of a batch are one append: tried again, none is there twice. */
export const recordDecisions = (
  desk: Pick<Desk, 'record'>,
  visitor: DeskVisitor,
  answers: readonly DecisionAnswer[],
): Promise<void> =>
  desk.record(
    visitor,
    answers.map((answer) => ({ ...entryOfDecision(answer), name: answer.decision?.operator })),
  );
