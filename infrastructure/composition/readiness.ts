import { PUBLISHING } from '../../application/maintenance/quarantine/quarantined-operations.ts';
import type { FoundService, ServiceStatus } from '../../application/maintenance/service-status.ts';
import { messageOf } from '../../application/support/failures.ts';
import { loanProjection } from '../../projections/loan/loan-projection.ts';
import { holderOfDirectory } from '../embedded/directory-lock.ts';
import type { HealthChecks } from '../http/server/health-app.ts';
import type { KafkaEventBus } from '../kafka/kafka-event-bus.ts';
import { roomFor } from '../support/durable-files.ts';
import { TimedOutError, within } from '../support/time.ts';
import type { BackgroundThread } from './background/background-thread.ts';
import { ROLES } from './configuration.ts';
import type { Configuration, Role } from './configuration.ts';
import { keepsFiles, processOf, sharesStores } from './engines.ts';
import type { Parts } from './parts.ts';
import { standingsOf } from './processors.ts';
import type { Roles } from './roles.ts';

const PROBED_STREAM = 'loan-readiness.probe';
/** An engine that has not answered by then counts as unreachable. */
const ANSWER_WITHIN_MS = 2_000;

const outcomeOf = async (look: () => Promise<unknown>): Promise<string> => {
  try {
    await within(ANSWER_WITHIN_MS, 'an answer', look());
    return 'ok';
  } catch (error) {
    return error instanceof TimedOutError ? `no answer within ${ANSWER_WITHIN_MS} ms` : messageOf(error);
  }
};

const looksOf = (
  { eventStore, logFit, checkpoints, projectionStore }: Parts,
  roles: readonly Role[],
): Readonly<Record<string, () => Promise<unknown>>> => {
  const some = (...of: readonly Role[]): boolean => of.some((role) => roles.includes(role));
  return {
    ...(some('api', 'projector', 'relay', 'scheduler') && {
      event_store: async () => {
        await eventStore.head(PROBED_STREAM);
        await logFit.ensure();
      },
    }),
    service_store: () => checkpoints.load('readiness'),
    ...(some('api', 'projector', 'scheduler') && {
      read_model: () => projectionStore.checkpoint(loanProjection),
    }),
  };
};

/** One command writes to several files, a few pages each. */
const LEAST_ROOM = 1024 ** 2;

/** Asked of the system alone: nothing is tried, because a disk that is full gets no better by it. */
const stateOfDisk = async (configuration: Configuration): Promise<HealthChecks> => {
  if (!keepsFiles(configuration)) return {};
  const { dataDir } = configuration;
  const room = (await roomFor(dataDir).catch(messageOf)) ?? LEAST_ROOM;
  if (typeof room === 'string') return { disk: room };
  return { disk: room < LEAST_ROOM ? `no room left for ${dataDir}: make room on its disk` : 'ok' };
};

/** A group that is just being joined, or shared out anew, is no reason to send requests elsewhere. */
const stateOfBus = (bus: KafkaEventBus | undefined): string => {
  const out = [...(bus?.status().groups ?? [])].filter(
    ([, { joined, lastError }]) => !joined && lastError !== undefined,
  );
  return out.length === 0 ? 'ok' : out.map(([group, { lastError }]) => `${group}: ${lastError}`).join(', ');
};

/** Requests do not wait for other read models than the loans'. */
const NEEDED: readonly string[] = [loanProjection.name, PUBLISHING];

/** What runs here only while this process has the lease; standing by for it is as good as running. */
const stateOfRoles = (parts: Parts, { leased }: Roles): Readonly<Record<string, string>> => {
  const standsBy = (role: Role): boolean =>
    leased.some(({ name, state }) => name === role && state !== 'holding');
  const checks: Record<string, string> = {};
  for (const { role, waitsFor, state, lastError } of standingsOf(parts)) {
    if (!NEEDED.includes(waitsFor) || standsBy(role)) continue;
    const works = state === 'running' || (role === 'relay' && state === 'stopped');
    checks[role] = works ? 'ok' : `${state}${lastError ? `: ${lastError}` : ''}`;
  }
  if (parts.configuration.roles.includes('webhooks')) checks['event_bus'] = stateOfBus(parts.eventBus);
  return checks;
};

