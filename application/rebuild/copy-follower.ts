import type { Projection, TableWrite } from '../../projections/engine/projection.ts';
import type { LogPosition, RecordedEvent } from '../ports/event-store.ts';
import type { EventSubscription, SubscriptionMessage } from '../ports/event-subscription.ts';
import type { ProjectionCopies } from '../ports/projection-copies.ts';

export interface CopyFollowerDependencies {
  readonly projection: Projection;
  readonly log: EventSubscription;
  readonly copies: ProjectionCopies;
  /** @throws PoisonEventError for an event that can never be projected */
  readonly writesOf: (projection: Projection, events: readonly RecordedEvent[]) => readonly TableWrite[];
  readonly streamPrefix: string;
  /** Called after each batch that is stored. */
  readonly onProgress: (position: LogPosition) => void;
  /** Between two batches: writers of the same store have their turn. */
  readonly breathe: () => Promise<void>;
}

/** Large enough to be fast; small enough that a live projector, which waits its turn, is not noticed by readers. */
const BATCH = 1_000;

/** The copy is no longer there to be filled: dropped, or switched over by another process. */
export class CopyGoneError extends Error {
  override readonly name = 'CopyGoneError';
}

/** Takes the log into a copy. Each batch and the copy's place commit together, so a killed process leaves nothing half done. */
export class CopyFollower {
  readonly #deps: CopyFollowerDependencies;
  /** Where the last event of a stream was that came through here. */
  readonly #lastSeen = new Map<string, LogPosition>();
  #remembering = false;
  #events = 0;

  constructor(dependencies: CopyFollowerDependencies) {
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

  /** Takes in everything that is stored now. @throws CopyGoneError @throws PoisonEventError */
  async catchUp(signal: AbortSignal): Promise<void> {
    const { log, streamPrefix } = this.#deps;
    while (!signal.aborted) {
      const ending = new AbortController();
      const from = await this.#position();
      const both = AbortSignal.any([signal, ending.signal]);
      try {
        const messages = log.subscribe({ from, streamPrefix, batchSize: BATCH, signal: both });
        if (await this.#takeIn(messages, from)) return;
      } finally {
        ending.abort();
      }
    }
    throw signal.reason;
  }

  async #position(): Promise<LogPosition | 'start'> {
    const { copies, projection } = this.#deps;
    const { copy } = await copies.places(projection.name);
    if (copy && copy.state !== 'old' && copy.version === projection.version) return copy.position;
    throw new CopyGoneError(
      `the copy of ${projection.name} is gone: another process dropped it or let it serve`,
    );
  }

  /** False when another process filled the same copy: the next turn goes on from where it is. */
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
    const { projection, writesOf, copies } = this.#deps;
    const events = message.kind === 'events' ? message.events : [];
    const writes = writesOf(projection, events);
    if (!(await copies.apply(projection, writes, position, message.checkpoint))) return false;
    this.#events += events.length;
    if (this.#remembering) for (const event of events) this.#lastSeen.set(event.stream, event.position);
    return true;
  }
}
