import type { CheckpointStore } from '../ports/coordination.ts';
import type { EventSubscription, LogPosition, RecordedEvent } from '../ports/event-store.ts';
import type { Logger } from '../ports/logger.ts';
import { Outage, repeatUntilAborted } from '../support/retry.ts';
import type { Pause } from '../support/retry.ts';

/** Another process follows under the same name and has moved on: this one starts again from the stored position. */
export class PlaceMovedError extends Error {
  override readonly name = 'PlaceMovedError';
}

/**
 * The stored position of a follower that should run in one process at most. Only one process can move it: a process that was frozen
 * while another took over cannot set the position back.
 */
export class Checkpoint {
  readonly #store: CheckpointStore;
  readonly #name: string;
  #position: LogPosition | 'start' = 'start';

  /** @param name of the checkpoint; stored, so never changed */
  constructor(store: CheckpointStore, name: string) {
    this.#store = store;
    this.#name = name;
  }

  async load(): Promise<LogPosition | 'start'> {
    this.#position = await this.#store.load(this.#name);
    return this.#position;
  }

  /** To be called when everything up to there is done. @throws PlaceMovedError */
  async advance(position: LogPosition): Promise<void> {
    if (position === this.#position) return;
    if (!(await this.#store.advance(this.#name, this.#position, position))) {
      throw new PlaceMovedError(`${this.#name}: another process has moved on from ${this.#position}`);
    }
    this.#position = position;
  }
}

export interface LogFollowing {
  readonly subscription: EventSubscription;
  readonly checkpoints: CheckpointStore;
  readonly logger: Logger;
  readonly sleep: Pause;
}

export interface FollowerOptions {
  /** Of the checkpoint; stored, so never changed. */
  readonly name: string;
  /** Only streams whose name starts so. */
  readonly streamPrefix?: string;
  /** Answers 'passed' when the events asked for nothing: they are cheap to see again. */
  readonly handle: (events: readonly RecordedEvent[], signal: AbortSignal) => Promise<'passed' | void>;
  /** After so many batches that asked for nothing the position is stored; default: after each. */
  readonly storePassedEvery?: number;
}

/** Hands every event of the log to `handle`, at least once; its position is stored when a batch is handled, never before. */
export class LogFollower {
  readonly #following: LogFollowing;
  readonly #options: FollowerOptions;
  readonly #checkpoint: Checkpoint;
  readonly #outage: Outage;

  constructor(following: LogFollowing, options: FollowerOptions) {
    this.#following = following;
    this.#options = options;
    this.#checkpoint = new Checkpoint(following.checkpoints, options.name);
    this.#outage = new Outage({ logger: following.logger, what: options.name });
  }

  /** Works until the signal ends. Whatever fails is tried again from the checkpoint. */
  run(signal: AbortSignal): Promise<void> {
    const afterFailure = (error: unknown): number => this.#outage.failed(error);
    return repeatUntilAborted(() => this.#follow(signal), afterFailure, this.#following.sleep, signal);
  }

  async #follow(signal: AbortSignal): Promise<void> {
    const { handle, streamPrefix, storePassedEvery = 1 } = this.#options;
    const from = await this.#checkpoint.load();
    const options = { from, signal, ...(streamPrefix !== undefined && { streamPrefix }) };
    let passed = 0;
    for await (const message of this.#following.subscription.subscribe(options)) {
      if (message.kind !== 'caught_up') {
        const done = message.kind === 'events' && (await handle(message.events, signal)) !== 'passed';
        if (signal.aborted) return;
        passed = done ? storePassedEvery : passed + 1;
        if (passed >= storePassedEvery) {
          await this.#checkpoint.advance(message.checkpoint);
          passed = 0;
        }
      }
      this.#outage.over();
    }
  }
}
