import { resolve } from 'node:path';
import { isCalendarDate } from '../../domain/shared/calendar-date.ts';
import { parseS3Url } from '../documents/s3/s3-bucket.ts';
import { flawOf } from '../postgres/addresses.ts';
import { MasterKey } from '../security/master-key.ts';
import { CACHE_MEMORY } from './cache-shares.ts';
import { ConfigurationError, EnvironmentReader } from './environment-reader.ts';
import { readAllowInsecure, refuseOpenAddresses, refuseOpenEngines } from './insecurities.ts';
import { readKafka } from './kafka-configuration.ts';

/** Of an attempt, which one timer of Node.js ends. */
const LONGEST_TIMER_DAYS = 24;

export const ROLES = ['api', 'projector', 'relay', 'webhooks', 'scheduler'] as const;
export type Role = (typeof ROLES)[number];

const ENVIRONMENTS = ['sandbox', 'production'] as const;
const DATABASE_FAILOVERS = ['checked', 'managed'] as const;
const LOG_LEVELS = ['error', 'warn', 'info', 'debug'] as const;

/** Everything that the environment decides. Durations are milliseconds. */
export type Configuration = ReturnType<typeof readConfiguration>;

const MOST_PROXIES = 16;

/** @throws ConfigurationError one line that names the variable */
export const readConfiguration = (environment: Readonly<Record<string, string | undefined>>) => {
  const variables = new EnvironmentReader(environment);
  const port = variables.integer('PORT', 3000, { from: 1, to: 65_535 });
  const address = `http://localhost:${port}`;
  const kind = variables.oneOf('ENVIRONMENT', ENVIRONMENTS, 'sandbox');
  const configuration = Object.freeze({
    // A sandbox listens on this machine only, unless its operator sets HOST.
    host: variables.text('HOST') ?? (kind === 'sandbox' ? '127.0.0.1' : '0.0.0.0'),
    port,
    // Base addresses as clients see them, without a slash at the end.
    publicUrl: variables.baseUrl('PUBLIC_URL', address),
    authUrl: variables.baseUrl('AUTH_URL', address),
    environment: kind,
    dataDir: resolve(variables.text('DATA_DIR') ?? './data'),
    // Addresses of real engines; undefined means the embedded one. They may hold passwords.
    engines: Object.freeze({
      eventStoreUrl: variables.address('EVENTSTORE_URL', ['esdb', 'esdb+discover']),
      kafkaBrokers: variables.text('KAFKA_BROKERS'),
      databaseUrl: readDatabaseUrl(variables),
      s3Url: readS3Url(variables),
    }),
    // Whether the service looks for a synchronous standby of its database, or its provider keeps commits across a fail-over.
    databaseFailover: variables.oneOf('DATABASE_FAILOVER', DATABASE_FAILOVERS, 'checked'),
    allowInsecure: readAllowInsecure(variables),
    // Undefined with the bus inside the process.
    kafka: readKafka(variables),
    roles: readRoles(variables),
    // Undefined only in the sandbox: then it is kept in the data directory.
    masterKey: readMasterKey(variables, kind),
    previousMasterKey: readPreviousMasterKey(variables),
    // For everything that this process remembers in order to be faster, in bytes.
    cacheMemory: variables.bytes('CACHE_MEMORY', CACHE_MEMORY.byDefault, CACHE_MEMORY.least),
    sandboxStep: variables.duration('SANDBOX_STEP', '2s', { from: 0 }),
    // Whether every request is checked as in production; a sandbox otherwise leaves that to each.
    strict: sandboxSwitch(variables, 'SANDBOX_STRICT', kind) || kind === 'production',
    // How far a disbursed value may be from the acquisition value without being said twice, in basis points.
    disbursementTolerance: Math.round(variables.percent('DISBURSEMENT_TOLERANCE', '10') * 100),
    webhooks: readWebhooks(variables, kind),
    // Number of proxies in front whose forwarding headers are believed.
    trustProxy: variables.integer('TRUST_PROXY', 0, { from: 0, to: MOST_PROXIES }),
    logLevel: variables.oneOf('LOG_LEVEL', LOG_LEVELS, 'info'),
    // An announced change that breaks the interface, as the header X-SVC-API-Deprecation shows it.
    apiDeprecation: readDeprecation(variables),
    metrics: readMetricsAddress(variables),
    tracing: readTracing(variables),
  });
  refuseSplitRoles(configuration.roles, configuration.engines);
  refuseOpenEngines(configuration);
  return configuration;
};

