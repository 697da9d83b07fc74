import type { LogPosition } from './event-store.ts';

/** From that event on its events wait. Operations wait with a renegotiation that names them. */
export interface QuarantinedStream {
  readonly stream: string;
  readonly revision: bigint;
  readonly eventType: string;
  readonly reason: string;
  readonly position: LogPosition;
}

/** The store works, and will never take these writes; anything else that it throws may pass. */
export class RefusedWritesError extends Error {
  override readonly name = 'RefusedWritesError';
}

export interface LogOrder {
  /** False for places that logs of different engines gave: a service was moved in between. */
  comparable(one: LogPosition | 'start', other: LogPosition | 'start'): boolean;
  /** Negative when the first place comes before the second. */
  compare(one: LogPosition | 'start', other: LogPosition | 'start'): number;
  /** How much of the way to a place is behind, from 0 to 1. */
  share(done: LogPosition | 'start', whole: LogPosition | 'start'): number;
}
