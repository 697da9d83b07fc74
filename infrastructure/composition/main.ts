import type { Logger } from '../../application/ports/logger.ts';
import { announceDemoClient } from './demo-client.ts';
import { readConfiguration } from './configuration.ts';
import { ConfigurationError } from './environment-reader.ts';
import { openFoundations } from './foundations.ts';
import { createLogger } from './logging.ts';
import { startService } from './service.ts';
import type { RunningService } from './service.ts';
import { WrongMasterKeyError } from '../security/master-key-check.ts';

const STOP_WITHIN_MS = 9_500;

const stopOnSignals = (service: Promise<RunningService>, logger: Logger): void => {
  let stopping = false;
  const onSignal = (signal: NodeJS.Signals): void => {
    if (stopping) process.exit(1);
    stopping = true;
    logger.info({ signal }, 'stopping; a second signal stops at once');
    setTimeout(() => process.exit(1), STOP_WITHIN_MS).unref();
    service
      .then((running) => running.stop())
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
  const starting = openFoundations(configuration, logger).then(startService);
  stopOnSignals(starting, logger);
  const { container } = await starting;
  const { environment, roles, host, port } = configuration;
  logger.info({ environment, roles, host, port }, 'ready');
  await announceDemoClient(container, configuration);
};

const textOf = (error: unknown): string => {
  if (error instanceof ConfigurationError || error instanceof WrongMasterKeyError) return error.message;
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
};

run().catch((error: unknown) => {
  process.stderr.write(`${textOf(error)}\n`);
  process.exit(1);
});
