import packageJson from '../../../package.json' with { type: 'json' };
import { access, constants } from 'node:fs/promises';
import type { Logger } from '../../../application/ports/logger.ts';
import { messageOf } from '../../../application/support/failures.ts';
import type { Finding } from '../../../application/maintenance/service-status.ts';
import { EventStoreDbStore } from '../../eventstoredb/event-store-db-store.ts';
import { API_VERSION } from '../../http/openapi/version.ts';
import { MasterKeyFileError } from '../../security/master-key.ts';
import { WrongMasterKeyError } from '../../security/master-keys.ts';
import { engineTime } from '../../../application/sql/engine.ts';
import {
  NO_STANDBY,
  losesAtFailover,
  oldestTransaction,
  standbySettings,
} from '../../postgres/postgres-safety.ts';
import { roomFor } from '../../support/durable-files.ts';
import { exposedFiles } from '../../support/private-files.ts';
import { readConfiguration } from '../configuration.ts';
import type { Configuration } from '../configuration.ts';
import { missingServiceData } from '../data-directory.ts';
import { isOfService } from '../data-parts.ts';
import { openFoundations } from '../foundations.ts';
import { NEWEST_LOOKED_AT, lostDocuments, lostKeys } from '../lost-parts.ts';
import type { Parts } from '../parts.ts';
import { isAllowed } from '../insecurities.ts';
import { checkEngines, findService } from '../readiness.ts';
import { partsOf } from '../container.ts';
import {
  failed,
  followers,
  ok,
  quarantine,
  sandboxClock,
  service,
  waitingDeliveries,
  warning,
} from './doctor-findings.ts';
import type { Found } from './doctor-findings.ts';

const MEBIBYTE = 1024 ** 2;
const LITTLE_SPACE = 1024 * MEBIBYTE;
const NO_SPACE = 100 * MEBIBYTE;
/** Clocks of several machines differ a little. */
const CLOCK_TOLERANCE_MS = 5_000;
const OLDEST_NODE = 24;

const named = (check: string, found: Found): readonly Finding[] =>
  [found].flat().map((one) => ({ check, ...one }));

/** A look that throws is a check that failed. */
const look = async (check: string, work: () => Promise<Found>): Promise<readonly Finding[]> =>
  named(check, await work().catch((error: unknown) => failed(messageOf(error))));

const dataDirectory = async (configuration: Configuration): Promise<Found> => {
  const missing = missingServiceData(configuration);
  return missing === undefined ? ok(configuration.dataDir) : failed(missing);
};

const permissions = async (configuration: Configuration): Promise<Found> => {
  const { dataDir } = configuration;
  await access(dataDir, constants.R_OK | constants.W_OK | constants.X_OK);
  const exposed = await exposedFiles(dataDir, isOfService);
  if (exposed?.worst === undefined) return ok('its owner alone reads what is in DATA_DIR');
  const found = isAllowed(configuration, 'files') ? warning : failed;
  return found(`others can read ${exposed.worst}: ${exposed.mend}`);
};

const disk = async ({ dataDir }: Configuration): Promise<Found> => {
  const free = await roomFor(dataDir);
  if (free === undefined) return ok(`the file system of ${dataDir} does not tell how much is free`);
  const found = free < NO_SPACE ? failed : free < LITTLE_SPACE ? warning : ok;
  return found(`${Math.floor(free / MEBIBYTE)} MiB free for ${dataDir}`);
};

const versions = (): readonly Finding[] => {
  const major = Number(process.versions.node.split('.')[0]);
  const detail = `program ${packageJson.version}, interface ${API_VERSION}, Node.js ${process.versions.node}`;
  return named('versions', major < OLDEST_NODE ? failed(detail) : ok(detail));
};

