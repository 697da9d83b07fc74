import type { RecordedEvent } from './event-store.ts';

/** Events by their id, where the engine of the log keeps such an index. */
export interface StoredEvents {
  byId(id: string): Promise<RecordedEvent | undefined>;
}
