import type { Registry } from 'prom-client';
import { instrumentsIn } from './instruments.ts';
import type { WebhookMetrics } from '../../../application/ports/observation.ts';

export const commandMetrics = (registry: Registry) => {
  const { counter } = instrumentsIn(registry);
  const commands = counter(
    'receivables_commands_total',
    'Commands on operations, by who acted and what came of it.',
    'role',
    'outcome',
  );
  const refusals = counter(
    'receivables_command_refusals_total',
    'Commands that a rule refused, by its code.',
    'role',
    'code',
  );
  return {
    handled: (role: string, outcome: string): void => commands.inc({ role, outcome }),
    refused: (role: string, code: string): void => {
      commands.inc({ role, outcome: 'refused' });
      refusals.inc({ role, code });
    },
  };
};

const SECONDS = [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10];

/** Label of requests that match no published operation: paths are the caller's choice and would be without number. */
const UNMATCHED = 'unmatched';
/** The caller was gone before there was an answer. */
const GONE = 'gone';

export const requestMetrics = (registry: Registry) => {
  const { counter, histogram } = instrumentsIn(registry);
  const requests = counter(
    'receivables_http_requests_total',
    'Requests by published operation and status of the answer.',
    'operation',
    'status',
  );
  const name = 'receivables_http_request_duration_seconds';
  const help = 'From the arrival of the headers to the answer.';
  const duration = histogram({ name, help, buckets: SECONDS }, 'operation');
  return {
    answered: (operation: string = UNMATCHED, status: number | undefined, seconds: number): void => {
      requests.inc({ operation, status: status === undefined ? GONE : String(status) });
      duration.observe({ operation }, seconds);
    },
  };
};

/** Sweeps of the scheduler, decisions that could not be carried out, keys that are lost, and files that could not be checked. */
export const workMetrics = (registry: Registry) => {
  const { counter, gauge } = instrumentsIn(registry);
  const sweeps = counter(
    'receivables_overdue_sweeps_total',
    'Sweeps for installments that fell due.',
    'outcome',
  );
  const marked = counter('receivables_overdue_marked_total', 'Installments that became overdue.');
  const lastSweep = gauge(
    'receivables_overdue_last_sweep_timestamp_seconds',
    'When a sweep of this process last succeeded; absent before the first.',
  );
  // A process without the scheduler must not look like one whose last sweep was in 1970.
  lastSweep.remove();
  const deadLetters = counter(
    'receivables_decision_dead_letters_total',
    'Decisions of the administrator that were refused for good, by the rule that refused them.',
    'reason',
  );
  const missingKeys = counter(
    'receivables_missing_keys_total',
    'How often the key of an operation was needed and was lost: it is gone, and no borrower was forgotten there.',
  );
  const uncheckable = counter(
    'receivables_uncheckable_files_total',
    'Uploaded files that could not be checked, because the process that reads PDFs did not start.',
  );
  return {
    inspectorAway: (): void => uncheckable.inc(),
    keyMissing: (): void => missingKeys.inc(),
    swept: (installments: number): void => {
      sweeps.inc({ outcome: 'done' });
      marked.inc(installments);
      lastSweep.set(Date.now() / 1_000);
    },
    sweepFailed: (): void => sweeps.inc({ outcome: 'failed' }),
    deadLetter: (reason: string): void => deadLetters.inc({ reason }),
  };
};

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
