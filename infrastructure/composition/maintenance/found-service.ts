import type { FoundService, ServiceStatus } from '../../../application/maintenance/service-status.ts';
import { holderOfDirectory } from '../../embedded/directory-lock.ts';
import type { HealthChecks } from '../../http/server/health-app.ts';
import { ROLES } from '../configuration.ts';
import type { Configuration } from '../configuration.ts';
import { checkEngines } from '../readiness.ts';
import type { Parts } from '../parts.ts';

const ANSWER_WITHIN_MS = 2_000;

const rowsOf = ({ engines }: Configuration, checks: HealthChecks): ServiceStatus['engines'] => {
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

const sharedService = async ({ foundations: { configuration }, leases }: Parts) => {
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

/** Looks for a running service: on its data directory, or among those that share the engines. */
export const findService = (parts: Parts): Promise<FoundService> => {
  const { configuration } = parts.foundations;
  return configuration.engines.databaseUrl === undefined
    ? embeddedService(configuration)
    : sharedService(parts);
};

/** The engines, each with what it answers. */
export const enginesOf = async (parts: Parts): Promise<ServiceStatus['engines']> => {
  const { configuration } = parts.foundations;
  const checks = await checkEngines(parts, ['api']);
  return rowsOf(configuration, {
    ...checks,
    ...(configuration.engines.kafkaBrokers === undefined && { event_bus: 'ok' }),
    ...(configuration.engines.s3Url === undefined && { documents: 'ok' }),
  });
};
