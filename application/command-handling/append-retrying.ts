import { OutcomeUnknownError } from '../ports/event-store.ts';
import type { AppendResult } from '../ports/event-store.ts';

const UNKNOWN_OUTCOME_PAUSES_MS = [20, 100, 400, 1_500];
/** A store that swallows everything costs its time-out with every try: whoever asked should hear before they give up themselves. */
const GIVE_UP_AFTER_MS = 8_000;

/**
 * Sends the very same append again while nobody knows what became of it: with the same ids and revision, the store answers a
 * repeated append with its first result.
 *
 * @throws OutcomeUnknownError when it is still unknown after the last try, and whatever else the store raises
 */
export const appendRetrying = async (
  append: () => Promise<AppendResult>,
  pause: (ms: number) => Promise<void>,
): Promise<AppendResult> => {
  const begun = performance.now();
  for (let attempt = 0; ; attempt++) {
    try {
      return await append();
    } catch (error) {
      const wait = UNKNOWN_OUTCOME_PAUSES_MS[attempt];
      if (!(error instanceof OutcomeUnknownError) || wait === undefined) throw error;
      if (performance.now() - begun > GIVE_UP_AFTER_MS) throw error;
      await pause(wait);
    }
  }
};
