import type { Container } from 'inversify';
import type { HealthChecks } from '../http/server/health-app.ts';
import type { MetricValues, Scrape } from '../observability/metrics/scrape.ts';
import type { Role } from './configuration.ts';
import { TOKENS, createContainer } from './container.ts';
import type { Foundations } from './foundations.ts';
import type { Engines } from './engines.ts';
import { scrapeOf } from './metrics.ts';
import { openObservability } from './observability.ts';
import { readinessOf } from './readiness.ts';
import { rolesOf } from './roles.ts';

/** One thread's share of the service: its container, and the roles of its configuration at work. */
export interface Work {
  readonly container: Container;
  readonly engines: Engines;
  /** Undefined when metrics are off. */
  readonly scrape: Scrape | undefined;
  checks(): Promise<HealthChecks>;
  metricValues(): Promise<readonly MetricValues[]>;
  /** What another process can take over. */
  stopLeased(): Promise<void>;
  /** Everything but the engines. */
  stop(): Promise<void>;
}

export interface WorkOptions extends Foundations {
  /** Roles of the whole process, where this thread speaks for it; undefined in a thread beside that one. */
  readonly processRoles?: readonly Role[];
  /** Further checks of readiness: of what runs beside this thread. */
  readonly beside?: () => HealthChecks;
}

/** Starts every role of the configuration; the interface is not among them. */
export const startWork = async ({ processRoles, beside, ...foundations }: WorkOptions): Promise<Work> => {
  const { configuration, clock, logger } = foundations;
  const observability = await openObservability(configuration, foundations.engines, {
    clock,
    logger,
    processRoles,
  });
  const engines = observability.engines(foundations.engines);
  const container = createContainer({ ...foundations, engines, observability });
  if (processRoles) await container.get(TOKENS.documents).store.start();
  const roles = rolesOf(container);
  const { leased, free } = roles;
  for (const one of [...leased, ...free]) one.start();
  const own = readinessOf(container, roles);
  const checks = async (): Promise<HealthChecks> => ({ ...(await own()), ...beside?.() });
  const scrape = scrapeOf(container, roles, checks);
  const stopLeased = async (): Promise<void> => {
    await Promise.all(leased.map((one) => one.stop()));
  };
  return {
    container,
    engines,
    scrape,
    checks,
    metricValues: async () => (await scrape?.values()) ?? [],
    stopLeased,
    stop: async () => {
      await stopLeased();
      container.get(TOKENS.documents).close();
      // The bus with them: a relay may wait in it for a consumer that is stopping, too.
      await Promise.all([...free.map((one) => one.stop()), engines.eventBus.close()]);
      await observability.tracer.close();
    },
  };
};
