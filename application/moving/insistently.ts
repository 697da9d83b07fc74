import { BusyError } from '../ports/busy-error.ts';
import { OutcomeUnknownError, StoreUnavailableError } from '../ports/event-store.ts';

const PAUSES_MS = [50, 200, 500, 1_000, 2_000, 5_000, 10_000];

const mayPass = (error: unknown): boolean =>
  error instanceof StoreUnavailableError ||
  error instanceof OutcomeUnknownError ||
  error instanceof BusyError;

/**
 * Does it again while an engine is away or does not say what it did, for about twenty seconds. Only for what may be done twice.
 * @throws what the last try met
 */
export const insistently = async <Result>(
  work: () => Promise<Result>,
  pause: (ms: number) => Promise<void>,
): Promise<Result> => {
  for (let attempt = 0; ; attempt++) {
    try {
      return await work();
    } catch (error) {
      const ms = PAUSES_MS[attempt];
      if (ms === undefined || !mayPass(error)) throw error;
      await pause(ms);
    }
  }
};