const readModels = async ({ generations }: Parts): Promise<Found> => {
  const number = await generations.serving();
  const damaged = (await generations.list())
    .filter(({ state }) => state === 'damaged')
    .map((one) => one.number);
  if (number === undefined)
    return damaged.length > 0
      ? failed(`generation ${damaged.join(', ')} is damaged: the service builds another`)
      : warning('none serves yet: the service builds them');
  if (damaged.length > 0)
    return warning(
      `generation ${number} serves; ${damaged.join(', ')} was damaged: look at the disk, then run receivables projections drop-old`,
    );
  await using generation = await generations.open(number);
  const places = await generation.places();
  const other = generations.projections.filter(
    ({ name, version }) => (places.get(name)?.version ?? version) !== version,
  );
  return other.length === 0
    ? ok(`generation ${number}`)
    : warning(
        `${other.map(({ name }) => name).join(', ')} of another version: run receivables projections rebuild`,
      );
};

/** Of the user of EVENTSTORE_URL. Commands work without the right to follow the log, and then everything behind them stands still. */
const rights = async (store: EventStoreDbStore): Promise<Found> => {
  const tried = await store.tryRights();
  const missing = tried.filter(({ failure }) => failure !== undefined);
  return missing.length === 0
    ? ok(`may ${tried.map(({ right }) => right).join(', ')}`)
    : failed(
        `${missing.map(({ right, failure }) => `${right}: ${failure}`).join('; ')}: docs/eventstoredb.md has the commands that give a user its rights`,
      );
};

/** Also one whose log this user may not follow. */
const answers = (store: EventStoreDbStore): Promise<boolean> =>
  store.head('doctor').then(
    () => true,
    () => false,
  );

const clock = async ({ serviceDatabase }: Parts): Promise<Found> => {
  const before = Date.now();
  const away = (await engineTime(serviceDatabase)) - before;
  const now = new Date(before).toISOString();
  return Math.abs(away) > CLOCK_TOLERANCE_MS
    ? failed(`${now}: ${away} ms away from the database's`)
    : ok(now);
};

/** From here on deliveries and vacuum feel it. */
const OLD_TRANSACTION_SECONDS = 300;

const transactions = async ({ serviceDatabase }: Parts): Promise<Found> => {
  const oldest = await oldestTransaction(serviceDatabase);
  if (!oldest) return [];
  const { seconds, seesAll } = oldest;
  const hidden = seesAll
    ? ''
    : '; those of other users are hidden: grant pg_monitor to the user of DATABASE_URL';
  return seconds > OLD_TRANSACTION_SECONDS
    ? warning(`one has been open for ${seconds} s and keeps dead rows: end it${hidden}`)
    : ok(`none is open for long${hidden}`);
};

const standby = async ({ serviceDatabase, configuration }: Parts): Promise<Found> => {
  const settings = await standbySettings(serviceDatabase);
  if (!settings) return [];
  const { environment, databaseFailover } = configuration;
  if (databaseFailover === 'managed') return ok('left to the provider of the database');
  if (!losesAtFailover(settings)) return ok(`synchronous: ${settings.standbys}`);
  return environment === 'production' ? warning(NO_STANDBY) : ok(NO_STANDBY);
};

/** The newest operations are those whose keys a fail-over loses. */
const NEWEST_OPERATIONS = 1_000;

const operationKeys = async (parts: Parts): Promise<Found> => {
  const { among, lost } = await lostKeys(parts, NEWEST_OPERATIONS);
  return lost.length === 0
    ? ok(`of the newest ${among.length} operations none is missing`)
    : failed(
        `${lost.length} of the newest ${among.length} operations have lost theirs, such as ${lost[0]}: see KeysMissing in docs/operations.md`,
      );
};

const documents = async (parts: Parts): Promise<Found> => {
  if (!parts.configuration.roles.includes('api')) return [];
  const { among, lost } = await lostDocuments(parts, await lostKeys(parts, NEWEST_LOOKED_AT));
  return lost.length === 0
    ? ok(`of the newest ${among.length} operations none is missing`)
    : failed(
        `those of ${lost.length} of the newest ${among.length} operations are missing, such as of ${lost[0]}: put them back; receivables audit verify --documents names all`,
      );
};

