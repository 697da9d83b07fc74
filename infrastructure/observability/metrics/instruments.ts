import { Counter, Gauge, Histogram } from 'prom-client';
import type { Registry } from 'prom-client';
import type { WebhookMetrics, SqlWatch } from '../../../application/ports/observation.ts';

/** Makes what counts and measures in this registry; behind the help stand the names of labels. */
export const instrumentsIn = (registry: Registry) => {
  const registers = [registry];
  return {
    counter: <Label extends string>(name: string, help: string, ...labelNames: Label[]) =>
      new Counter<Label>({ name, help, labelNames, registers }),
    gauge: <Label extends string>(name: string, help: string, ...labelNames: Label[]) =>
      new Gauge<Label>({ name, help, labelNames, registers }),
    /** @param buckets upper bounds, in seconds */
    histogram: <Label extends string>(
      { name, help, buckets }: { readonly name: string; readonly help: string; readonly buckets: number[] },
      ...labelNames: Label[]
    ) => new Histogram<Label>({ name, help, buckets, labelNames, registers }),
  };
};

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

const STORE_SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10];

/** Errors by which an SQL store answers "no": the caller asked for them. */
const ANSWERS = new Set(['GuardFailedError', 'ConstraintError']);

/** The event store and the SQL stores as their callers see them. */
export const storeMetrics = (registry: Registry) => {
  const { counter, histogram } = instrumentsIn(registry);
  const timed = { help: 'From the call to the durable answer.', buckets: STORE_SECONDS };
  const appends = counter(
    'receivables_event_store_appends_total',
    'Appends by outcome; a conflict is decided again, an unknown outcome is sent again.',
    'outcome',
  );
  const appendDuration = histogram({ name: 'receivables_event_store_append_duration_seconds', ...timed });
  const stored = counter('receivables_event_store_events_total', 'Events that this process stored.');
  const readErrors = counter(
    'receivables_event_store_read_errors_total',
    'Reads of the event store that failed.',
    'call',
  );
  const sqlDuration = histogram({ name: 'receivables_sql_transaction_duration_seconds', ...timed }, 'store');
  const sqlErrors = counter(
    'receivables_sql_errors_total',
    'Calls that failed; guards and constraints that said no are answers and do not count.',
    'store',
    'call',
    'error',
  );
  return {
    appended: (outcome: string, seconds: number, events: number): void => {
      appends.inc({ outcome });
      appendDuration.observe(seconds);
      if (outcome === 'stored') stored.inc(events);
    },
    readFailed: (call: string): void => readErrors.inc({ call }),
    /** @param store its name, as labels have it */
    sql: (store: 'service' | 'read_model'): SqlWatch => ({
      committed: (durationMs) => sqlDuration.observe({ store }, durationMs / 1_000),
      failed: (call, error) => {
        const { name } = error as Error;
        if (!ANSWERS.has(name)) sqlErrors.inc({ store, call, error: name });
      },
    }),
  };
};

/** What an event bus tells of itself: messages that were put aside, and topics that are not as they should be. */
export const busMetrics = (registry: Registry) => {
  const { counter, gauge } = instrumentsIn(registry);
  const deadLetters = counter(
    'receivables_bus_dead_letters_total',
    'Messages that a consumer group could never handle and put aside.',
    'topic',
    'group',
  );
  const problems = gauge(
    'receivables_bus_topic_problems',
    '1 for a setting in which a topic of the event bus is not as it should be; the log says how to mend it.',
    'topic',
    'setting',
  );
  const known = new Map<string, readonly string[]>();
  return {
    deadLettered: (topic: string, group: string): void => deadLetters.inc({ topic, group }),
    /** @param short settings in which it is not as it should be now */
    topicChecked: (topic: string, short: readonly string[]): void => {
      for (const setting of known.get(topic) ?? []) problems.remove({ topic, setting });
      for (const setting of short) problems.set({ topic, setting }, 1);
      known.set(topic, short);
    },
  };
};
