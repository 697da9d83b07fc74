import type { ProjectedEvent, Projection, TableWrite } from '../../../projections/projection.ts';
import type { EventSubscription, LogPosition, RecordedEvent } from '../../ports/event-store.ts';
import type { Logger } from '../../ports/logger.ts';
import type { LogOrder } from '../../ports/read-models.ts';
import type { ProjectionStore } from '../../projecting/projection-store.ts';
import { catchUp } from '../../processors/catch-up.ts';
import type { Done, Place } from '../../processors/processor.ts';
import { Runner } from '../../processors/runner.ts';
import { streamsOf } from '../../projecting/quarantine.ts';
import { readModelProcessor } from '../../projecting/read-model.ts';

export interface CopyDependencies {
  readonly log: EventSubscription;
  readonly order: LogOrder;
  readonly decode: (event: RecordedEvent) => ProjectedEvent | undefined;
  /** Between two batches: writers of the same store have their turn. */
  readonly breathe: () => Promise<void>;
}

interface CopyParts extends CopyDependencies {
  readonly projection: Projection;
  readonly store: ProjectionStore;
  readonly onProgress: (position: LogPosition) => void;
}

/** Large enough to be fast; small enough that a live projector, which waits its turn, is not noticed by readers. */
const BATCH = 1_000;
/** Whoever asked for the copy is told of what it met. */
const SILENT: Logger = {
  ...{ error: () => undefined, warn: () => undefined },
  ...{ info: () => undefined, debug: () => undefined },
};

export class ReadModelCopy {
  readonly runner: Runner<TableWrite>;
  readonly #parts: CopyParts;
  /** No earlier than the last event that came through here and wrote rows of this stream. */
  readonly #lastSeen = new Map<string, LogPosition>();
  #remembering = false;
  #begun: Place = 'start';
  #events = 0;

  constructor(parts: CopyParts) {
    this.#parts = parts;
    const watch = {
      committed: (done: Done<TableWrite>) => this.#note(done),
      lost: () => void (this.#begun = this.place),
    };
    // Nothing is tried again here, so nothing pauses.
    this.runner = new Runner(
      { ...readModelProcessor(parts), watch },
      { logger: SILENT, pause: async () => undefined },
    );
  }

  get events(): number {
    return this.#events;
  }

  get place(): Place {
    return this.runner.place;
  }

  /** It knows which streams went on from here up to its place: from where it began to remember, or another process had come to meanwhile. */
  get begun(): Place {
    return this.#begun;
  }

  remember(): void {
    this.#remembering = true;
    this.#begun = this.place;
  }

  lastSeen(stream: string): LogPosition | undefined {
    return this.#lastSeen.get(stream);
  }

  /** Takes in everything that is stored now. @throws PoisonEventError @throws RefusedWritesError */
  catchUp(signal: AbortSignal): Promise<void> {
    return catchUpTogether([this], this.#parts, signal);
  }

  #note({ events, writes, holds, to }: Done<TableWrite>): void {
    if (to === 'start') return;
    this.#events += events.length;
    // The commit of a renegotiation writes rows of other streams than its own, so the rows say which streams went on.
    const held = holds.map((one) => (one.kind === 'hold' ? one.hold.stream : one.stream));
    if (this.#remembering)
      for (const stream of [...writes.flatMap(streamsOf), ...held]) this.#lastSeen.set(stream, to);
    this.#parts.onProgress(to);
  }
}

/** Takes everything that is stored now into all of them; the log is read and decoded once. @throws as `catchUp` */
export const catchUpTogether = (
  copies: readonly ReadModelCopy[],
  { log, order, breathe }: Pick<CopyDependencies, 'log' | 'order' | 'breathe'>,
  signal: AbortSignal,
): Promise<void> =>
  catchUp(
    copies.map(({ runner }) => runner),
    { source: log, order, batchSize: BATCH, breathe },
    signal,
  );
