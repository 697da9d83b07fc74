import { OutcomeUnknownError, StoreUnavailableError } from '../../../application/ports/event-store.ts';
import type { LogPosition } from '../../../application/ports/event-store.ts';
import type { QuarantinedStream } from '../../../application/ports/read-models.ts';
import type { ProjectionStore } from '../../../application/projecting/projection-store.ts';
import type { Projection, TableWrite } from '../../../projections/projection.ts';

/** What becomes of a batch: stored, lost on the way, or stored with its answer lost. */
export type BatchFate = 'works' | 'lost' | 'answer_lost';

/** Delegates to a real store; the fate of the n-th apply is the caller's choice. */
export class FaultyProjectionStore implements ProjectionStore {
  readonly #inner: ProjectionStore;
  readonly #fate: (apply: number) => BatchFate;
  applies = 0;
  /** While set, every call fails with it. */
  away = false;
  /** Called when another projector was faster. */
  onRefusal: () => void = () => undefined;

  constructor(inner: ProjectionStore, fate: (apply: number) => BatchFate = () => 'works') {
    this.#inner = inner;
    this.#fate = fate;
  }

  async checkpoint(projection: Projection): Promise<LogPosition | 'start'> {
    if (this.away) throw new StoreUnavailableError('the store is away');
    return this.#inner.checkpoint(projection);
  }

  async quarantined(projection: Projection): Promise<readonly QuarantinedStream[]> {
    if (this.away) throw new StoreUnavailableError('the store is away');
    return this.#inner.quarantined(projection);
  }

  async apply(
    projection: Projection,
    writes: readonly TableWrite[],
    expected: LogPosition | 'start',
    checkpoint: LogPosition,
  ): Promise<boolean> {
    if (this.away) throw new StoreUnavailableError('the store is away');
    const fate = this.#fate(this.applies++);
    if (fate === 'lost') throw new StoreUnavailableError('lost on the way');
    const stored = await this.#inner.apply(projection, writes, expected, checkpoint);
    if (!stored) this.onRefusal();
    if (fate === 'answer_lost') throw new OutcomeUnknownError('the answer was lost');
    return stored;
  }
}
