import type { LogPosition } from '../ports/event-store.ts';

/** What a rebuild has to know of places in the log, beyond handing them back. */
export interface LogOrder {
  /** Negative when the first place comes before the second. */
  compare(one: LogPosition | 'start', other: LogPosition | 'start'): number;
  /** How much of the way to a place is behind, from 0 to 1. */
  share(done: LogPosition | 'start', whole: LogPosition | 'start'): number;
}
