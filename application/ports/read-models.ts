import type { Projection, TableWrite } from '../../projections/projection.ts';
import type { LogPosition } from './event-store.ts';

/**
 * An operation, or a renegotiation, with an event that a projection cannot take: from that event on, its events wait. Operations wait
 * with a renegotiation that names them: then the event is one of the renegotiation's own stream.
 */
export interface QuarantinedStream {
  readonly stream: string;
  /** Of the event that cannot be taken, in its own stream. */
  readonly revision: bigint;
  readonly eventType: string;
  readonly reason: string;
  /** Of that event; what comes after it waits. */
  readonly position: LogPosition;
}

/** Where projections write: the writes of a batch and its checkpoint commit together, or not at all. */
export interface ProjectionStore {
  checkpoint(projection: Projection): Promise<LogPosition | 'start'>;
  /** What waits, in the order of the streams' names; it changes by writes like any row. */
  quarantined(projection: Projection): Promise<readonly QuarantinedStream[]>;
  /**
   * @param expected the checkpoint that these writes follow; when the stored one differs (another projector was faster), another
   *   generation serves than where it was read, or a write does not touch as many rows as it expects, nothing is written and the answer is
   *   false
   * @throws RefusedWritesError
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

/** The store works, and will never take these writes; anything else that it throws may pass. */
export class RefusedWritesError extends Error {
  override readonly name = 'RefusedWritesError';
}

/** What has to be known of places in the log, beyond handing them back. */
export interface LogOrder {
  /** False for places that logs of different engines gave: a service was moved in between. */
  comparable(one: LogPosition | 'start', other: LogPosition | 'start'): boolean;
  /** Negative when the first place comes before the second. */
  compare(one: LogPosition | 'start', other: LogPosition | 'start'): number;
  /** How much of the way to a place is behind, from 0 to 1. */
  share(done: LogPosition | 'start', whole: LogPosition | 'start'): number;
}
