import type { Registry } from 'prom-client';
import type { WebhookMetrics } from '../../../application/ports/observation.ts';
import { instrumentsIn } from './instruments.ts';

/** Seconds. The first ones tell how fast a healthy receiver is, the last one is the time-out. */
const ATTEMPT_SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
/** Up to the end of a schedule that goes on for days. */
const LATENCY_SECONDS = [0.025, 0.05, 0.1, 0.25, 0.5, 1, 5, 30, 120, 600, 3_600, 14_400, 86_400];

/** What the senders report, as Prometheus counts it. */
export const webhookMetrics = (registry: Registry): WebhookMetrics => {
  const { counter, gauge, histogram } = instrumentsIn(registry);
  const attempts = counter(
    'receivables_webhook_attempts_total',
    'Attempts that ended, by outcome, reason of the failure, and whether it was the first one.',
    'outcome',
    'reason',
    'first',
  );
  const duration = histogram(
    {
      name: 'receivables_webhook_attempt_duration_seconds',
      help: 'From the start of an attempt to its outcome.',
      buckets: ATTEMPT_SECONDS,
    },
    'outcome',
  );
  const latency = histogram({
    name: 'receivables_webhook_delivery_latency_seconds',
    help: 'From the creation of a delivery to its success, retries included.',
    buckets: LATENCY_SECONDS,
  });
  const exhausted = counter(
    'receivables_webhook_deliveries_exhausted_total',
    'Deliveries that used up their retry schedule.',
  );
  const queued = counter('receivables_webhook_deliveries_queued_total', 'Deliveries that events caused.');
  const inFlight = gauge('receivables_webhook_attempts_in_flight', 'Attempts under way in this process.');
  const breakers = counter(
    'receivables_webhook_breaker_changes_total',
    'Endpoints that were found down (opened) or alive again (closed).',
    'state',
  );
  const leasesLost = counter(
    'receivables_webhook_leases_lost_total',
    'Results that were refused because somebody else had taken over the lane.',
  );
  return {
    attempt: ({ outcome, reason = 'none', first, durationMs }) => {
      attempts.inc({ outcome, reason, first: String(first) });
      duration.observe({ outcome }, Math.max(0, durationMs) / 1_000);
    },
    delivered: (latencyMs) => latency.observe(Math.max(0, latencyMs) / 1_000),
    exhausted: () => exhausted.inc(),
    queued: (count) => queued.inc(count),
    inFlight: (count) => inFlight.set(count),
    breaker: (state) => breakers.inc({ state }),
    leaseLost: () => leasesLost.inc(),
  };
};
