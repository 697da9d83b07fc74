import { recordDecisions } from '../../application/administrator/answers.ts';
import type { DecisionAnswer } from '../../application/administrator/answers.ts';
import { DECISIONS_AT_ONCE, namesOf, PATIENTLY } from '../../application/administrator/decisions.ts';
import { retry } from '../../application/support/retry.ts';
import { pause } from '../support/time.ts';
import type { App } from '../../application/app.ts';

/**
 * Tries again what failed for a reason that may pass: a store that is away, a renegotiation that is being decided.
 * @throws Error when it still fails after some seconds; refusals of the domain are thrown at once
 */
export const patiently = async <Result>(work: () => Promise<Result>): Promise<Result> => {
  try {
    return await retry(work, PATIENTLY, pause);
  } catch (error) {
    if (!PATIENTLY.mayPass(error)) throw error;
    throw new Error(`given up for now: ${(error as Error).message}`, { cause: error });
  }
};

/**
 * Decides, and writes a line of each answer into the desk log. A command may wait for its next decision for days, while others move the
 * clock of a sandbox.
 */
export const decideInTime = async (
  { maintenance, desk }: Pick<App, 'maintenance' | 'desk'>,
  operator: string,
  decide: () => Promise<readonly DecisionAnswer[]>,
): Promise<readonly DecisionAnswer[]> => {
  const answers = await patiently(async () => {
    await maintenance.sandboxClock?.show();
    return decide();
  });
  await patiently(() => recordDecisions(desk, { way: 'command_line', name: operator }, answers));
  return answers;
};

/** Carries out decisions in the operator's name, and answers in their order. */
export async function* submitting(
  services: App,
  operator: string,
  decisions: readonly object[],
): AsyncGenerator<DecisionAnswer> {
  for (let start = 0; start < decisions.length; start += DECISIONS_AT_ONCE) {
    const texts = decisions.slice(start, start + DECISIONS_AT_ONCE).map((one) => JSON.stringify(one));
    yield* await decideInTime(services, operator, () =>
      services.administrator.submitAll(texts, { name: operator }),
    );
  }
}

export const presentAnswer = (given: DecisionAnswer): object => {
  const { outcome, decision } = given;
  const id = decision?.decisionId ?? (given.outcome === 'refused' ? given.decisionId : undefined);
  return {
    ...(id !== undefined && { decision_id: id }),
    ...(decision && namesOf(decision)),
    outcome,
    ...(given.outcome === 'awaiting_confirmation' && { first_decision_id: given.decision.decisionId }),
    ...(given.outcome === 'refused' ? { reason: given.reason } : { status: given.status }),
  };
};
