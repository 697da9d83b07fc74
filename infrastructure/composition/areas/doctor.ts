import { access, constants, statfs } from 'node:fs/promises';
import type { Logger } from '../../../application/ports/logger.ts';
import { messageOf } from '../../../application/support/failures.ts';
import packageJson from '../../../package.json' with { type: 'json' };
import type { Finding } from '../../cli/cli-services.ts';
import { holderOfDirectory } from '../../embedded/directory-lock.ts';
import { EventStoreDbStore } from '../../eventstoredb/event-store-db-store.ts';
import { API_VERSION } from '../../http/openapi/version.ts';
import { WrongMasterKeyError } from '../../security/master-keys.ts';
import { engineTime } from '../../sql/coordination.ts';
import { withoutKey } from '../../sql/key-store.ts';
import {
  NO_STANDBY,
  losesAtFailover,
  oldestTransaction,
  standbySettings,
} from '../../sql/postgres-safety.ts';
import { SqlOperationStates } from '../../sql/read-models/operation-states.ts';
import { exposedFiles } from '../../support/private-files.ts';
import { readConfiguration } from '../configuration.ts';
import type { Configuration } from '../configuration.ts';
import { missingServiceData } from '../data-directory.ts';
import { openFoundations } from '../foundations.ts';
import type { Foundations } from '../foundations.ts';
import { isAllowed, refuseOpenEngines } from '../insecurities.ts';
import { checkEngines } from '../readiness.ts';
import { adapterArea } from './adapters.ts';
import { listTopics } from './topics.ts';

const MEBIBYTE = 1024 ** 2;
const LITTLE_SPACE = 1024 * MEBIBYTE;
const NO_SPACE = 100 * MEBIBYTE;
/** Clocks of several machines differ a little. */
const CLOCK_TOLERANCE_MS = 5_000;
const OLDEST_NODE = 24;

const finding = (check: string, state: Finding['state'], detail: string): Finding => ({
  check,
  state,
  detail,
});

/** A look that throws is a check that failed. */
const look = async (check: string, work: () => Promise<Finding> | Finding): Promise<Finding> => {
  try {
    return await work();
  } catch (error) {
    return finding(check, 'failed', messageOf(error));
  }
};

const dataDirectory = (configuration: Configuration): Finding => {
  const missing = missingServiceData(configuration);
  return missing === undefined
    ? finding('data_directory', 'ok', configuration.dataDir)
    : finding('data_directory', 'failed', missing);
};

const permissions = async (configuration: Configuration): Promise<Finding> => {
  const { dataDir } = configuration;
  await access(dataDir, constants.R_OK | constants.W_OK | constants.X_OK);
  const open = (await exposedFiles(dataDir))?.worst;
  if (open === undefined) return finding('permissions', 'ok', 'its owner alone reads what is in DATA_DIR');
  const state = isAllowed(configuration, 'files') ? 'warning' : 'failed';
  return finding('permissions', state, `others can read ${open}: run chmod -R go= ${dataDir}`);
};

const disk = async ({ dataDir }: Configuration): Promise<Finding> => {
  const { bavail, bsize } = await statfs(dataDir);
  const free = bavail * bsize;
  const detail = `${Math.floor(free / MEBIBYTE)} MiB free for ${dataDir}`;
  return finding('disk', free < NO_SPACE ? 'failed' : free < LITTLE_SPACE ? 'warning' : 'ok', detail);
};

const service = async ({ dataDir, engines }: Configuration): Promise<Finding> => {
  if (engines.databaseUrl !== undefined)
    return finding('service', 'ok', 'on shared engines: see receivables status');
  const holder = await holderOfDirectory(dataDir);
  return holder === undefined
    ? finding('service', 'warning', `no service runs on ${dataDir}`)
    : finding('service', 'ok', holder);
};

const versions = (): Finding => {
  const major = Number(process.versions.node.split('.')[0]);
  const detail = `program ${packageJson.version}, interface ${API_VERSION}, Node.js ${process.versions.node}`;
  return finding('versions', major < OLDEST_NODE ? 'failed' : 'ok', detail);
};

const readModels = async ({ engines: { generations, projections } }: Foundations): Promise<Finding> => {
  const number = await generations.serving();
  if (number === undefined)
    return finding('read_models', 'warning', 'none serves yet: the service builds them');
  const generation = await generations.open(number);
  try {
    const places = await generation.places();
    const other = projections.filter(
      ({ name, version }) => (places.get(name)?.version ?? version) !== version,
    );
    return other.length === 0
      ? finding('read_models', 'ok', `generation ${number}`)
      : finding(
          'read_models',
          'warning',
          `${other.map(({ name }) => name).join(', ')} of another version: run receivables projections rebuild`,
        );
  } finally {
    await generation.close();
  }
};

/** Of the user of EVENTSTORE_URL. Commands work without the right to follow the log, and then everything behind them stands still. */
const rights = async (store: EventStoreDbStore): Promise<Finding> => {
  const tried = await store.tryRights();
  const missing = tried.filter(({ failure }) => failure !== undefined);
  const check = 'event_store_rights';
  return missing.length === 0
    ? finding(check, 'ok', `may ${tried.map(({ right }) => right).join(', ')}`)
    : finding(
        check,
        'failed',
        `${missing.map(({ right, failure }) => `${right}: ${failure}`).join('; ')}: docs/eventstoredb.md has the commands that give a user its rights`,
      );
};

