import type { LogPosition } from './event-store.ts';

/** The right to play a role that only one process may play, until it ends, is given back or is taken over. */
export interface Lease {
  readonly name: string;
  readonly holder: string;
  /** Grows with every acquisition of this name, by any process: a later holder has a higher one. */
  readonly token: number;
}

/**
 * Leases of named roles, at most one holder a name. The store's clock alone decides when a lease has ended, so the clocks of the
 * processes need not agree. A holder counts its own time from before it asked: its view then ends no later than the store's.
 */
export interface Leases {
  /**
   * For `ttlMs` from now, as long as every holder of the name asks for; undefined while another holder's lease lasts, which is no longer
   * than that however the store's clock is set. The same holder gets it again under a higher token, because
   * an answer may have been lost on the way.
   */
  acquire(name: string, holder: string, ttlMs: number): Promise<Lease | undefined>;
  /** Another `ttlMs` from now; false when it has ended or passed on, and then it stays so. */
  renew(lease: Lease, ttlMs: number): Promise<boolean>;
  /** Free for the next one at once; without effect when it has ended or passed on. */
  release(lease: Lease): Promise<void>;
}

export interface StoredPlace {
  readonly name: string;
  readonly position: LogPosition;
  /** ISO 8601 UTC */
  readonly updatedAt: string;
}

/** How far a named process manager or relay has come. */
export interface CheckpointStore {
  load(name: string): Promise<LogPosition | 'start'>;
  /**
   * Anywhere, back too; false, and nothing is stored, when it stands elsewhere than at `expected`: another process moved it, and the
   * caller is behind. A crash may take back the last moves, newest first; what they stood for is done again then.
   */
  move(name: string, expected: LogPosition | 'start', position: LogPosition | 'start'): Promise<boolean>;
  /** All of them, for whoever has to set one right, in the order of their names; one that is at the start has none. */
  list(): Promise<readonly StoredPlace[]>;
}
