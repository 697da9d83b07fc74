import type { Logger } from '../../application/ports/logger.ts';
import { announceDemoClient } from './demo-client.ts';
import { readConfiguration } from './configuration.ts';
import { ConfigurationError } from './environment-reader.ts';
import { createLogger } from './logging.ts';
import { StartAbandonedError } from './patience.ts';
import { startUp } from './start-up.ts';
import type { StartUp } from './start-up.ts';
import { WrongMasterKeyError } from '../security/master-key-check.ts';

const STOP_WITHIN_MS = 9_500;

const stopOnSignals = (service: StartUp, logger: Logger): void => {
  let stopping = false;
  const onSignal = (signal: NodeJS.Signals): void => {
    if (stopping) process.exit(1);
    stopping = true;
    logger.info({ signal }, 'stopping; a second signal stops at once');
    setTimeout(() => process.exit(1), STOP_WITHIN_MS).unref();
    service
      .stop()
      .then(() => process.exit(0))
      .catch((error: unknown) => {
        logger.error({ err: error }, 'could not stop in order');
        process.exit(1);
      });
  };
  process.on('SIGTERM', onSignal);
  process.on('SIGINT', onSignal);
};

const run = async (): Promise<void> => {
  const configuration = readConfiguration(process.env);
  const logger = createLogger(configuration.logLevel);
  const service = startUp(configuration, logger);
  stopOnSignals(service, logger);
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

run().catch((error: unknown) => {
  // Whoever stopped it ends the process.
  if (error instanceof StartAbandonedError) return;
  process.stderr.write(`${textOf(error)}\n`);
  process.exit(1);
});
