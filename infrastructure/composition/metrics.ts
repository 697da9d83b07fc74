import type { Container } from 'inversify';
import { PUBLISHING } from '../../application/quarantine/quarantined-operations.ts';
import type { HealthChecks } from '../http/server/health-app.ts';
import type { LookedUp } from '../observability/metrics/looked-up.ts';
import type { Scrape } from '../observability/metrics/scrape.ts';
import { oldestTransaction } from '../sql/postgres-safety.ts';
import { SqlOperationStates } from '../sql/read-models/operation-states.ts';
import { SqlDeliveryLog } from '../sql/webhooks/delivery-log.ts';
import type { Role } from './configuration.ts';
import { TOKENS } from './container.ts';
import type { Roles } from './roles.ts';

/** A bus that keeps its events knows how many a group has still to handle. */
interface BusWithLag {
  /** One entry a partition. */
  lag(): Promise<readonly { readonly group: string; readonly lag: number }[]>;
}

const hasLag = (bus: object): bus is BusWithLag => 'lag' in bus && typeof bus.lag === 'function';

/** A log whose server says when its subscriber is too slow. */
const tellsSlowMoments = (log: object): log is { readonly slowMoments: number } => 'slowMoments' in log;

const groupLags = async (bus: BusWithLag): Promise<Readonly<Record<string, number>>> => {
  const lags: Record<string, number> = {};
  for (const { group, lag } of await bus.lag()) lags[group] = (lags[group] ?? 0) + lag;
  return lags;
};

/** What is asked for at each scrape: of the roles that this thread has, and of the stores that they work with. */
const sourcesOf = (
  container: Container,
  { leased }: Roles,
  checks: () => Promise<HealthChecks>,
): LookedUp => {
  const { configuration, engines } = container.get(TOKENS.foundations);
  const { loanProjector, fundSideProjectors, projectors } = container.get(TOKENS.readModels);
  const deliveries = new SqlDeliveryLog(engines.serviceDatabase);
  const operations = new SqlOperationStates(engines.readModelDatabase);
  const { eventBus: bus, busReports, eventStore: log } = engines;
  const has = (role: Role): boolean => configuration.roles.includes(role);
  const relay = () => container.get(TOKENS.relay).status();
  return {
    quarantined: () =>
      Object.fromEntries([
        ...(has('projector')
          ? projectors.map((one): [string, number] => [one.status().projection, one.status().quarantined])
          : []),
        ...(has('relay') ? [[PUBLISHING, relay().quarantined] as [string, number]] : []),
      ]),
    states: () => ({
      ...(has('projector') && {
        'loan-projector': loanProjector.status().state,
        ...Object.fromEntries(
          fundSideProjectors.map((one) => [`${one.status().projection}-projector`, one.status().state]),
        ),
      }),
      ...(has('relay') && { relay: relay().state }),
      ...(has('webhooks') && { webhooks: container.get(TOKENS.webhooks).worker.status().state }),
    }),
    checks,
    ...(has('webhooks') && { waitingDeliveries: () => deliveries.lag() }),
    ...(has('webhooks') &&
      engines.serviceDatabase.dialect === 'postgres' && {
        oldestTransaction: async () => (await oldestTransaction(engines.serviceDatabase))?.seconds ?? 0,
      }),
    ...(has('scheduler') && { operationStates: () => operations.counts() }),
    ...(hasLag(bus) && { busLag: () => groupLags(bus) }),
    ...(tellsSlowMoments(log) && { slowMoments: () => log.slowMoments }),
    deadLetters: () => busReports.deadLetters(),
    topicProblems: () => busReports.topicProblems(),
    leases: () => Object.fromEntries(leased.map(({ name, state }) => [name, state === 'holding'])),
  };
};

/** What this thread can tell; undefined when metrics are off. */
export const scrapeOf = (
  container: Container,
  roles: Roles,
  checks: () => Promise<HealthChecks>,
): Scrape | undefined => {
  const { metrics } = container.get(TOKENS.foundations).observability;
  return metrics?.scrape(sourcesOf(container, roles, checks));
};