/** A finding for each thing that is not as it should be; nothing where events travel inside the process. */
const topicsOf = async ({ configuration, publication }: Parts): Promise<Found> => {
  if (!configuration.kafka) return [];
  const listed = await (await publication.topics()).list();
  const found = listed.flatMap(({ topic, problems }) =>
    problems.map(({ problem, command }) => warning(`${topic}: ${problem}; run ${command}`)),
  );
  const there = listed.filter(({ partitions }) => partitions > 0).length;
  return found.length > 0 ? found : ok(`${there} of ${listed.length} are there`);
};

const isOfMasterKey = (error: unknown): boolean =>
  error instanceof WrongMasterKeyError || error instanceof MasterKeyFileError;

/** What can only be looked at with the stores open. */
const opened = async (configuration: Configuration, logger: Logger): Promise<readonly Finding[]> => {
  try {
    const parts = partsOf(await openFoundations(configuration, logger));
    try {
      const { eventStore, maintenance, webhooks } = parts;
      const checks = await checkEngines(parts, ['api']);
      const runs = await look('service', async () => service(await findService(parts)));
      return [
        ...runs,
        ...named('master_key', ok('opens what is stored')),
        ...Object.entries(checks).flatMap(([name, state]) =>
          named(name, state === 'ok' ? ok('answers') : failed(state)),
        ),
        // Of one that does not answer it is not asked what it allows.
        ...(eventStore instanceof EventStoreDbStore &&
        (checks['event_store'] === 'ok' || (await answers(eventStore)))
          ? named('event_store_rights', await rights(eventStore))
          : []),
        ...(await look('topics', () => topicsOf(parts))),
        ...(await look('read_models', () => readModels(parts))),
        ...(await look('clock', () => clock(parts))),
        ...named('sandbox_clock', sandboxClock(parts)),
        ...(runs.every(({ state }) => state !== 'failed')
          ? [
              ...(await look('followers', () => followers(maintenance))),
              ...(await look('deliveries', () => waitingDeliveries(webhooks, parts.realClock.realNow()))),
            ]
          : []),
        ...(await look('quarantine', async () => quarantine(await maintenance.quarantine.streams()))),
        ...(await look('operation_keys', () => operationKeys(parts))),
        ...(await look('documents', () => documents(parts))),
        ...(await look('standby', () => standby(parts))),
        ...(await look('transactions', () => transactions(parts))),
      ];
    } finally {
      await parts.close();
    }
  } catch (error) {
    return named(isOfMasterKey(error) ? 'master_key' : 'engines', failed(messageOf(error)));
  }
};

/** What `receivables doctor` looks at; changes nothing, and makes nothing where there is no service. */
export const examine = async (
  environment: NodeJS.ProcessEnv,
  loggerOf: (configuration: Configuration) => Logger,
): Promise<readonly Finding[]> => {
  let configuration: Configuration;
  try {
    configuration = readConfiguration(environment);
  } catch (error) {
    return [...named('configuration', failed(messageOf(error))), ...versions()];
  }
  const place = await look('data_directory', () => dataDirectory(configuration));
  const found = [
    ...named('configuration', ok(`${configuration.environment}, roles ${configuration.roles.join(', ')}`)),
    ...versions(),
    ...place,
  ];
  if (place.some(({ state }) => state === 'failed')) return found;
  const files = configuration.engines.databaseUrl === undefined || configuration.engines.s3Url === undefined;
  return [
    ...found,
    ...(files
      ? [
          ...(await look('permissions', () => permissions(configuration))),
          ...(await look('disk', () => disk(configuration))),
        ]
      : []),
    ...(await opened(configuration, loggerOf(configuration))),
  ];
};
