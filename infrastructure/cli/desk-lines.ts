import { recordDecisions } from '../../application/administrator/answers.ts';
import type { DecisionAnswer } from '../../application/administrator/answers.ts';
import { DECISIONS_AT_ONCE, namesOf, PATIENTLY } from '../../application/administrator/decisions.ts';
import type { App } from '../../application/app.ts';
import { EarlierReleaseError } from '../../application/event-codec/stored-formats.ts';
import { StoreUnavailableError } from '../../application/ports/event-store.ts';
import { retry } from '../../application/support/retry.ts';
import type { DeskEntry } from '../../domain/desk/line.ts';
import { DomainError } from '../../domain/shared/domain-error.ts';
import { pause } from '../support/time.ts';
import { NotAllowedError } from './command-line.ts';
import { userOfSystem } from './options.ts';

/** Writes what a command is about to print, or has changed, into the desk log. */
export const recordLines = (
  { desk }: Pick<App, 'desk'>,
  entries: readonly DeskEntry[],
  operator = userOfSystem(),
): Promise<void> => patiently(() => desk.record({ way: 'command_line', name: operator }, entries));

/** The same for what mends the log itself, which may take nothing until it is done. */
export const recordWherePossible = async (
  { desk }: Pick<App, 'desk'>,
  entries: readonly DeskEntry[],
): Promise<void> => {
  try {
    await desk.record({ way: 'command_line', name: userOfSystem() }, entries);
  } catch (error) {
    if (!(error instanceof StoreUnavailableError)) throw error;
  }
};

const isNotAllowed = (error: unknown): boolean =>
  error instanceof NotAllowedError || error instanceof EarlierReleaseError;

const reasonOf = (error: unknown): string | undefined => {
  if (error instanceof DomainError) return error.code;
  return isNotAllowed(error) ? 'not_allowed' : undefined;
};

interface Configuring<Result> extends Omit<DeskEntry, 'action' | 'decision'> {
  readonly decision: string;
  readonly operator?: string | undefined;
  /** What the line says once it is done. */
  readonly told?: (result: Result) => Omit<DeskEntry, 'action'>;
}

/** Writes a line of what a rule refuses. */
export const tellingRefusals = async <Result>(
  services: Pick<App, 'desk'>,
  { operator, ...entry }: Omit<DeskEntry, 'action'> & Pick<Configuring<Result>, 'operator'>,
  work: () => Promise<Result>,
): Promise<Result> => {
  try {
    return await work();
  } catch (error) {
    const reason = reasonOf(error);
    if (reason !== undefined)
      await recordLines(services, [{ ...entry, action: 'refused', outcome: 'refused', reason }], operator);
    throw error;
  }
};

/** Changes a setting, and writes a line of that or of its refusal. */
export const configuring = async <Result>(
  services: Pick<App, 'desk'>,
  { told, ...entry }: Configuring<Result>,
  change: () => Promise<Result>,
): Promise<Result> => {
  const result = await tellingRefusals(services, entry, change);
  const { operator, ...named } = entry;
  await recordLines(services, [{ ...named, ...told?.(result), action: 'configured' }], operator);
  return result;
};

const mayPass = (error: unknown): boolean => !isNotAllowed(error) && PATIENTLY.mayPass(error);

/**
 * Tries again what failed for a reason that may pass: a store that is away, a renegotiation that is being decided.
 * @throws Error when it still fails after some seconds; refusals are thrown at once
 */
export const patiently = async <Result>(work: () => Promise<Result>): Promise<Result> => {
  try {
    return await retry(work, { ...PATIENTLY, mayPass }, pause);
  } catch (error) {
    if (!mayPass(error)) throw error;
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
