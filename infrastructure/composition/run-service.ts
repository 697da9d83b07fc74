import type { Worker } from 'node:worker_threads';
import type { Logger } from '../../application/ports/logger.ts';
import { createLogger } from '../observability/logging.ts';
import { WrongMasterKeyError } from '../security/master-keys.ts';
import { PRIVATE_UMASK } from '../support/private-files.ts';
import { readServiceConfiguration } from './configuration.ts';
import type { Configuration } from './configuration.ts';
import { announceDemoClient } from './demo-client.ts';
import { ConfigurationError } from './environment-reader.ts';
import { isLoopback } from './insecurities.ts';
import { endInOrder } from './orderly-end.ts';
import { StartAbandonedError } from './patience.ts';
import { startUp } from './start-up.ts';

/** Where everything is: the reference, the metrics, the data. */
const announceStart = (configuration: Configuration, logger: Logger): void => {
  const { environment, roles, host, port, publicUrl, metrics, dataDir } = configuration;
  logger.info(
    {
      ...{ environment, roles, host, port },
      ...(roles.includes('api') && { reference: `${publicUrl}/docs` }),
      metrics: metrics ? `http://${metrics.host}:${metrics.port}/metrics` : 'off',
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
  endInOrder(service, logger);
  const { container } = await service.running;
  announceStart(configuration, logger);
  await announceDemoClient(container, configuration).catch((error: unknown) => {
    logger.warn({ err: error }, 'no client to try the sandbox with could be made; `client create` makes one');
  });
};

const isSystemError = (error: unknown): error is NodeJS.ErrnoException =>
  error instanceof Error && 'syscall' in error;

const textOf = (error: unknown): string => {
  if (error instanceof ConfigurationError || error instanceof WrongMasterKeyError) return error.message;
  if (isSystemError(error) && ['listen', 'getaddrinfo'].includes(error.syscall ?? ''))
    return `HOST and PORT cannot be listened on: ${error.message}`;
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
};

/** The whole life of the process. @param worker for the background thread, where it has begun to load */
export const runService = async (worker: Worker | undefined): Promise<void> => {
  process.umask(PRIVATE_UMASK);
  try {
    await run(worker);
  } catch (error) {
    // Whoever stopped it ends the process.
    if (error instanceof StartAbandonedError) return;
    process.stderr.write(`${textOf(error)}\n`);
    process.exit(1);
  }
};
