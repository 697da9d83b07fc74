import type { Projection, TableWrite } from '../../projections/engine/projection.ts';
import type { LogPosition, RecordedEvent } from '../ports/event-store.ts';
import type { EventSubscription, SubscriptionMessage } from '../ports/event-subscription.ts';
import type { ProjectionStore } from '../ports/projection-store.ts';

export interface GenerationFollowerDependencies {
  readonly projection: Projection;
  readonly log: EventSubscription;
  readonly store: ProjectionStore;
  /** @throws PoisonEventError for an event that can never be projected */
  readonly writesOf: (projection: Projection, events: readonly RecordedEvent[]) => readonly TableWrite[];
  /** Called after each batch that is stored. */
  readonly onProgress: (position: LogPosition) => void;
  /** Between two batches: writers of the same store have their turn. */
  readonly breathe: () => Promise<void>;
}

/** Large enough to be fast; small enough that a live projector, which waits its turn, is not noticed by readers. */
const BATCH = 1_000;

const streamsOf = (write: TableWrite): readonly string[] =>
  (write.op === 'insert' ? write.rows : [write.where]).map(({ stream }) => String(stream));

/** Takes the log into one projection of a generation. Each batch and its place commit together, so a killed process leaves nothing half done. */
export class GenerationFollower {
  readonly #deps: GenerationFollowerDependencies;
  /** No earlier than the last event that came through here and wrote rows of this stream. */
  readonly #lastSeen = new Map<string, LogPosition>();
  #remembering = false;
  #events = 0;

  constructor(dependencies: GenerationFollowerDependencies) {
    this.#deps = dependencies;
  }

  /** Events taken in by this process. */
  get events(): number {
    return this.#events;
  }

  /** From here on, the follower remembers which streams go on. */
  remember(): void {
    this.#remembering = true;
  }

  lastSeen(stream: string): LogPosition | undefined {
    return this.#lastSeen.get(stream);
  }

  /** Takes in everything that is stored now. @throws PoisonEventError @throws RefusedWritesError */
  async catchUp(signal: AbortSignal): Promise<void> {
    const { log, store, projection } = this.#deps;
    while (!signal.aborted) {
      const ending = new AbortController();
      const from = await store.checkpoint(projection);
      const both = AbortSignal.any([signal, ending.signal]);
      try {
        const messages = log.subscribe({ from, batchSize: BATCH, signal: both });
        if (await this.#takeIn(messages, from)) return;
      } finally {
        ending.abort();
      }
    }
    throw signal.reason;
  }

  /** False when another process filled the same generation: the next turn goes on from where it is. */
  async #takeIn(messages: AsyncIterable<SubscriptionMessage>, from: LogPosition | 'start'): Promise<boolean> {
    let position = from;
    for await (const message of messages) {
      if (message.kind === 'caught_up') return true;
      if (message.checkpoint === position) continue;
      if (!(await this.#store(message, position))) return false;
      position = message.checkpoint;
      this.#deps.onProgress(position);
      await this.#deps.breathe();
    }
    return false;
  }

  async #store(
    message: Exclude<SubscriptionMessage, { kind: 'caught_up' }>,
    position: LogPosition | 'start',
  ): Promise<boolean> {
    const { projection, writesOf, store } = this.#deps;
    const events = message.kind === 'events' ? message.events : [];
    const writes = writesOf(projection, events);
    if (!(await store.apply(projection, writes, position, message.checkpoint))) return false;
    this.#events += events.length;
    const last = events.at(-1);
    // The commit of a renegotiation writes rows of other streams than its own, so the rows say which streams went on.
    if (this.#remembering && last)
      for (const stream of writes.flatMap(streamsOf)) this.#lastSeen.set(stream, last.position);
    return true;
  }
}
