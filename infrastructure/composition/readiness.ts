import type { EventBus } from '../../application/ports/event-bus.ts';
import { messageOf } from '../../application/support/failures.ts';
import { loanProjection } from '../../projections/loan/loan-projection.ts';
import type { HealthChecks } from '../http/server/health-app.ts';
import type { Adapters } from './areas/adapters.ts';
import type { BackgroundThread } from './background/background-thread.ts';
import type { Role } from './configuration.ts';
import { TOKENS } from './container.ts';
import type { Roles } from './roles.ts';
import type { Container } from 'inversify';

const PROBED_STREAM = 'loan-readiness.probe';
/** An engine that has not answered by then counts as unreachable. */
const ANSWER_WITHIN_MS = 2_000;

const outcomeOf = async (look: () => Promise<unknown>): Promise<string> => {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<string>((resolve) => {
    timer = setTimeout(resolve, ANSWER_WITHIN_MS, `no answer within ${ANSWER_WITHIN_MS} ms`);
  });
  try {
    return await Promise.race([look().then(() => 'ok'), late]);
  } catch (error) {
    return messageOf(error);
  } finally {
    clearTimeout(timer);
  }
};

const looksOf = (
  { events, checkpoints, projectionStore }: Adapters,
  roles: readonly Role[],
): Readonly<Record<string, () => Promise<unknown>>> => {
  const some = (...of: readonly Role[]): boolean => of.some((role) => roles.includes(role));
  return {
    ...(some('api', 'projector', 'relay', 'scheduler') && {
      event_store: () => events.head(PROBED_STREAM),
    }),
    service_store: () => checkpoints.load('readiness'),
    ...(some('api', 'projector', 'scheduler') && {
      read_model: () => projectionStore.checkpoint(loanProjection),
    }),
  };
};

/** A bus outside the process knows whether its consumers here are at work. */
interface BusWithGroups {
  status(): {
    readonly groups: ReadonlyMap<
      string,
      { readonly joined: boolean; readonly lastError: string | undefined }
    >;
  };
}

const hasGroups = (bus: object): bus is BusWithGroups => 'status' in bus;

/** A group that is just being joined, or shared out anew, is no reason to send requests elsewhere. */
const stateOfBus = (bus: EventBus): string => {
  if (!hasGroups(bus)) return 'ok';
  const out = [...bus.status().groups].filter(
    ([, { joined, lastError }]) => !joined && lastError !== undefined,
  );
  return out.length === 0 ? 'ok' : out.map(([group, { lastError }]) => `${group}: ${lastError}`).join(', ');
};

/** What runs here only while this process has the lease; standing by for it is as good as running. */
const stateOfRoles = (container: Container, { leased }: Roles): Readonly<Record<string, string>> => {
  const { configuration, engines } = container.get(TOKENS.foundations);
  const isHere = (role: Role): boolean => {
    const runner = leased.find(({ name }) => name === role);
    return configuration.roles.includes(role) && (runner === undefined || runner.state === 'holding');
  };
  const checks: Record<string, string> = {};
  if (isHere('projector')) {
    const { state, lastError } = container.get(TOKENS.readModels).loanProjector.status();
    checks['projector'] = state === 'running' ? 'ok' : `${state}${lastError ? `: ${lastError}` : ''}`;
  }
  if (isHere('relay')) {
    const { state, lastError } = container.get(TOKENS.relay).status();
    checks['relay'] = state === 'backing_off' ? `${state}${lastError ? `: ${lastError}` : ''}` : 'ok';
  }
  if (configuration.roles.includes('webhooks')) checks['event_bus'] = stateOfBus(engines.eventBus);
  return checks;
};

/** The engines that these roles work with, each `ok` or what is wrong. */
export const checkEngines = async (adapters: Adapters, roles: readonly Role[]): Promise<HealthChecks> => {
  const looks = Object.entries(looksOf(adapters, roles));
  const outcomes = await Promise.all(
    looks.map(async ([name, look]) => [name, await outcomeOf(look)] as const),
  );
  return Object.fromEntries(outcomes);
};

/** Ready means: the engines that this process works with answer, and nothing that runs here has come to a halt. */
export const readinessOf = (container: Container, roles: Roles): (() => Promise<HealthChecks>) => {
  const { configuration } = container.get(TOKENS.foundations);
  return async () => ({
    ...(await checkEngines(container.get(TOKENS.adapters), configuration.roles)),
    ...stateOfRoles(container, roles),
  });
};

/** With what the background thread says of its own work. */
export const checksWith = async (
  own: Promise<HealthChecks>,
  thread: Pick<BackgroundThread, 'ask'> | undefined,
): Promise<HealthChecks> => {
  const asked = thread?.ask('checks');
  if (!asked) return own;
  const beside: { checks: HealthChecks } = { checks: {} };
  const outcome = await outcomeOf(async () => void (beside.checks = await asked));
  const checks: Record<string, string> = { ...beside.checks };
  if (outcome !== 'ok') checks['background'] = outcome;
  // A check that both threads make is only ok when it is ok in both.
  for (const [name, check] of Object.entries(await own))
    if (check !== 'ok' || checks[name] === undefined) checks[name] = check;
  return checks;
};
