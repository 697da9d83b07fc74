import type { Place } from './processor.ts';

export interface Status {
  readonly name: string;
  /** `retrying`: something it needs is away; `halted`: an event cannot be handled, and only a person can help. */
  readonly state: 'stopped' | 'running' | 'retrying' | 'halted';
  readonly position: Place;
  /** Whether the end of the log was seen since the processor last began to follow it. */
  readonly caughtUp: boolean;
  readonly quarantined: number;
  readonly lastError?: string;
}

export interface Behind extends Pick<Status, 'name' | 'position'> {
  readonly behind: number;
  readonly atLeast: boolean;
  readonly problem?: string;
}
