import type { Worker } from 'node:worker_threads';
import type { Logger } from '../../application/ports/logger.ts';
import type { Configuration } from './configuration.ts';
import { openFoundations } from './foundations.ts';
import { HttpListener } from '../http/server/http-listener.ts';
import { refuseOpenEngines } from './insecurities.ts';
import { StartAbandonedError, waiting } from './patience.ts';
import { keepPrivate } from './data-directory.ts';
import { refuseSplitRoles } from './configuration.ts';
import { startService } from './service.ts';
import type { RunningService } from './service.ts';

export interface StartUp {
  /** Rejects with StartAbandonedError when it was stopped before it came to its end. */
  readonly running: Promise<RunningService>;
  stop(): Promise<void>;
}

const start = async (
  configuration: Configuration,
  logger: Logger,
  { signal, worker }: { readonly signal: AbortSignal; readonly worker: Worker | undefined },
): Promise<RunningService> => {
  refuseSplitRoles(configuration);
  refuseOpenEngines(configuration);
  await keepPrivate(configuration, logger);
  const door = await HttpListener.open(configuration, logger);
  try {
    const patience = waiting({ logger, signal, onWaiting: (what) => door.waitFor(what) });
    const foundations = await openFoundations(configuration, logger, { patience, part: 'service' });
    return await startService(foundations, { door, background: 'thread', worker });
  } catch (error) {
    await door.close(0);
    throw signal.aborted ? new StartAbandonedError('stopped before it was ready', { cause: error }) : error;
  }
};

/**
 * Starts the service and waits for engines that are away, however long; `stop` ends the service or the waiting.
 * @param worker for the background thread, where it has begun to load
 */
export const startUp = (configuration: Configuration, logger: Logger, worker?: Worker): StartUp => {
  const stopping = new AbortController();
  const running = start(configuration, logger, { signal: stopping.signal, worker });
  return {
    running,
    stop: async () => {
      stopping.abort();
      try {
        await (await running).stop();
      } catch (error) {
        if (!(error instanceof StartAbandonedError)) throw error;
      }
    },
  };
};
