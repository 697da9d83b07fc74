import type { Outcome } from '../ports/webhook-desk.ts';

/** How well an endpoint did lately; null where no attempt says so. */
export interface EndpointHealth {
  readonly attempts: number;
  /** Share of the attempts that succeeded, 0 to 1. */
  readonly successRate: number | null;
  /** Half of the answers came within this time, and nineteen of twenty within the other. */
  readonly medianMs: number | null;
  readonly p95Ms: number | null;
}

/** The value below which this share of them lies; nearest rank. */
const quantile = (sorted: readonly number[], share: number): number | null =>
  sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? null;

/** Latency is that of answers, whatever they said: what never answered took as long as it was waited for. */
export const healthOf = (outcomes: readonly Outcome[]): EndpointHealth => {
  const answered = outcomes
    .filter(({ responseStatus }) => responseStatus !== null)
    .map(({ durationMs }) => durationMs)
    .toSorted((one, other) => one - other);
  const succeeded = outcomes.filter((one) => one.succeeded).length;
  return {
    attempts: outcomes.length,
    successRate: outcomes.length === 0 ? null : succeeded / outcomes.length,
    medianMs: quantile(answered, 0.5),
    p95Ms: quantile(answered, 0.95),
  };
};
