import type { ProjectorStatus } from '../../projections/engine/projector.ts';
import { sleep } from './sleep.ts';

const LOOK_EVERY_MS = 20;
/** What it needs may be away for a moment; a command does not wait for longer. */
const PATIENCE_MS = 15_000;

/** A projector, as far as a command needs it. */
export interface Followable {
  start(): void;
  stop(): Promise<void>;
  status(): ProjectorStatus;
}

/**
 * Lets a read model take in everything that is stored now. A service that runs beside it does the same work, and whoever is faster
 * at a batch stores it. @throws Error when an event cannot be projected, or the stores stay away
 */
export const catchUp = async (projector: Followable): Promise<void> => {
  const stopping = new AbortController();
  projector.start();
  try {
    for (let waited = 0; ; waited += LOOK_EVERY_MS) {
      const { projection, state, caughtUp, lastError } = projector.status();
      if (caughtUp) return;
      if (state === 'running') waited = 0;
      if (state === 'halted' || waited > PATIENCE_MS)
        throw new Error(
          `the read model ${projection} is behind, ${state}: ${lastError ?? 'no reason known'}`,
        );
      await sleep(LOOK_EVERY_MS, stopping.signal);
    }
  } finally {
    await projector.stop();
  }
};
