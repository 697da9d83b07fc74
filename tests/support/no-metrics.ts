import type { WebhookMetrics } from '../../application/ports/observation.ts';

const nothing = (): void => undefined;

/** For a test that looks at one of them. */
export const NO_METRICS: WebhookMetrics = {
  attempt: nothing,
  delivered: nothing,
  exhausted: nothing,
  queued: nothing,
  inFlight: nothing,
  breaker: nothing,
  leaseLost: nothing,
};
