import type { Logger } from '../../application/ports/logger.ts';
import type { Configuration } from './configuration.ts';
import { openFoundations } from './foundations.ts';
import { FrontDoor } from './front-door.ts';
import { StartAbandonedError, waiting } from './patience.ts';
import { refuseSplitRoles } from './role-rules.ts';
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
  signal: AbortSignal,
): Promise<RunningService> => {
  refuseSplitRoles(configuration);
  const door = await FrontDoor.open(configuration);
  try {
    const patience = waiting({ logger, signal, onWaiting: (what) => door.waitFor(what) });
    return await startService(await openFoundations(configuration, logger, patience), door);
  } catch (error) {
    await door.close(0);
    throw error;
  }
};

/** Starts the service and waits for engines that are away, however long; `stop` ends the service or the waiting. */
export const startUp = (configuration: Configuration, logger: Logger): StartUp => {
  const stopping = new AbortController();
  const running = start(configuration, logger, stopping.signal);
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
