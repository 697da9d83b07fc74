import { Checkpoint } from '../coordination/checkpoint.ts';
import { Outage } from '../coordination/outage.ts';
import type { CheckpointStore } from '../ports/coordination.ts';
import type { EventSubscription, RecordedEvent } from '../ports/event-store.ts';
import type { Logger } from '../ports/logger.ts';

export interface LogFollowing {
  readonly subscription: EventSubscription;
  readonly checkpoints: CheckpointStore;
  readonly logger: Logger;
  /** Resolves after so many milliseconds, or at once when the signal ends. */
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>;
}

/** Hands every event of the log to `handle`, at least once; its place is stored when a batch is handled, never before. */
export class LogFollower {
  readonly #following: LogFollowing;
  readonly #place: Checkpoint;
  readonly #outage: Outage;
  readonly #handle: (events: readonly RecordedEvent[], signal: AbortSignal) => Promise<void>;

  /** @param name of the checkpoint; stored, so never changed */
  constructor(
    following: LogFollowing,
    name: string,
    handle: (events: readonly RecordedEvent[], signal: AbortSignal) => Promise<void>,
  ) {
    this.#following = following;
    this.#place = new Checkpoint(following.checkpoints, name);
    this.#outage = new Outage({ logger: following.logger, what: name });
    this.#handle = handle;
  }

  /** Works until the signal ends. Whatever fails is tried again from the checkpoint. */
  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      try {
        await this.#follow(signal);
      } catch (error) {
        if (!signal.aborted) await this.#following.sleep(this.#outage.failed(error), signal);
      }
    }
  }

  async #follow(signal: AbortSignal): Promise<void> {
    const from = await this.#place.load();
    for await (const message of this.#following.subscription.subscribe({ from, signal })) {
      if (message.kind === 'events') await this.#handle(message.events, signal);
      if (signal.aborted) return;
      if (message.kind !== 'caught_up') await this.#place.advance(message.checkpoint);
      this.#outage.over();
    }
  }
}
