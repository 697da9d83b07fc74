import type { CheckpointStore } from '../coordination/stored-places.ts';
import type { EventSubscription, RecordedEvent } from '../ports/event-store.ts';
import { Runner } from './runner.ts';
import type { RunnerDependencies } from './runner.ts';
import { placeAlone } from './processor.ts';

export interface Following {
  readonly subscription: EventSubscription;
  readonly checkpoints: CheckpointStore;
  readonly logger: RunnerDependencies['logger'];
  readonly sleep: RunnerDependencies['pause'];
}

interface Acting {
  /** Of the place; stored, so never changed. */
  readonly name: string;
  readonly streamPrefix?: string;
  readonly asking: ReadonlySet<string>;
  /** Safe to repeat; with the signal it may leave the rest. */
  readonly act: (events: readonly RecordedEvent[], signal: AbortSignal) => Promise<void>;
}

/** Events that ask for nothing are cheap to see again: so many may lie behind the stored place. */
const SEEN_AGAIN = 500;

/** Follows the log to act on operations: at least once for each event that asks for it. */
export const actingOn = (
  { subscription, checkpoints, logger, sleep }: Following,
  { name, streamPrefix, asking, act }: Acting,
): Runner<never> =>
  new Runner<never>(
    {
      what: name,
      source: subscription,
      ...(streamPrefix !== undefined && { streamPrefix }),
      store: placeAlone(checkpoints, name),
      gather: { events: SEEN_AGAIN },
      handle: async (events, signal) => {
        const asked = events.filter(({ type }) => asking.has(type));
        if (asked.length > 0) await act(asked, signal);
        signal.throwIfAborted();
        return { writes: [], mayWait: asked.length === 0 };
      },
    },
    { logger, pause: sleep },
  );
