import type { Logger } from '../../application/ports/logger.ts';
import type { StartUp } from './start-up.ts';

const STOP_WITHIN_MS = 9_500;

/**
 * Ends this process in order: with 0 when a signal asks for it, with 1 after an error that nothing caught. Such an error leaves
 * behind what it was in the middle of, so the process answers what it has begun and makes room for a new one; events are
 * durable, and what was interrupted goes on after the next start.
 */
export const endInOrder = (service: StartUp, logger: Logger): void => {
  let ending = false;
  const end = (exitCode: number): void => {
    if (ending) return;
    ending = true;
    setTimeout(() => process.exit(1), STOP_WITHIN_MS).unref();
    service
      .stop()
      .then(() => process.exit(exitCode))
      .catch((error: unknown) => {
        logger.error({ err: error }, 'could not stop in order');
        process.exit(1);
      });
  };
  const onSignal = (signal: NodeJS.Signals): void => {
    if (ending) process.exit(1);
    logger.info({ signal }, 'stopping; a second signal stops at once');
    end(0);
  };
  process.on('SIGTERM', onSignal);
  process.on('SIGINT', onSignal);
  // Rejections that nothing handles arrive here, too; `origin` tells them apart.
  process.on('uncaughtException', (error, origin) => {
    logger.error(
      { err: error, origin },
      'an error that nothing caught; this process ends in order with code 1',
    );
    end(1);
  });
};
