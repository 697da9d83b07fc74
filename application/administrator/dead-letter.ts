import type { RefusedDecision } from '../ports/decision-source.ts';

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
