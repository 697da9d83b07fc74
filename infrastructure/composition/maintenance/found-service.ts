import type { FoundService, ServiceStatus } from '../../../application/maintenance/service-status.ts';
import { holderOfDirectory } from '../../embedded/directory-lock.ts';
import { ROLES } from '../configuration.ts';
import type { Configuration } from '../configuration.ts';
import { processOf, sharesStores } from '../engines.ts';
import { checkEngines } from '../readiness.ts';
import type { Parts } from '../parts.ts';

const ANSWER_WITHIN_MS = 2_000;
const NOT_ASKED = 'not asked';

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
