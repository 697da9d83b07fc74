import type { DecisionAnswer } from '../../application/administrator/decision-desk.ts';

/** A decision's answer as one JSON object. */
export const presentAnswer = (given: DecisionAnswer): object => {
  const { outcome, decision } = given;
  const id = decision?.decisionId ?? (given.outcome === 'refused' ? given.decisionId : undefined);
  return {
    ...(id !== undefined && { decision_id: id }),
    ...(decision && {
      application_id: decision.applicationId,
      originator_proposal_code: decision.code,
      decision: decision.decision,
    }),
    outcome,
    ...(given.outcome === 'refused' ? { reason: given.reason } : { status: given.status }),
  };
};
