import { setTimeout as wait } from 'node:timers/promises';
import type { DecisionAnswer } from '../../application/administrator/decision-desk.ts';
import { DomainError } from '../../domain/shared/domain-error.ts';
import { CommandFailedError } from './command-line.ts';

const PAUSES_MS = [100, 300, 1_000, 3_000];

/**
 * Tries again what failed for a reason that may pass: a store that is away, a renegotiation that is being decided.
 * @throws CommandFailedError when it still fails after some seconds; refusals of the domain are thrown at once
 */
export const patiently = async <Result>(work: () => Promise<Result>): Promise<Result> => {
  for (let attempt = 0; ; attempt++) {
    try {
      return await work();
    } catch (error) {
      if (error instanceof DomainError && error.code !== 'concurrent_modification') throw error;
      const pause = PAUSES_MS[attempt];
      if (pause === undefined) {
        throw new CommandFailedError(`given up for now: ${(error as Error).message}`, { cause: error });
      }
      await wait(pause);
    }
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
