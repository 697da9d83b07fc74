import type { Parts } from './parts.ts';
import type { HealthChecks } from '../http/server/health-app.ts';
import type { Scrape } from '../observability/metrics/scrape.ts';
import { partsOf } from './container.ts';
import type { Foundations } from './foundations.ts';
import { sourcesOf } from './metrics.ts';
import { readinessOf } from './readiness.ts';
import { rolesOf } from './roles.ts';

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
  const { engines, observability } = foundations;
  const parts = partsOf(foundations);
  if (speaks) await parts.documents.store.start();
  const roles = rolesOf(parts);
  const { leased, free } = roles;
  for (const one of [...leased, ...free]) one.start();
  const checks = async (): Promise<HealthChecks> => ({ ...(await readinessOf(parts, roles)), ...beside?.() });
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
      await Promise.all([...free.map((one) => one.stop()), engines.eventBus?.close()]);
      await observability.tracer.close();
    },
  };
};
