import type { DecisionAnswer } from '../../application/administrator/decision-desk.ts';
import { retry } from '../../application/support/retry.ts';
import type { RetryPolicy } from '../../application/support/retry.ts';
import { DomainError } from '../../domain/shared/domain-error.ts';
import { pause } from '../support/time.ts';
import { CommandFailedError } from './command-line.ts';

const mayPass = (error: unknown): boolean =>
  !(error instanceof DomainError) || error.code === 'concurrent_modification';
const PATIENTLY: RetryPolicy = { pausesMs: [100, 300, 1_000, 3_000], mayPass };

/**
 * Tries again what failed for a reason that may pass: a store that is away, a renegotiation that is being decided.
 * @throws CommandFailedError when it still fails after some seconds; refusals of the domain are thrown at once
 */
export const patiently = async <Result>(work: () => Promise<Result>): Promise<Result> => {
  try {
    return await retry(work, PATIENTLY, pause);
  } catch (error) {
    if (!mayPass(error)) throw error;
    throw new CommandFailedError(`given up for now: ${(error as Error).message}`, { cause: error });
  }
};

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