/** As `readConfiguration`, for the service, which clients reach. @throws ConfigurationError */
export const readServiceConfiguration = (
  environment: Readonly<Record<string, string | undefined>>,
): Configuration => {
  const configuration = readConfiguration(environment);
  refuseOpenAddresses(configuration, new EnvironmentReader(environment));
  return configuration;
};

const readDatabaseUrl = (variables: EnvironmentReader): string | undefined => {
  const url = variables.text('DATABASE_URL');
  const flaw = url === undefined ? undefined : flawOf(url);
  if (flaw !== undefined) throw variables.invalid('DATABASE_URL', flaw);
  return url;
};

const readS3Url = (variables: EnvironmentReader): string | undefined => {
  const url = variables.text('S3_URL');
  if (url === undefined || parseS3Url(url) !== undefined) return url;
  throw variables.invalid(
    'S3_URL',
    'must be like https://KEY:SECRET@host/bucket?region=sa-east-1, key and secret percent-encoded',
  );
};

const ANNOUNCEMENT = /^(\d{4}\.\d{1,2}\.\d+)@(\d{4}-\d{2}-\d{2})$/;

/** Written `2027.3.0@2027-03-01`: the version that breaks this one, and the day on which it comes. */
const readDeprecation = (variables: EnvironmentReader): string | undefined => {
  const text = variables.text('API_DEPRECATION');
  if (text === undefined) return undefined;
  const [, version, day] = ANNOUNCEMENT.exec(text) ?? [];
  if (version === undefined || day === undefined || !isCalendarDate(day)) {
    throw variables.invalid('API_DEPRECATION', 'must be a version and a day, such as 2027.3.0@2027-03-01');
  }
  return `${version}; effective=${day}`;
};

const readRoles = (variables: EnvironmentReader): readonly Role[] => {
  const named = variables.list('ROLES', 'all');
  const all = named.length === 1 && named[0] === 'all';
  if (!all && !named.every((name) => (ROLES as readonly string[]).includes(name))) {
    throw variables.invalid('ROLES', `must be "all" or a comma list of ${ROLES.join(', ')}`);
  }
  return Object.freeze(ROLES.filter((role) => all || named.includes(role)));
};

const MAKE_A_KEY = "node -p \"require('node:crypto').randomBytes(32).toString('base64')\"";

const readMasterKey = (
  variables: EnvironmentReader,
  kind: (typeof ENVIRONMENTS)[number],
): MasterKey | undefined => {
  const text = variables.text('MASTER_KEY');
  if (text === undefined) {
    if (kind === 'sandbox') return undefined;
    throw variables.invalid(
      'MASTER_KEY',
      `is required in production: 32 random bytes in base64, which this prints: ${MAKE_A_KEY}`,
    );
  }
  return parseMasterKey(variables, 'MASTER_KEY', text);
};

const readPreviousMasterKey = (variables: EnvironmentReader): MasterKey | undefined => {
  const text = variables.text('MASTER_KEY_PREVIOUS');
  if (text === undefined) return undefined;
  if (variables.text('MASTER_KEY') === undefined)
    throw variables.invalid('MASTER_KEY_PREVIOUS', 'says nothing without MASTER_KEY');
  return parseMasterKey(variables, 'MASTER_KEY_PREVIOUS', text);
};

const parseMasterKey = (variables: EnvironmentReader, name: string, text: string): MasterKey => {
  const key = MasterKey.parse(text);
  if (key === undefined)
    throw variables.invalid(name, 'must be exactly 32 bytes in base64, padding included');
  return key;
};

/** On in a sandbox only. @throws ConfigurationError */
const sandboxSwitch = (variables: EnvironmentReader, name: string, kind: string): boolean => {
  const on = variables.boolean(name);
  if (on && kind === 'production') throw variables.invalid(name, 'must not be true in production');
  return on;
};

const readWebhooks = (variables: EnvironmentReader, kind: string) =>
  Object.freeze({
    // Gaps between attempts; one attempt more than gaps.
    retrySchedule: variables.durations('WEBHOOK_RETRY_SCHEDULE', '30s,2m,10m,1h,4h,12h,24h'),
    // For a whole attempt.
    timeout: variables.duration('WEBHOOK_TIMEOUT', '10s', { from: 1, longestDays: LONGEST_TIMER_DAYS }),
    // PEM text of additional roots.
    extraRoots: variables.certificates('WEBHOOK_CA_FILE'),
    allowPrivateNetwork: sandboxSwitch(variables, 'WEBHOOK_ALLOW_PRIVATE_NETWORK', kind),
  });

