import type { LogPosition } from '../../application/ports/event-store.ts';

/** A number in the embedded log, two in EventStoreDB; in both, the first says what came earlier. */
export const numberOf = (position: LogPosition | 'start'): bigint =>
  position === 'start' ? 0n : BigInt(position.split('/', 1)[0]!);
