import type { DeskEntry, DeskVisitor } from '../../domain/desk/line.ts';
import type { DecisionAnswer } from '../administrator/administrator.ts';
import type { Desk } from './desk.ts';

/** An answer to a decision as the desk log has it; what could not be read names nothing. */
export const entryOfDecision = (answer: DecisionAnswer): DeskEntry => {
  const { decision } = answer;
  const id = decision?.decisionId ?? (answer.outcome === 'refused' ? answer.decisionId : undefined);
  return {
    action: answer.outcome === 'refused' ? 'refused' : 'decided',
    outcome: answer.outcome,
    ...(answer.outcome === 'refused' && { reason: answer.reason.code }),
    ...(decision && {
      applicationId: decision.applicationId,
      code: decision.code,
      decision: decision.decision,
    }),
    ...(decision?.decision === 'disburse' && { sum: decision.disbursedValue }),
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
