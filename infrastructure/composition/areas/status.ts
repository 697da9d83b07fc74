import type { EventSubscription, LogPosition } from '../../../application/ports/event-store.ts';
import type { FollowerPlace, ServiceStatus } from '../../cli/cli-services.ts';
import { holderOfDirectory } from '../../embedded/directory-lock.ts';
import type { HealthChecks } from '../../http/server/health-app.ts';
import { SqlOperationStates } from '../../sql/read-models/operation-states.ts';
import { SqlDeliveryLog } from '../../sql/webhooks/delivery-log.ts';
import { ROLES } from '../configuration.ts';
import type { Configuration } from '../configuration.ts';
import type { Foundations } from '../foundations.ts';
import { allProjections } from '../projections.ts';
import { checkEngines } from '../readiness.ts';
import type { Adapters } from './adapters.ts';

/** Counting stops here: further behind is only said to be at least so much. */
const MOST_COUNTED = 10_000;
const ANSWER_WITHIN_MS = 2_000;

const countBehind = async (
  log: EventSubscription,
  from: LogPosition | 'start',
): Promise<Pick<FollowerPlace, 'behind' | 'atLeast'>> => {
  const stop = new AbortController();
  let behind = 0;
  try {
    for await (const message of log.subscribe({ from, signal: stop.signal })) {
      if (message.kind === 'caught_up') return { behind, atLeast: false };
      if (message.kind !== 'events') continue;
      behind += message.events.length;
      if (behind >= MOST_COUNTED) break;
    }
  } finally {
    stop.abort();
  }
  return { behind, atLeast: true };
};

const followersOf = async (
  log: EventSubscription,
  { projectionStore, checkpoints }: Adapters,
): Promise<readonly FollowerPlace[]> => {
  const relay = await checkpoints.load('outbox-relay');
  const places: [string, LogPosition | 'start'][] = [['relay', relay]];
  for (const projection of allProjections) {
    const checkpoint = await projectionStore.checkpoint(projection);
    places.push([projection.name, checkpoint]);
  }
  return Promise.all(
    places.map(async ([name, position]) => ({ name, position, ...(await countBehind(log, position)) })),
  );
};

const enginesOf = ({ engines }: Configuration, checks: HealthChecks): ServiceStatus['engines'] => {
  const row = (engine: string, kind: string, check: string) => ({
    engine,
    kind,
    state: checks[check] ?? 'not asked',
  });
  const sql = engines.databaseUrl === undefined ? 'SQLite, embedded' : 'PostgreSQL';
  return [
    row(
      'event store',
      engines.eventStoreUrl === undefined ? 'SQLite, embedded' : 'EventStoreDB',
      'event_store',
    ),
    row('service database', sql, 'service_store'),
    row('read models', sql, 'read_model'),
    row('event bus', engines.kafkaBrokers === undefined ? 'inside the process' : 'Kafka', 'event_bus'),
    row('documents', engines.s3Url === undefined ? 'files in DATA_DIR' : 'S3', 'documents'),
  ];
};

/** The service that answers at PUBLIC_URL: the only trace of a process that holds no lease. */
const answering = async ({ publicUrl }: Configuration): Promise<string | undefined> => {
  try {
    const url = `${publicUrl}/health/live`;
    const answer = await fetch(url, { signal: AbortSignal.timeout(ANSWER_WITHIN_MS) });
    await answer.body?.cancel();
    return answer.ok && answer.headers.has('X-SVC-API-Version') ? `answers at ${publicUrl}` : undefined;
  } catch {
    return undefined;
  }
};

const embeddedService = async (configuration: Configuration) => {
  const { dataDir, roles } = configuration;
  const holder = (await holderOfDirectory(dataDir)) ?? null;
  const state = holder === null ? 'not running' : 'running';
  return { place: dataDir, found: holder, roles: roles.map((role) => ({ role, state, holder })) };
};

const sharedService = async (configuration: Configuration, { leases }: Adapters) => {
  const held = (await leases.held()).filter(({ name }) => (ROLES as readonly string[]).includes(name));
  const answers = await answering(configuration);
  const holders = new Map(held.map(({ name, holder }) => [name, holder]));
  const leased = ROLES.filter((role) => role !== 'api' && role !== 'webhooks');
  return {
    place: 'these engines',
    found: held.length > 0 ? `${held[0]!.holder.split(' ').slice(0, 2).join(' ')}` : (answers ?? null),
    roles: [
      { role: 'api', state: answers === undefined ? 'no answer' : 'running', holder: null },
      ...leased.map((role) => {
        const holder = holders.get(role) ?? null;
        return { role, state: holder === null ? 'nobody' : 'running', holder };
      }),
    ],
  };
};

/** What `receivables status` shows. Nothing is waited for: a read model that is behind is shown as behind. */
export const statusOf =
  (foundations: Foundations, adapters: Adapters) => async (): Promise<ServiceStatus> => {
    const { configuration, engines } = foundations;
    const shared = configuration.engines.databaseUrl !== undefined;
    const service = await (shared ? sharedService(configuration, adapters) : embeddedService(configuration));
    const checks = await checkEngines(adapters, ['api']);
    const lags = await new SqlDeliveryLog(engines.serviceDatabase).lag();
    return {
      running: service.found !== null,
      ...service,
      engines: enginesOf(configuration, {
        ...checks,
        ...(configuration.engines.kafkaBrokers === undefined && { event_bus: 'ok' }),
        ...(configuration.engines.s3Url === undefined && { documents: 'ok' }),
      }),
      followers: await followersOf(engines.eventStore, adapters),
      operations: await new SqlOperationStates(engines.readModelDatabase).counts(),
      deliveriesWaiting: {
        webhooks: lags.length,
        oldestSince: lags.map(({ oldestCreatedAt }) => oldestCreatedAt).toSorted()[0] ?? null,
      },
    };
  };
