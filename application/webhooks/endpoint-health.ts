import type { Outcome } from './webhook-desk.ts';
import type { WebhookSubscription } from './subscriptions.ts';

/** How well an endpoint did lately; null where no attempt says so. */
interface EndpointHealth {
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

/** failing: nothing got through in the last hour, and something was tried. unsteady: in that hour some attempts did and some did not. */
type EndpointState = 'paused' | 'failing' | 'unsteady' | 'active';

const HOUR_MS = 3_600_000;

export const countedFrom = (now: string): string => new Date(Date.parse(now) - HOUR_MS).toISOString();

/** By its last hour: one answer that succeeded, or failed, between others says little. */
export const endpointState = (
  {
    status,
    failingSince,
    lastFailureAt,
    lastSuccessAt,
  }: Pick<WebhookSubscription, 'status' | 'failingSince' | 'lastFailureAt' | 'lastSuccessAt'>,
  now: string,
): EndpointState => {
  if (status === 'paused') return 'paused';
  const from = countedFrom(now);
  const failed = failingSince !== null || (lastFailureAt !== null && lastFailureAt >= from);
  if (!failed) return 'active';
  return lastSuccessAt !== null && lastSuccessAt >= from ? 'unsteady' : 'failing';
};
