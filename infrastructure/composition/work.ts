import type { Parts } from './parts.ts';
import type { HealthChecks } from '../http/server/health-app.ts';
import type { Scrape } from '../observability/service-metrics.ts';
import { partsOf } from './container.ts';
import type { Foundations } from './foundations.ts';
import { readinessOf } from './readiness.ts';
import { rolesOf } from './roles.ts';
import type { LookedUp } from '../observability/metrics/looked-up.ts';
import { oldestTransaction } from '../postgres/postgres-safety.ts';
import { countStates } from '../../application/loans/operation-states.ts';
import type { Role } from './configuration.ts';
import { standingsOf } from './processors.ts';
import type { Roles } from './roles.ts';

/** A log whose server says when its subscriber is too slow. */
const tellsSlowMoments = (log: object): log is { readonly slowMoments: number } => 'slowMoments' in log;

const stateOf = ({ role, state }: ReturnType<typeof standingsOf>[number]): string =>
  role === 'relay' && state === 'retrying' ? 'backing_off' : state;

/** What is asked for at each scrape: of the roles that this thread has, and of the stores that they work with. */
const sourcesOf = (parts: Parts, { leased }: Roles, checks: () => Promise<HealthChecks>): LookedUp => {
  const { configuration, eventBus: bus, eventStore: log, readModelDatabase, serviceDatabase } = parts;
  const has = (role: Role): boolean => configuration.roles.includes(role);
  return {
    quarantined: () =>
      Object.fromEntries(standingsOf(parts).map(({ waitsFor, quarantined }) => [waitsFor, quarantined])),
    states: () => ({
      ...Object.fromEntries(standingsOf(parts).map((one) => [one.work, stateOf(one)])),
      ...(has('webhooks') && { webhooks: parts.sending.worker.status().state }),
    }),
    checks,
    ...(has('webhooks') && { waitingDeliveries: () => parts.webhooks.lag.read() }),
    ...(has('webhooks') &&
      serviceDatabase.dialect === 'postgres' && {
        oldestTransaction: async () => (await oldestTransaction(serviceDatabase))?.seconds ?? 0,
      }),
    ...(has('scheduler') && { operationStates: () => countStates(readModelDatabase) }),
    ...(bus && { busLag: () => bus.lag() }),
    ...(tellsSlowMoments(log) && { slowMoments: () => log.slowMoments }),
    leases: () => Object.fromEntries(leased.map(({ name, state }) => [name, state === 'holding'])),
  };
};

/** One thread's share of the service: its parts, and the roles of its configuration at work. */
export interface Work {
  readonly parts: Parts;
  /** Undefined when metrics are off. */
  readonly scrape: Scrape | undefined;
  checks(): Promise<HealthChecks>;
  /** What another process can take over. */
  stopLeased(): Promise<void>;
  /** Everything but the engines. */
  stop(): Promise<void>;
}

interface WorkOptions extends Foundations {
  /** This thread speaks for the process; others stand beside it. */
  readonly speaks?: boolean;
  /** Further checks of readiness: of what runs beside this thread. */
  readonly beside?: () => HealthChecks;
}

/** Starts every role of the configuration; the interface is not among them. */
export const startWork = async ({ speaks, beside, ...foundations }: WorkOptions): Promise<Work> => {
  const parts = partsOf(foundations);
  if (speaks) await parts.documents.store.start();
  const roles = rolesOf(parts);
  const { leased, free } = roles;
  for (const one of [...leased, ...free]) one.start();
  const checks = async (): Promise<HealthChecks> => ({ ...(await readinessOf(parts, roles)), ...beside?.() });
  const { observability, eventBus } = parts;
  const scrape = observability.metrics?.scrape(sourcesOf(parts, roles, checks));
  const stopLeased = async (): Promise<void> => {
    await Promise.all(leased.map((one) => one.stop()));
  };
  return {
    parts,
    scrape,
    checks,
    stopLeased,
    stop: async () => {
      await stopLeased();
      parts.documents.close();
      await Promise.all([...free.map((one) => one.stop()), eventBus?.close()]);
      await observability.tracer.close();
    },
  };
};
