import { OutcomeUnknownError, StoreUnavailableError } from '../../application/ports/event-store.ts';
import type { Logger } from '../../application/ports/logger.ts';
import { Outage } from '../../application/support/outage.ts';
import { pause } from '../support/time.ts';

/** What to do with a step of the start that fails because an engine is away. */
export interface Patience {
  /** Aborted when the start is called off. */
  readonly signal: AbortSignal;
  /** @param what names the engine in the log and in the readiness check */
  until<T>(what: string, attempt: () => Promise<T>): Promise<T>;
}

/** A command of an operator fails at once. */
export const impatient: Patience = {
  signal: new AbortController().signal,
  until: (_what, attempt) => attempt(),
};

/** The start was called off before it came to its end. */
export class StartAbandonedError extends Error {
  override readonly name = 'StartAbandonedError';
}

const NETWORK_CODES = new Set([
  ...['ECONNREFUSED', 'ECONNRESET', 'ENOTFOUND', 'EAI_AGAIN', 'ETIMEDOUT', 'EHOSTUNREACH', 'ENETUNREACH'],
  ...['EPIPE', 'ECONNABORTED'],
]);

/** An engine that cannot be reached now; whatever else fails would fail again. */
const isAway = (error: unknown): boolean => {
  if (error instanceof StoreUnavailableError || error instanceof OutcomeUnknownError) return true;
  if (!(error instanceof Error)) return false;
  const { code } = error as { readonly code?: unknown };
  return (typeof code === 'string' && NETWORK_CODES.has(code)) || isAway(error.cause);
};

export interface WaitingOptions {
  readonly logger: Logger;
  /** Calls the start off. */
  readonly signal: AbortSignal;
  /** Told what is waited for; undefined when it is there. */
  readonly onWaiting: (what: string | undefined) => void;
}

/** A service waits for its engines: whoever starts it need not start them in order. */
export const waiting = ({ logger, signal, onWaiting }: WaitingOptions): Patience => ({
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
