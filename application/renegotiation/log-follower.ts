import type { CheckpointStore } from '../ports/checkpoint-store.ts';
import type { RecordedEvent } from '../ports/event-store.ts';
import type { EventSubscription } from '../ports/event-subscription.ts';
import type { Logger } from '../ports/logger.ts';

export interface LogFollowing {
  readonly subscription: EventSubscription;
  readonly checkpoints: CheckpointStore;
  readonly logger: Logger;
  /** Resolves after so many milliseconds, or at once when the signal ends. */
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>;
}

const RETRY_MS = 500;

/** Hands every event of the log to `handle`, at least once; its place is stored when a batch is handled, never before. */
export class LogFollower {
  readonly #following: LogFollowing;
  readonly #name: string;
  readonly #handle: (events: readonly RecordedEvent[], signal: AbortSignal) => Promise<void>;

  /** @param name of the checkpoint; stored, so never changed */
  constructor(
    following: LogFollowing,
    name: string,
    handle: (events: readonly RecordedEvent[], signal: AbortSignal) => Promise<void>,
  ) {
    this.#following = following;
    this.#name = name;
    this.#handle = handle;
  }

  /** Works until the signal ends. Whatever fails is tried again from the checkpoint. */
  async run(signal: AbortSignal): Promise<void> {
    const { logger, sleep } = this.#following;
    while (!signal.aborted) {
      try {
        await this.#follow(signal);
      } catch (error) {
        logger.error({ err: error, checkpoint: this.#name }, 'starting again from the checkpoint');
        await sleep(RETRY_MS, signal);
      }
    }
  }

  async #follow(signal: AbortSignal): Promise<void> {
    const { subscription, checkpoints } = this.#following;
    const from = await checkpoints.load(this.#name);
    for await (const message of subscription.subscribe({ from, signal })) {
      if (message.kind === 'caught_up') continue;
      if (message.kind === 'events') await this.#handle(message.events, signal);
      if (signal.aborted) return;
      await checkpoints.store(this.#name, message.checkpoint);
    }
  }
}
