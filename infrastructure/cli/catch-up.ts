import type { Runner } from '../../application/processors/runner.ts';
import { pause } from '../support/time.ts';

const LOOK_EVERY_MS = 20;
/** What it needs may be away for a moment; a command does not wait for longer. */
const WITHOUT_PROGRESS_MS = 15_000;

/**
 * Lets a read model take in everything that is stored now. A service that runs beside the command does the same work; each batch is
 * stored by the faster of the two. @throws Error when an event cannot be projected, or the stores stay away
 */
export const catchUp = async (projector: Pick<Runner<never>, 'start' | 'stop' | 'status'>): Promise<void> => {
  projector.start();
  try {
    for (let waited = 0; ; waited += LOOK_EVERY_MS) {
      const { name, state, caughtUp, lastError } = projector.status();
      if (caughtUp) return;
      if (state === 'running') waited = 0;
      if (state === 'halted' || waited > WITHOUT_PROGRESS_MS)
        throw new Error(`the read model ${name} is behind, ${state}: ${lastError ?? 'no reason known'}`);
      await pause(LOOK_EVERY_MS);
    }
  } finally {
    await projector.stop();
  }
};
