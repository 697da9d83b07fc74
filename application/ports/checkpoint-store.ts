import type { LogPosition } from './event-store.ts';

/** How far a named process manager or relay has come; durable when `store` resolves. */
export interface CheckpointStore {
  load(name: string): Promise<LogPosition | 'start'>;
  store(name: string, position: LogPosition): Promise<void>;
}
