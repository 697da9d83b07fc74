import type { Worker } from 'node:worker_threads';
import { announceDemoClient } from './demo-client.ts';
import { readServiceConfiguration } from './configuration.ts';
import { ConfigurationError } from './environment-reader.ts';
import { endInOrder } from './orderly-end.ts';
import { createLogger } from './logging.ts';
import { StartAbandonedError } from './patience.ts';
import { PRIVATE_UMASK } from './private-files.ts';
import { startUp } from './start-up.ts';
import { WrongMasterKeyError } from '../security/master-keys.ts';

const run = async (worker: Worker | undefined): Promise<void> => {
  const configuration = readServiceConfiguration(process.env);
  const logger = createLogger(configuration.logLevel);
  const service = startUp(configuration, logger, worker);
  endInOrder(service, logger);
  const { container } = await service.running;
  const { environment, roles, host, port } = configuration;
  logger.info({ environment, roles, host, port }, 'ready');
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