const clock = async ({ engines }: Foundations): Promise<Finding> => {
  const before = Date.now();
  const away = (await engineTime(engines.serviceDatabase)) - before;
  const off = Math.abs(away) > CLOCK_TOLERANCE_MS;
  const now = new Date(before).toISOString();
  return finding('clock', off ? 'failed' : 'ok', off ? `${now}: ${away} ms away from the database's` : now);
};

/** From here on deliveries and vacuum feel it. */
const OLD_TRANSACTION_SECONDS = 300;

const transactions = async ({ engines }: Foundations): Promise<readonly Finding[]> => {
  const oldest = await oldestTransaction(engines.serviceDatabase);
  if (!oldest) return [];
  const { seconds, seesAll } = oldest;
  const hidden = seesAll
    ? ''
    : '; those of other users are hidden: grant pg_monitor to the user of DATABASE_URL';
  return seconds > OLD_TRANSACTION_SECONDS
    ? [
        finding(
          'transactions',
          'warning',
          `one has been open for ${seconds} s and keeps dead rows: end it${hidden}`,
        ),
      ]
    : [finding('transactions', 'ok', `none is open for long${hidden}`)];
};

const standby = async ({ engines, configuration }: Foundations): Promise<readonly Finding[]> => {
  const settings = await standbySettings(engines.serviceDatabase);
  if (!settings) return [];
  const { environment, databaseFailover } = configuration;
  if (databaseFailover === 'managed')
    return [finding('standby', 'ok', 'left to the provider of the database')];
  if (!losesAtFailover(settings)) return [finding('standby', 'ok', `synchronous: ${settings.standbys}`)];
  return [finding('standby', environment === 'production' ? 'warning' : 'ok', NO_STANDBY)];
};

/** The newest operations are those whose keys a fail-over loses. */
const NEWEST_OPERATIONS = 1_000;

const operationKeys = async ({ engines }: Foundations): Promise<Finding> => {
  const streams = await new SqlOperationStates(engines.readModelDatabase).newestWithBorrower(
    NEWEST_OPERATIONS,
  );
  const missing = await withoutKey(engines.serviceDatabase, streams);
  return missing.length === 0
    ? finding('operation_keys', 'ok', `of the newest ${streams.length} operations none is missing`)
    : finding(
        'operation_keys',
        'failed',
        `${missing.length} of the newest ${streams.length} operations have lost theirs, such as ${missing[0]}: see KeysMissing in docs/operations.md`,
      );
};

/** A finding for each thing that is not as it should be; nothing where events travel inside the process. */
const topics = async (foundations: Foundations): Promise<readonly Finding[]> => {
  if (!foundations.configuration.kafka) return [];
  const listed = await listTopics(foundations);
  const found = listed.flatMap(({ topic, problems }) =>
    problems.map(({ problem, command }) =>
      finding('topics', 'warning', `${topic}: ${problem}; run ${command}`),
    ),
  );
  const there = listed.filter(({ partitions }) => partitions > 0).length;
  return found.length > 0 ? found : [finding('topics', 'ok', `${there} of ${listed.length} are there`)];
};

/** Several findings, or one that says why there are none. */
const lookAll = async (
  check: string,
  work: () => Promise<readonly Finding[]>,
): Promise<readonly Finding[]> => {
  try {
    return await work();
  } catch (error) {
    return [finding(check, 'failed', messageOf(error))];
  }
};

/** What can only be looked at with the stores open. */
const opened = async (configuration: Configuration, logger: Logger): Promise<readonly Finding[]> => {
  try {
    const foundations = await openFoundations(configuration, logger);
    try {
      const checks = await checkEngines(adapterArea(foundations), ['api']);
      return [
        finding('master_key', 'ok', 'opens what is stored'),
        ...Object.entries(checks).map(([name, state]) =>
          finding(name, state === 'ok' ? 'ok' : 'failed', state === 'ok' ? 'answers' : state),
        ),
        ...(foundations.engines.eventStore instanceof EventStoreDbStore
          ? [await rights(foundations.engines.eventStore)]
          : []),
        ...(await lookAll('topics', () => topics(foundations))),
        await look('read_models', () => readModels(foundations)),
        await look('clock', () => clock(foundations)),
        await look('operation_keys', () => operationKeys(foundations)),
        ...(await lookAll('standby', () => standby(foundations))),
        ...(await lookAll('transactions', () => transactions(foundations))),
      ];
    } finally {
      await foundations.engines.close();
    }
  } catch (error) {
    return [
      finding(error instanceof WrongMasterKeyError ? 'master_key' : 'engines', 'failed', messageOf(error)),
    ];
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
    refuseOpenEngines(configuration);
  } catch (error) {
    return [finding('configuration', 'failed', messageOf(error)), versions()];
  }
  const place = dataDirectory(configuration);
  const found = [
    finding('configuration', 'ok', `${configuration.environment}, roles ${configuration.roles.join(', ')}`),
    versions(),
    place,
  ];
  if (place.state === 'failed') return found;
  const files = configuration.engines.databaseUrl === undefined || configuration.engines.s3Url === undefined;
  return [
    ...found,
    ...(files
      ? [
          await look('permissions', () => permissions(configuration)),
          await look('disk', () => disk(configuration)),
        ]
      : []),
    await look('service', () => service(configuration)),
    ...(await opened(configuration, loggerOf(configuration))),
  ];
};
