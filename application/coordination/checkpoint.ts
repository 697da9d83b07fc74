import type { CheckpointStore } from '../ports/coordination.ts';
import type { LogPosition } from '../ports/event-store.ts';

/** Another process follows under the same name and has moved on: whoever meets this starts again from the stored position. */
export class CheckpointMovedError extends Error {
  override readonly name = 'PlaceMovedError';
}

/**
 * The place in the log of a follower that at most one process should be, and never more than one can move: a process that was
 * frozen, and finds that another took over, cannot set the place back.
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
      throw new CheckpointMovedError(`${this.#name}: another process has moved on from ${this.#position}`);
    }
    this.#position = position;
  }
}