/** Roles that read or write the streams. Webhooks are fed from the bus alone. */
const AT_THE_STREAMS: readonly Role[] = ['api', 'projector', 'relay', 'scheduler'];
const AT_THE_BUS: readonly Role[] = ['relay', 'webhooks'];

/** Whether only some of these roles run here, so that the others must run elsewhere. */
const split = (roles: readonly Role[], together: readonly Role[]): boolean => {
  const here = together.filter((role) => roles.includes(role)).length;
  return here > 0 && here < together.length;
};

/**
 * Roles that run in different processes meet over engines that all of them reach; what is embedded belongs to one process.
 * @throws ConfigurationError
 */
const refuseSplitRoles = (
  roles: readonly Role[],
  engines: Readonly<Record<'eventStoreUrl' | 'kafkaBrokers' | 'databaseUrl', string | undefined>>,
): void => {
  const elsewhere = ROLES.filter((role) => !roles.includes(role)).join(', ');
  if (elsewhere === '') return;
  const missing = [
    ...(engines.databaseUrl === undefined ? ['DATABASE_URL'] : []),
    ...(engines.eventStoreUrl === undefined && split(roles, AT_THE_STREAMS) ? ['EVENTSTORE_URL'] : []),
    ...(engines.kafkaBrokers === undefined && split(roles, AT_THE_BUS) ? ['KAFKA_BROKERS'] : []),
  ];
  if (missing.length === 0) return;
  throw new ConfigurationError(
    `ROLES leaves ${elsewhere} to other processes, which cannot share what is embedded in this one: set ${missing.join(', ')}`,
  );
};

const DEFAULT_PORT = 9464;
const SERVICE_NAME = 'receivables-fund-service';

/** Undefined when the operator wants none. */
export const readMetricsAddress = (variables: EnvironmentReader) => {
  const host = variables.text('METRICS_HOST') ?? '127.0.0.1';
  if (variables.text('METRICS_PORT') === 'off') return undefined;
  const port = variables.integer('METRICS_PORT', DEFAULT_PORT, { from: 1, to: 65_535 });
  return Object.freeze({ host, port });
};

/** The standard variables of OpenTelemetry, as far as they decide something here; undefined without an endpoint. */
const readTracing = (variables: EnvironmentReader) => {
  const url = endpointOf(variables);
  if (url === undefined || variables.boolean('OTEL_SDK_DISABLED')) return undefined;
  const resource = {
    'service.name': SERVICE_NAME,
    ...resourceAttributes(variables),
    ...named('service.name', variables.text('OTEL_SERVICE_NAME')),
  };
  return Object.freeze({ url, ratio: ratioOf(variables), resource: Object.freeze(resource) });
};

const named = (name: string, value: string | undefined) => (value === undefined ? {} : { [name]: value });

const endpointOf = (variables: EnvironmentReader): string | undefined => {
  const forTraces = 'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT';
  if (variables.text(forTraces) !== undefined) return variables.baseUrl(forTraces, '');
  const general = 'OTEL_EXPORTER_OTLP_ENDPOINT';
  if (variables.text(general) === undefined) return undefined;
  return `${variables.baseUrl(general, '')}/v1/traces`;
};

const ratioOf = (variables: EnvironmentReader): number => {
  const text = variables.text('OTEL_TRACES_SAMPLER_ARG') ?? '1';
  const ratio = /^\d(\.\d{1,9})?$/.test(text) ? Number(text) : NaN;
  if (ratio >= 0 && ratio <= 1) return ratio;
  throw variables.invalid('OTEL_TRACES_SAMPLER_ARG', 'must be the share of traces to keep, from 0 to 1');
};

const resourceAttributes = (variables: EnvironmentReader): Readonly<Record<string, string>> => {
  const pairs = (variables.text('OTEL_RESOURCE_ATTRIBUTES') ?? '')
    .split(',')
    .filter((pair) => pair.trim() !== '');
  return Object.fromEntries(pairs.map((pair) => attributeOf(variables, pair)));
};

const attributeOf = (variables: EnvironmentReader, pair: string): readonly [string, string] => {
  const [name = '', value, ...rest] = pair.split('=').map((part) => part.trim());
  try {
    if (name !== '' && value !== undefined && rest.length === 0)
      return [decodeURIComponent(name), decodeURIComponent(value)];
  } catch {
    // Falls through: a percent sign that encodes nothing.
  }
  throw variables.invalid('OTEL_RESOURCE_ATTRIBUTES', 'must be a list of name=value, percent-encoded');
};
