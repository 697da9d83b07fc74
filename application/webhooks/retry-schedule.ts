import type { AttemptVerdict } from './queue/ended-deliveries.ts';

/** Milliseconds between the end of an attempt and the next; one more attempt than gaps. */
export type RetrySchedule = readonly number[];

/** What follows a failed attempt. `used` counts the attempts of the schedule before it. */
export const afterFailure = (schedule: RetrySchedule, used: number, endedAtMs: number): AttemptVerdict => {
  const gap = schedule[used];
  return gap === undefined
    ? { kind: 'failed' }
    : { kind: 'retry', at: new Date(endedAtMs + gap).toISOString() };
};
