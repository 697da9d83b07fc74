import { DamagedStoreError } from '../../application/ports/event-store.ts';
import type { OutcomeUnknownError, StoreUnavailableError } from '../../application/ports/event-store.ts';
import type { Logger } from '../../application/ports/logger.ts';
import { messageOf } from '../../application/support/failures.ts';
import { Outage, mayPass } from '../../application/support/retry.ts';
import { pause } from '../support/time.ts';
import type { Configuration } from './configuration.ts';
import { RESTORE } from './data-parts.ts';
import { ConfigurationError } from './environment-reader.ts';

/** Tries a step of the start again while its engine is away. */
export interface StartRetry {
  /** Aborted when the start is called off. */
  readonly signal: AbortSignal;
  /** @param what names the engine in the log and in the readiness check */
  until<T>(what: string, attempt: () => Promise<T>): Promise<T>;
}

/** For commands of an operator, which fail at once. */
export const noRetry: StartRetry = {
  signal: new AbortController().signal,
  until: (_what, attempt) => attempt(),
};

const fileTrouble = (error: unknown): StoreUnavailableError | OutcomeUnknownError | undefined => {
  if (mayPass(error)) return error;
  return error instanceof Error && error.cause !== undefined ? fileTrouble(error.cause) : undefined;
};

/** For files, which do not come back by waiting: what keeps one from being used ends the start in one line. */
const fromFiles = (dataDir: string, signal: AbortSignal): StartRetry => ({
  signal,
  until: async (what, attempt) => {
    try {
      return await attempt();
    } catch (error) {
      const trouble = fileTrouble(error);
      if (trouble === undefined || error instanceof ConfigurationError) throw error;
      const message = messageOf(trouble);
      const line = message.includes(dataDir) ? message : `${dataDir}: ${what} cannot be used: ${message}`;
      const isDamaged = trouble instanceof DamagedStoreError;
      throw new ConfigurationError(isDamaged ? `${line}: keep it aside, and ${RESTORE}` : line, {
        cause: error,
      });
    }
  },
});

/** Engines elsewhere come back; files do not. */
export const retriesOf = ({ engines, dataDir }: Configuration, retry: StartRetry) => {
  const ofFiles = fromFiles(dataDir, retry.signal);
  return {
    ofFiles,
    ofLog: engines.eventStoreUrl === undefined ? ofFiles : retry,
    ofDatabase: engines.databaseUrl === undefined ? ofFiles : retry,
  };
};

export class StartAbandonedError extends Error {
  override readonly name = 'StartAbandonedError';
}

const NETWORK_CODES = new Set([
  ...['ECONNREFUSED', 'ECONNRESET', 'ENOTFOUND', 'EAI_AGAIN', 'ETIMEDOUT', 'EHOSTUNREACH', 'ENETUNREACH'],
  ...['EPIPE', 'ECONNABORTED'],
]);

/** Whether an engine cannot be reached now; any other error would come again. */
const isAway = (error: unknown): boolean => {
  if (error instanceof ConfigurationError || error instanceof DamagedStoreError) return false;
  if (mayPass(error)) return true;
  if (!(error instanceof Error)) return false;
  const { code } = error as { readonly code?: unknown };
  return (typeof code === 'string' && NETWORK_CODES.has(code)) || isAway(error.cause);
};

interface StartRetryOptions {
  readonly logger: Logger;
  readonly signal: AbortSignal;
  /** Called with what is waited for, and with undefined when it is there. */
  readonly onWaiting: (what: string | undefined) => void;
}

/** For the service, which waits for its engines however long: they need not be started before it. */
export const retryUntilAvailable = ({ logger, signal, onWaiting }: StartRetryOptions): StartRetry => ({
  signal,
  until: async (what, attempt) => {
    const outage = new Outage({ logger, what: `start: ${what}`, firstPauseMs: 250, longestPauseMs: 2_000 });
    for (;;) {
      try {
        const result = await attempt();
        outage.over();
        onWaiting(undefined);
        return result;
      } catch (error) {
        if (!isAway(error)) throw error;
        onWaiting(what);
        await pause(outage.failed(error), signal);
        if (signal.aborted) throw new StartAbandonedError(`stopped while waiting for ${what}`);
      }
    }
  },
});
