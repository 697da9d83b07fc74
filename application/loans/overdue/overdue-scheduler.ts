import type { BusinessClock } from '../../ports/clock.ts';
import type { Logger } from '../../ports/logger.ts';
import { businessDayOf } from '../../support/business-day.ts';
import { Outage, repeatUntilAborted } from '../../support/retry.ts';
import type { Pause } from '../../support/retry.ts';

const HOUR_MS = 3_600_000;
const BEYOND_TODAY_MS = 26 * HOUR_MS;

/** UNIX milliseconds. Searched for: where clocks change, midnight may come earlier or later, or not at all. */
export const nextDayStart = (instant: number): number => {
  const today = businessDayOf(instant);
  let [before, after] = [instant, instant + BEYOND_TODAY_MS];
  while (after - before > 1) {
    const middle = Math.floor((before + after) / 2);
    if (businessDayOf(middle) > today) after = middle;
    else before = middle;
  }
  return after;
};

interface Dependencies {
  readonly markOverdue: (signal: AbortSignal) => Promise<number>;
  readonly clock: BusinessClock;
  readonly logger: Logger;
  readonly sleep: Pause;
  /** Longest time between two sweeps, in milliseconds: how late an operation that starts with a past due date may be seen. */
  readonly interval: number;
  readonly watch?: { swept(marked: number): void; sweepFailed(): void } | undefined;
}

const RETRY_MS = 1_000;

/** When a day begins and every `interval` besides. Several may run: they find the same work and do it once. */
export const sweepOverdue = async (
  { markOverdue, clock, logger, sleep, interval, watch }: Dependencies,
  signal: AbortSignal,
): Promise<void> => {
  const pauses = { firstPauseMs: RETRY_MS, longestPauseMs: RETRY_MS };
  const outage = new Outage({ logger, what: 'overdue scheduler', ...pauses });
  const atMost = (ms: number): number => {
    const now = Date.parse(clock.now());
    // At least a millisecond, so that a clock that stands still cannot turn this into a busy loop.
    return Math.min(ms, interval, Math.max(1, nextDayStart(now) - now));
  };
  const sweep = async (): Promise<number> => {
    const marked = await markOverdue(signal);
    watch?.swept(marked);
    if (marked > 0) logger.info({ marked }, 'installments became overdue');
    outage.over();
    return atMost(interval);
  };
  const afterFailure = (error: unknown): number => {
    watch?.sweepFailed();
    return atMost(outage.failed(error));
  };
  await repeatUntilAborted(sweep, afterFailure, sleep, signal);
};
