import type { Projection, TableWrite } from '../../projections/engine/projection.ts';
import type { QuarantinedStream } from '../../projections/engine/projector-ports.ts';
import type { LogPosition } from './event-store.ts';

/** Where projections write: the writes of a batch and its checkpoint commit together, or not at all. */
export interface ProjectionStore {
  checkpoint(projection: Projection): Promise<LogPosition | 'start'>;
  /** Operations whose events wait, in the order of their names; it changes by writes like any row. */
  quarantined(projection: Projection): Promise<readonly QuarantinedStream[]>;
  /**
   * @param expected the checkpoint that these writes follow; when the stored one differs (another projector was faster), or a write
   *   does not touch as many rows as it expects, nothing is written and the answer is false
   */
  apply(
    projection: Projection,
    writes: readonly TableWrite[],
    expected: LogPosition | 'start',
    checkpoint: LogPosition,
  ): Promise<boolean>;
  /** Empties the projection's tables and its checkpoint in one step. */
  reset(projection: Projection): Promise<void>;
}
