import type { DeskAction, DeskEntry, DeskVisitor } from '../../domain/desk/line.ts';
import type { DecisionAnswer } from '../administrator/answers.ts';
import type { Desk } from './desk.ts';

const actionOf = ({ outcome, decision }: DecisionAnswer): DeskAction => {
  if (outcome === 'refused') return 'refused';
  if (decision?.decision === 'confirm') return 'confirmed';
  return decision?.decision === 'withdraw' ? 'withdrawn' : 'decided';
};

/** An answer to a decision as the desk log has it; what could not be read names nothing. A second one has the id of the first. */
export const entryOfDecision = (answer: DecisionAnswer): DeskEntry => {
  const { decision } = answer;
  const own = decision?.decisionId ?? (answer.outcome === 'refused' ? answer.decisionId : undefined);
  const id = decision?.firstDecisionId ?? own;
  return {
    action: actionOf(answer),
    outcome: answer.outcome,
    ...(answer.outcome === 'refused' && { reason: answer.reason.code }),
    ...(decision && { decision: decision.decision }),
    ...(decision?.applicationId && { applicationId: decision.applicationId }),
    ...(decision?.code && { code: decision.code }),
    ...(decision?.disbursedValue !== undefined && { sum: decision.disbursedValue }),
    ...(id !== undefined && { decisionId: id }),
  };
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
