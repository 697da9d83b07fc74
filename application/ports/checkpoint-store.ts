import type { LogPosition } from './event-store.ts';

/** How far a named process manager or relay has come. */
export interface CheckpointStore {
  load(name: string): Promise<LogPosition | 'start'>;
  /**
   * Moves it on from `expected`; false, and nothing is stored, when it stands elsewhere: another process moved it, and the caller
   * is behind. A crash may take back the last moves, newest first; what they stood for is done again then.
   */
  advance(name: string, expected: LogPosition | 'start', position: LogPosition): Promise<boolean>;
}
