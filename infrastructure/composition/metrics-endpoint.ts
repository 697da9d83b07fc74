import type { Container } from 'inversify';
import { PUBLISHING } from '../../application/quarantine/quarantined-operations.ts';
import type { HealthChecks } from '../http/server/health-app.ts';
import { MetricsServer } from '../observability/metrics-server.ts';
import type { LookedUp } from '../observability/metrics/looked-up.ts';
import type { Scrape } from '../observability/metrics/scrape.ts';
import { SqlOperationStates } from '../sql/read-models/operation-states.ts';
import { SqlDeliveryLog } from '../sql/webhooks/delivery-log.ts';
import type { BackgroundThread } from './background/background-thread.ts';
import type { Engines } from './engines.ts';
import { TOKENS } from './tokens.ts';

/** A bus that keeps its events knows how many a group has still to handle. */
interface BusWithLag {
  /** One entry a partition. */
  lag(): Promise<readonly { readonly group: string; readonly lag: number }[]>;
}

const hasLag = (bus: object): bus is BusWithLag => 'lag' in bus && typeof bus.lag === 'function';

const groupLags = async (bus: BusWithLag): Promise<Readonly<Record<string, number>>> => {
  const lags: Record<string, number> = {};
  for (const { group, lag } of await bus.lag()) lags[group] = (lags[group] ?? 0) + lag;
  return lags;
};

const sourcesOf = (
  container: Container,
  { busDeadLetters }: Engines,
  checks: () => Promise<HealthChecks>,
): LookedUp => {
  const configuration = container.get(TOKENS.configuration);
  const { roles } = configuration;
  const { leased } = container.get(TOKENS.roles);
  const bus = container.get(TOKENS.eventBus);
  const deliveries = new SqlDeliveryLog(container.get(TOKENS.serviceDatabase));
  const states = new SqlOperationStates(container.get(TOKENS.readModelDatabase));
  return {
    quarantined: () =>
      Object.fromEntries([
        ...(roles.includes('projector')
          ? [container.get(TOKENS.loanProjector), ...container.get(TOKENS.fundSideProjectors)].map(
              (projector): [string, number] => {
                const { projection, quarantined } = projector.status();
                return [projection, quarantined];
              },
            )
          : []),
        ...(roles.includes('relay')
          ? [[PUBLISHING, container.get(TOKENS.relay).status().quarantined] as [string, number]]
          : []),
      ]),
    states: () => ({
      ...(roles.includes('projector') && {
        'loan-projector': container.get(TOKENS.loanProjector).status().state,
        ...Object.fromEntries(
          container.get(TOKENS.fundSideProjectors).map((projector) => {
            const { projection, state } = projector.status();
            return [`${projection}-projector`, state];
          }),
        ),
      }),
      ...(roles.includes('relay') && { relay: container.get(TOKENS.relay).status().state }),
      ...(roles.includes('webhooks') && {
        webhooks: container.get(TOKENS.webhookSide).worker.status().state,
      }),
    }),
    checks,
    ...(roles.includes('webhooks') && { waitingDeliveries: () => deliveries.lag() }),
    ...(roles.includes('scheduler') && { operationStates: () => states.counts() }),
    ...(hasLag(bus) && { busLag: () => groupLags(bus) }),
    deadLetters: () => busDeadLetters.counts(),
    leases: () => Object.fromEntries(leased.map(({ name, state }) => [name, state === 'holding'])),
  };
};

/** What this thread can tell; undefined when metrics are off. */
export const scrapeOf = (
  container: Container,
  engines: Engines,
  checks: () => Promise<HealthChecks>,
): Scrape | undefined =>
  container.get(TOKENS.observability).metrics?.scrape(sourcesOf(container, engines, checks));

/**
 * Serves the metrics of this process, when they are on. Two services on one machine is nothing unusual and no reason not to
 * start: whoever finds the port taken goes without.
 */
export const serveMetrics = async (
  { container, scrape }: { readonly container: Container; readonly scrape: Scrape | undefined },
  thread: Pick<BackgroundThread, 'ask'> | undefined,
): Promise<{ close(): Promise<void> } | undefined> => {
  const { metrics: address } = container.get(TOKENS.configuration);
  const logger = container.get(TOKENS.logger);
  if (!scrape || !address) return undefined;
  const text = (): Promise<string> => scrape.text(thread?.ask('metrics'));
  try {
    const server = await MetricsServer.listen({ contentType: scrape.contentType, text }, address, logger);
    logger.info({ ...address }, 'metrics are served at /metrics');
    return server;
  } catch (error) {
    const reason = (error as Error).message;
    logger.warn({ ...address, reason }, 'no metrics: set METRICS_PORT to a free port, or to off');
    return undefined;
  }
};
