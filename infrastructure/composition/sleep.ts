import { setTimeout as wait } from 'node:timers/promises';

/** Resolves after so many milliseconds, or at once when the signal ends. */
export const sleep = async (ms: number, signal?: AbortSignal): Promise<void> => {
  try {
    await wait(ms, undefined, signal ? { signal } : {});
  } catch (error) {
    if (!signal?.aborted) throw error;
  }
};
