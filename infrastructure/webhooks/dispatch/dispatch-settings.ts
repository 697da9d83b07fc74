import { pause } from '../../support/time.ts';
import type { RetrySchedule } from '../../../application/webhooks/retry-schedule.ts';

/** Durations in milliseconds. */
export interface DispatchSettings {
  readonly schedule: RetrySchedule;
  /** Whole attempt. */
  readonly timeoutMs: number;
  /** How long a leased lane belongs to its worker without a sign of life. */
  readonly leaseMs: number;
  /** Attempts under way at a time. */
  readonly slots: number;
  /** Of them, how many only first attempts may take. */
  readonly slotsForFirstAttempts: number;
  /** Attempts under way at one endpoint. */
  readonly slotsPerEndpoint: number;
  readonly breaker: BreakerSettings;
  /** How often to look for work that another process made. */
  readonly lookEveryMs: number;
  /** After a claim of few lanes, or after few results were stored, so long is waited for more of them to travel together. */
  readonly gatherMs: number;
}

const WORTH_A_TRANSACTION = 16;

/** The pause after a transaction of so many lanes or results; none when it was worth it. */
export const gathered = (count: number, gatherMs: number): Promise<void> | undefined =>
  gatherMs > 0 && count < WORTH_A_TRANSACTION ? pause(gatherMs) : undefined;

export interface BreakerSettings {
  /** So many failures in a row, without any other answer, mean that an endpoint is down. */
  readonly failures: number;
  /** First pause between two probes; doubles up to the longest. */
  readonly firstPauseMs: number;
  readonly longestPauseMs: number;
}

const SLOTS = 512;
const BREAKER_FAILURES = 10;
const SHORTEST_MARGIN_MS = 1_000;

/**
 * Settings that follow from the two an operator chooses. Probes never pause longer than a delivery would anyway, and a lease
 * leaves half a time-out for storing the result.
 */
export const dispatchSettings = (schedule: RetrySchedule, timeoutMs: number): DispatchSettings => {
  const [firstGap = Infinity] = schedule;
  return {
    schedule,
    timeoutMs,
    leaseMs: timeoutMs + Math.max(SHORTEST_MARGIN_MS, timeoutMs / 2),
    slots: SLOTS,
    slotsForFirstAttempts: SLOTS / 4,
    slotsPerEndpoint: 64,
    breaker: {
      failures: BREAKER_FAILURES,
      firstPauseMs: Math.min(1_000, firstGap),
      longestPauseMs: Math.min(30_000, firstGap),
    },
    lookEveryMs: 2_000,
    gatherMs: 0,
  };
};

/** @throws RangeError for settings under which a lane could have two workers */
export const checkedSettings = (settings: DispatchSettings): DispatchSettings => {
  if (settings.leaseMs <= settings.timeoutMs)
    throw new RangeError('the lease must be longer than an attempt may take');
  return settings;
};
