import type { DeskAction, DeskEntry, DeskVisitor } from '../../domain/desk/line.ts';
import type { DecisionAnswer } from './answers.ts';
import type { AnsweredDecision } from './decisions.ts';
import type { Desk } from '../desk/desk.ts';

const actionOf = ({ outcome, decision }: DecisionAnswer): DeskAction => {
  if (outcome === 'refused') return 'refused';
  if (decision?.decision === 'confirm') return 'confirmed';
  return decision?.decision === 'withdraw' ? 'withdrawn' : 'decided';
};

const aboutOf = (decided: AnsweredDecision): Omit<DeskEntry, 'action'> => {
  const { applicationId, code, decision, decisionId, firstDecisionId = decisionId, disbursedValue } = decided;
  return {
    ...{ decision, decisionId: firstDecisionId },
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

/** A line for each answer, in the name of whom the decision names, otherwise of the visitor. */
export const recordDecisions = async (
  desk: Pick<Desk, 'record'>,
  visitor: DeskVisitor,
  answers: readonly DecisionAnswer[],
): Promise<void> => {
  const names = new Map<string, DeskEntry[]>();
  for (const answer of answers) {
    const name = answer.decision?.operator ?? visitor.name;
    names.set(name, [...(names.get(name) ?? []), entryOfDecision(answer)]);
  }
  for (const [name, entries] of names) await desk.record({ ...visitor, name }, entries);
};
