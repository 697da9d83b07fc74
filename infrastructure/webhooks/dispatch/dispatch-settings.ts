import { pause } from '../../support/time.ts';
import type { AttemptVerdict } from '../../../application/webhooks/queue/result-statements.ts';

/** Durations in milliseconds. */
export interface DispatchSettings {
  /** Between the end of an attempt and the next; one more attempt than gaps. */
  readonly schedule: readonly number[];
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
  /** So long after the store was asked for a delivery, its address and secret are looked at again before it is sent. */
  readonly knownForMs: number;
}

export const iso = (ms: number): string => new Date(ms).toISOString();

const WORTH_A_TRANSACTION = 16;

/** What follows a failed attempt. `used` counts the attempts of the schedule before it. */
export const afterFailure = (
  schedule: DispatchSettings['schedule'],
  used: number,
  endedAtMs: number,
): AttemptVerdict => {
  const gap = schedule[used];
  return gap === undefined ? { kind: 'failed' } : { kind: 'retry', at: iso(endedAtMs + gap) };
};

/** The pause after a transaction of so many lanes or results; none when it was worth it. */
export const gathered = (count: number, gatherMs: number): Promise<void> | undefined =>
  gatherMs > 0 && count < WORTH_A_TRANSACTION ? pause(gatherMs) : undefined;

/** A clock that went so far back between two looks at it was set; less is how clocks are kept right. */
export const STEP_MS = 1_000;

/** Finds out how far a clock was set between two looks at it. */
export class ClockSteps {
  readonly #now: () => number;
  #aheadMs: number;

  /** @param now UNIX milliseconds */
  constructor(now: () => number) {
    this.#now = now;
    this.#aheadMs = this.#ahead();
  }

  /** Milliseconds since the last look, below zero where it was set back; 0 unless it was set. */
  look(): number {
    const aheadMs = this.#ahead();
    const stepMs = aheadMs - this.#aheadMs;
    this.#aheadMs = aheadMs;
    return Math.abs(stepMs) > STEP_MS ? Math.round(stepMs) : 0;
  }

  /** Of the clock that nothing sets. */
  #ahead(): number {
    return this.#now() - performance.now();
  }
}

export interface BreakerSettings {
  /** Failures in a row, without any other answer, after which an endpoint counts as down. */
  readonly failures: number;
  /** First pause between two probes; doubles up to the longest. */
  readonly firstPauseMs: number;
  readonly longestPauseMs: number;
}

/** A settlement with a subscriber costs a seventh less than without (docs/decisions/0024). */
const GATHER_MS = 2;
const KNOWN_FOR_MS = 100;
const SLOTS = 512;
const BREAKER_FAILURES = 10;
const SHORTEST_MARGIN_MS = 1_000;

/**
 * Settings that follow from the two an operator chooses. Probes never pause longer than a delivery would anyway, and a lease
 * leaves half a time-out for storing the result.
 */
export const dispatchSettings = (schedule: readonly number[], timeoutMs: number): DispatchSettings => {
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
    gatherMs: GATHER_MS,
    knownForMs: KNOWN_FOR_MS,
  };
};
