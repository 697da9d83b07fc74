import type { LeasedDelivery } from './queue/lease-lanes.ts';

/** One attempt at a delivery, after it ended. Instants are UNIX milliseconds. */
export interface WatchedAttempt {
  readonly delivery: LeasedDelivery;
  readonly startedAt: number;
  readonly endedAt: number;
  readonly outcome: 'delivered' | 'failed';
  /** Stable word for what went wrong; absent when it was delivered. */
  readonly reason?: string;
  /** null when no status line came back */
  readonly status: number | null;
}

/** Is told of each attempt. Returns at once and never fails. */
export interface AttemptWatch {
  attempted(attempt: WatchedAttempt): void;
}
