import type { Worker } from 'node:worker_threads';
import { randomUUID } from 'node:crypto';
import { StoreUnavailableError } from '../../application/ports/event-store.ts';
import type { Logger } from '../../application/ports/logger.ts';
import { holderOfDirectory, inUseBy } from '../embedded/directory-lock.ts';
import { HttpListener } from '../http/server/http-server.ts';
import { createLogger } from '../observability/logging.ts';
import { MasterKeyFileError } from '../security/master-key.ts';
import { WrongMasterKeyError } from '../security/master-keys.ts';
import { onInterruption } from '../support/interruptions.ts';
import { PRIVATE_UMASK } from '../support/private-files.ts';
import { readServiceConfiguration } from './configuration.ts';
import type { Configuration } from './configuration.ts';
import { keepPrivate } from './data-directory.ts';
import { troubleWith } from './data-parts.ts';
import { keepsFiles } from './engines.ts';
import { ConfigurationError } from './environment-reader.ts';
import { openFoundations } from './foundations.ts';
import { isLoopback } from './insecurities.ts';
import { tellLostParts } from './lost-parts.ts';
import { StartAbandonedError, retryUntilAvailable } from './start-retry.ts';
import { startService } from './service.ts';
import type { Clients } from '../../application/clients/clients.ts';
import type { Parts } from './parts.ts';

type CreatedClient = Awaited<ReturnType<Clients['create']>>;

/** A first call that can be pasted as it is: it asks for a token and assigns an operation with a small PDF made on the spot. */
const firstCall = (
  { publicUrl, authUrl }: Configuration,
  { clientId, clientSecret, fundIds }: CreatedClient,
): string => `
  TOKEN=$(curl -s ${authUrl}/token -d grant_type=client_credentials -d client_id=${clientId} -d client_secret=${clientSecret} | sed 's/.*"access_token":"\\([^"]*\\).*/\\1/')
  printf '%%PDF-1.4\\n%%%%EOF\\n' > ccb.pdf
  curl -s ${publicUrl}/loan -H "Authorization: Bearer $TOKEN" -F 'files=@ccb.pdf;type=application/pdf' -F 'loan_data={"fund_id":"${fundIds[0]}","originator_proposal_code":"FIRST-1","product_type":"financing","acquisition_value":900.00,"number_of_installments":1,"date_issued":"2026-01-15","borrower":{"document_number":"52998224725","document_type":"CPF","name":"Ana Souza","birth_date":"1990-05-20","address":{"zip_code":"01310100","street":"Avenida Paulista","number":"1000","city":"Sao Paulo","state":"SP"}},"installments":[{"code":"001","due_date":"2027-01-15","face_value":1000.00}],"backing_documents":[{"type":"ccb","value":"ccb.pdf"}]}'
  curl -s ${publicUrl}/loan/FIRST-1 -H "Authorization: Bearer $TOKEN"
`;

const TAKES_AT_MOST_MS = 10_000;

/** Of several processes that start at once on one store, only one makes the client. */
const createOnce = async ({ leases, clients }: Parts): Promise<CreatedClient | undefined> => {
  if ((await clients.list()).length > 0) return undefined;
  const lease = await leases.acquire('demo client', randomUUID(), TAKES_AT_MOST_MS);
  if (!lease) return undefined;
  try {
    if ((await clients.list()).length > 0) return undefined;
    return await clients.create({ name: 'demo', fundIds: [randomUUID()] });
  } finally {
    await leases.release(lease);
  }
};

/** The first start of an empty sandbox makes a client for trying out and prints how. Never in production. */
const announceDemoClient = async (parts: Parts): Promise<void> => {
  const { configuration } = parts;
  if (configuration.environment !== 'sandbox' || !configuration.roles.includes('api')) return;
  const client = await createOnce(parts);
  if (!client) return;
  const { clientId, clientSecret, fundIds } = client;
  const text =
    `\nA client to try this sandbox with (shown once):\n  client_id      ${clientId}\n  client_secret  ${clientSecret}\n` +
    `  fund_id        ${fundIds[0]}\n\nThe reference: ${configuration.publicUrl}/docs\n\nA first call:\n${firstCall(configuration, client)}\n`;
  // Where nobody can read it the service serves all the same.
  process.stdout.once('error', () => undefined).write(text);
};

/** A second service on a directory has mostly the port of the first as well: then it is told whose directory that is. */
const listen = async (configuration: Configuration, logger: Logger): Promise<HttpListener> => {
  try {
    return await HttpListener.open(configuration, logger);
  } catch (error) {
    const { dataDir } = configuration;
    const holder = keepsFiles(configuration) ? await holderOfDirectory(dataDir) : undefined;
    throw holder === undefined ? error : new ConfigurationError(inUseBy(dataDir, holder));
  }
};

