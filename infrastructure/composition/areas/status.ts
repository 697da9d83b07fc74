import type { EventSubscription, LogPosition } from '../../../application/ports/event-store.ts';
import { messageOf } from '../../../application/support/failures.ts';
import type { FollowerPlace, ServiceStatus } from '../../cli/cli-services.ts';
import { holderOfDirectory } from '../../embedded/directory-lock.ts';
import type { HealthChecks } from '../../http/server/health-app.ts';
import { SqlOperationStates } from '../../sql/read-models/operation-states.ts';
import { SqlDeliveryLog } from '../../sql/webhooks/delivery-log.ts';
import { within } from '../../support/time.ts';
import { ROLES } from '../configuration.ts';
import type { Configuration } from '../configuration.ts';
import type { Engines } from '../engines.ts';
import type { Foundations } from '../foundations.ts';
import { checkEngines } from '../readiness.ts';
import type { Adapters } from './adapters.ts';

/** Counting stops here: further behind is only said to be at least so much. */
const MOST_COUNTED = 10_000;
const ANSWER_WITHIN_MS = 2_000;
/** Older servers do not say where the log ends, which is only believed after two seconds of silence. */
const COUNTED_WITHIN_MS = 10_000;

type Behind = Pick<FollowerPlace, 'behind' | 'atLeast' | 'problem'>;

/** A log that says nothing, or cannot be followed from there, is what status has to tell: it does not fail by it. */
const behindOf = (log: EventSubscription, from: LogPosition | 'start'): Promise<Behind> => {
  const stop = new AbortController();
  return within(COUNTED_WITHIN_MS, 'following the log', countBehind(log, from, stop)).catch(
    (error: unknown) => {
      stop.abort();
      return { behind: 0, atLeast: true, problem: messageOf(error) };
    },
  );
};

const countBehind = async (
  log: EventSubscription,
  from: LogPosition | 'start',
  stop: AbortController,
): Promise<Behind> => {
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
  { eventStore: log, projections }: Engines,
  { projectionStore, checkpoints }: Adapters,
): Promise<readonly FollowerPlace[]> => {
  const relay = await checkpoints.load('outbox-relay');
  const places: [string, LogPosition | 'start'][] = [['relay', relay]];
  for (const projection of projections) {
    const checkpoint = await projectionStore.checkpoint(projection);
    places.push([projection.name, checkpoint]);
  }
  return Promise.all(
    places.map(async ([name, position]) => ({ name, position, ...(await behindOf(log, position)) })),
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

/** The projector's lease has the versions of its read models behind the role. */
const roleOfLease = (name: string): string => name.split(' ')[0]!;

const sharedService = async (configuration: Configuration, { leases }: Adapters) => {
  const held = (await leases.held())
    .map(({ name, holder }) => ({ name: roleOfLease(name), holder }))
    .filter(({ name }) => (ROLES as readonly string[]).includes(name));
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

const serviceOf = (configuration: Configuration, adapters: Adapters) =>
  configuration.engines.databaseUrl === undefined
    ? embeddedService(configuration)
    : sharedService(configuration, adapters);

const followedOf = async ({ engines }: Foundations, adapters: Adapters) => {
  const lags = await new SqlDeliveryLog(engines.serviceDatabase).lag();
  const oldestSince = lags.map(({ oldestCreatedAt }) => oldestCreatedAt).toSorted()[0] ?? null;
  return {
    followers: await followersOf(engines, adapters),
    deliveriesWaiting: { webhooks: lags.length, oldestSince },
  };
};

/** Whether a service is running, and how far what follows the log is behind it. */
export const progressOf = (foundations: Foundations, adapters: Adapters) => async () => {
  const { found } = await serviceOf(foundations.configuration, adapters);
  return { running: found !== null, ...(await followedOf(foundations, adapters)) };
};

/** What `receivables status` shows. Nothing is waited for: a read model that is behind is shown as behind. */
export const statusOf =
  (foundations: Foundations, adapters: Adapters) => async (): Promise<ServiceStatus> => {
    const { configuration, engines } = foundations;
    const service = await serviceOf(configuration, adapters);
    const checks = await checkEngines(adapters, ['api']);
    const { followers, deliveriesWaiting } = await followedOf(foundations, adapters);
    return {
      running: service.found !== null,
      ...service,
      engines: enginesOf(configuration, {
        ...checks,
        ...(configuration.engines.kafkaBrokers === undefined && { event_bus: 'ok' }),
        ...(configuration.engines.s3Url === undefined && { documents: 'ok' }),
      }),
      followers,
      operations: await new SqlOperationStates(engines.readModelDatabase).counts(),
      deliveriesWaiting,
    };
  };