/** The engines that these roles work with, each `ok` or what is wrong. */
export const checkEngines = async (parts: Parts, roles: readonly Role[]): Promise<HealthChecks> => {
  const looks = Object.entries(looksOf(parts, roles));
  const outcomes = await Promise.all(
    looks.map(async ([name, look]) => [name, await outcomeOf(look)] as const),
  );
  return Object.fromEntries(outcomes);
};

/** Ready means: the engines that this process works with answer, and nothing that runs here has come to a halt. */
export const readinessOf = async (parts: Parts, roles: Roles): Promise<HealthChecks> => ({
  ...(await checkEngines(parts, parts.configuration.roles)),
  ...(await stateOfDisk(parts.configuration)),
  ...stateOfRoles(parts, roles),
});

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

const SERVICE_ANSWERS_WITHIN_MS = 2_000;
const NOT_ASKED = 'not asked';

/** The service that answers at PUBLIC_URL: the only trace of a process that holds no lease. */
const answering = async ({ publicUrl }: Configuration): Promise<string | undefined> => {
  try {
    const url = `${publicUrl}/health/live`;
    const answer = await fetch(url, { signal: AbortSignal.timeout(SERVICE_ANSWERS_WITHIN_MS) });
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

const sharedService = async ({ configuration, leases }: Parts) => {
  const held = (await leases.held())
    .map(({ name, holder }) => ({ name: roleOfLease(name), holder }))
    .filter(({ name }) => (ROLES as readonly string[]).includes(name));
  const answers = await answering(configuration);
  const holders = new Map(held.map(({ name, holder }) => [name, holder]));
  const leased = ROLES.filter((role) => role !== 'api' && role !== 'webhooks');
  return {
    place: 'these engines',
    found: held.length > 0 ? processOf(held[0]!.holder) : (answers ?? null),
    roles: [
      { role: 'api', state: answers === undefined ? 'no answer' : 'running', holder: null },
      ...leased.map((role) => {
        const holder = holders.get(role) ?? null;
        return { role, state: holder === null ? 'nobody' : 'running', holder };
      }),
    ],
  };
};

/** Looks for a running service: on its data directory, or among those that share the engines. */
export const findService = (parts: Parts): Promise<FoundService> => {
  const { configuration } = parts;
  return sharesStores(configuration) ? sharedService(parts) : embeddedService(configuration);
};

/** The engines, each with what it answers. */
export const enginesOf = async (parts: Parts): Promise<ServiceStatus['engines']> => {
  const { engines } = parts.configuration;
  const checks = await checkEngines(parts, ['api']);
  const sql = engines.databaseUrl === undefined ? 'SQLite, embedded' : 'PostgreSQL';
  const log = engines.eventStoreUrl === undefined ? 'SQLite, embedded' : 'EventStoreDB';
  /** Of one that only others ask. */
  const elsewhere = (engine: string, url: string | undefined, embedded: string, kind: string) =>
    url === undefined ? { engine, kind: embedded, state: 'ok' } : { engine, kind, state: NOT_ASKED };
  return [
    { engine: 'event store', kind: log, state: checks['event_store'] ?? NOT_ASKED },
    { engine: 'service database', kind: sql, state: checks['service_store'] ?? NOT_ASKED },
    { engine: 'read models', kind: sql, state: checks['read_model'] ?? NOT_ASKED },
    elsewhere('event bus', engines.kafkaBrokers, 'inside the process', 'Kafka'),
    elsewhere('documents', engines.s3Url, 'files in DATA_DIR', 'S3'),
  ];
};