const start = async (
  configuration: Configuration,
  logger: Logger,
  { signal, worker }: { readonly signal: AbortSignal; readonly worker: Worker | undefined },
) => {
  await keepPrivate(configuration, logger);
  const listener = await listen(configuration, logger);
  try {
    const retry = retryUntilAvailable({ logger, signal, onWaiting: (what) => listener.waitFor(what) });
    const foundations = await openFoundations(configuration, logger, { retry, part: 'service' });
    return await startService(foundations, { listener, background: 'thread', worker });
  } catch (error) {
    await listener.close(0);
    throw signal.aborted ? new StartAbandonedError('stopped before it was ready', { cause: error }) : error;
  }
};

/**
 * Starts the service and waits for engines that are away, however long; `stop` ends the service or the waiting.
 * @param worker for the background thread, where it has begun to load
 * @returns `running` rejects with StartAbandonedError when it was stopped before it came to its end
 */
export const startUp = (configuration: Configuration, logger: Logger, worker?: Worker) => {
  const stopping = new AbortController();
  const running = start(configuration, logger, { signal: stopping.signal, worker });
  return {
    running,
    stop: async (): Promise<void> => {
      stopping.abort();
      try {
        await (await running).stop();
      } catch (error) {
        if (!(error instanceof StartAbandonedError)) throw error;
      }
    },
  };
};

const STOP_WITHIN_MS = 9_500;

/**
 * Ends this process in order: with 0 when a signal asks for it, with 1 after an error that nothing caught. Such an error leaves
 * behind what it was in the middle of, so the process answers what it has begun and makes room for a new one; events are
 * durable, and what was interrupted goes on after the next start.
 */
const endInOrder = (stop: () => Promise<void>, logger: Logger): void => {
  let ending = false;
  const end = (exitCode: number): void => {
    if (ending) return;
    ending = true;
    setTimeout(() => process.exit(1), STOP_WITHIN_MS).unref();
    stop()
      .then(() => process.exit(exitCode))
      .catch((error: unknown) => {
        logger.error({ err: error }, 'could not stop in order');
        process.exit(1);
      });
  };
  onInterruption({
    first: (signal) => {
      if (ending) process.exit(1);
      logger.info({ signal }, 'stopping; a second signal stops at once');
      end(0);
    },
    again: () => process.exit(1),
  });
  // Rejections that nothing handles arrive here, too; `origin` tells them apart.
  process.on('uncaughtException', (error, origin) => {
    logger.error(
      { err: error, origin },
      'an error that nothing caught; this process ends in order with code 1',
    );
    end(1);
  });
};

const announceStart = (configuration: Configuration, logger: Logger): void => {
  const { environment, roles, host, port, publicUrl, dataDir } = configuration;
  logger.info(
    {
      ...{ environment, roles, host, port },
      ...(roles.includes('api') && { reference: `${publicUrl}/docs` }),
      data: dataDir,
    },
    'ready',
  );
  if (environment === 'sandbox' && isLoopback(host))
    logger.info({ host }, 'this sandbox listens on this machine only; HOST=0.0.0.0 opens it to others');
};

const run = async (worker: Worker | undefined): Promise<void> => {
  const configuration = readServiceConfiguration(process.env);
  const logger = createLogger(configuration.logLevel);
  const service = startUp(configuration, logger, worker);
  endInOrder(service.stop, logger);
  const { parts } = await service.running;
  announceStart(configuration, logger);
  await announceDemoClient(parts).catch((error: unknown) => {
    logger.warn({ err: error }, 'no client to try the sandbox with could be made; `client create` makes one');
  });
  // An engine that is away is told elsewhere.
  await tellLostParts(parts).catch((err: unknown) =>
    logger.debug({ err }, 'not all parts could be looked at'),
  );
};

const isOneLine = (error: unknown): error is Error =>
  error instanceof ConfigurationError ||
  error instanceof WrongMasterKeyError ||
  error instanceof MasterKeyFileError ||
  error instanceof StoreUnavailableError;

const isSystemError = (error: unknown): error is NodeJS.ErrnoException =>
  error instanceof Error && 'syscall' in error;

const textOf = (error: unknown): string => {
  if (isOneLine(error)) return error.message;
  if (isSystemError(error) && ['listen', 'getaddrinfo'].includes(error.syscall ?? ''))
    return `HOST and PORT cannot be listened on: ${error.message}`;
  if (isSystemError(error) && error.path !== undefined) return troubleWith(error);
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
};

/** The whole life of the process. @param worker for the background thread, where it has begun to load */
export const runService = async (worker: Worker | undefined): Promise<void> => {
  process.umask(PRIVATE_UMASK);
  try {
    await run(worker);
  } catch (error) {
    // The signal handler that stopped it ends the process.
    if (error instanceof StartAbandonedError) return;
    process.stderr.write(`${textOf(error)}\n`);
    process.exit(1);
  }
};
