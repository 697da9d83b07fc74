import { Counter, Gauge, Histogram } from 'prom-client';
import type { Registry } from 'prom-client';
import type { WebhookMetrics } from '../../../application/ports/observation.ts';

/** Seconds. The first ones tell how fast a healthy receiver is, the last one is the time-out. */
const ATTEMPT_SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
/** Up to the end of a schedule that goes on for days. */
const LATENCY_SECONDS = [0.025, 0.05, 0.1, 0.25, 0.5, 1, 5, 30, 120, 600, 3_600, 14_400, 86_400];

/** What the senders report, as Prometheus counts it. */
export class PrometheusWebhookMetrics implements WebhookMetrics {
  readonly #attempts: Counter<'outcome' | 'reason' | 'first'>;
  readonly #duration: Histogram<'outcome'>;
  readonly #latency: Histogram;
  readonly #exhausted: Counter;
  readonly #queued: Counter;
  readonly #inFlight: Gauge;
  readonly #breakers: Counter<'state'>;
  readonly #leasesLost: Counter;

  constructor(registry: Registry) {
    const registers = [registry];
    this.#attempts = new Counter({
      name: 'receivables_webhook_attempts_total',
      help: 'Attempts that ended, by outcome, reason of the failure, and whether it was the first one.',
      labelNames: ['outcome', 'reason', 'first'],
      registers,
    });
    this.#duration = new Histogram({
      name: 'receivables_webhook_attempt_duration_seconds',
      help: 'From the start of an attempt to its outcome.',
      labelNames: ['outcome'],
      buckets: ATTEMPT_SECONDS,
      registers,
    });
    this.#latency = new Histogram({
      name: 'receivables_webhook_delivery_latency_seconds',
      help: 'From the creation of a delivery to its success, retries included.',
      buckets: LATENCY_SECONDS,
      registers,
    });
    this.#exhausted = new Counter({
      name: 'receivables_webhook_deliveries_exhausted_total',
      help: 'Deliveries that used up their retry schedule.',
      registers,
    });
    this.#queued = new Counter({
      name: 'receivables_webhook_deliveries_queued_total',
      help: 'Deliveries that events caused.',
      registers,
    });
    this.#inFlight = new Gauge({
      name: 'receivables_webhook_attempts_in_flight',
      help: 'Attempts under way in this process.',
      registers,
    });
    this.#breakers = new Counter({
      name: 'receivables_webhook_breaker_changes_total',
      help: 'Endpoints that were found down (opened) or alive again (closed).',
      labelNames: ['state'],
      registers,
    });
    this.#leasesLost = new Counter({
      name: 'receivables_webhook_leases_lost_total',
      help: 'Results that were refused because somebody else had taken over the lane.',
      registers,
    });
  }

  attempt(attempt: Parameters<WebhookMetrics['attempt']>[0]): void {
    const { outcome, reason = 'none', first, durationMs } = attempt;
    this.#attempts.inc({ outcome, reason, first: String(first) });
    this.#duration.observe({ outcome }, Math.max(0, durationMs) / 1_000);
  }

  delivered(latencyMs: number): void {
    this.#latency.observe(Math.max(0, latencyMs) / 1_000);
  }

  exhausted(): void {
    this.#exhausted.inc();
  }

  queued(count: number): void {
    this.#queued.inc(count);
  }

  inFlight(count: number): void {
    this.#inFlight.set(count);
  }

  breaker(state: 'opened' | 'closed'): void {
    this.#breakers.inc({ state });
  }

  leaseLost(): void {
    this.#leasesLost.inc();
  }
}
