import type { Projection, TableWrite } from '../../projections/projection.ts';
import { RefusedWritesError } from '../ports/read-models.ts';
import type { ProjectionStore } from '../ports/read-models.ts';
import type { LogPosition } from '../ports/event-store.ts';

/** One projection's place in its store, certain again after every failure. */
export class CheckpointedStore {
  readonly #projection: Projection;
  readonly #store: ProjectionStore;
  #position: LogPosition | 'start' = 'start';

  constructor(projection: Projection, store: ProjectionStore) {
    this.#projection = projection;
    this.#store = store;
  }

  get position(): LogPosition | 'start' {
    return this.#position;
  }

  /** True when the stored checkpoint is still the one known here. */
  async load(): Promise<boolean> {
    const known = this.#position;
    this.#position = await this.#store.checkpoint(this.#projection);
    return this.#position === known;
  }

  /**
   * Tries until it is stored. False when another projector moved the checkpoint, or `retry` answered that it is time to stop.
   * @throws RefusedWritesError
   */
  async apply(
    writes: readonly TableWrite[],
    checkpoint: LogPosition,
    retry: (error: unknown) => Promise<boolean>,
  ): Promise<boolean> {
    let doubtful = false;
    for (;;) {
      try {
        const known = this.#position;
        // An apply that failed on its way back has stored everything all the same: only the checkpoint can tell.
        if (doubtful && !(await this.load())) return this.#position === checkpoint;
        const applied = await this.#store.apply(this.#projection, writes, known, checkpoint);
        if (applied) this.#position = checkpoint;
        return applied;
      } catch (error) {
        if (error instanceof RefusedWritesError || !(await retry(error))) throw error;
        doubtful = true;
      }
    }
  }
}
