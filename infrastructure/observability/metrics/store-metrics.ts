import type { Registry } from 'prom-client';
import type { SqlWatch } from '../../../application/ports/observation.ts';
import { instrumentsIn } from './instruments.ts';

const SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10];

/** Errors by which an SQL store answers "no": the caller asked for them. */
const ANSWERS = new Set(['GuardFailedError', 'ConstraintError']);

/** The event store and the SQL stores as their callers see them. */
export const storeMetrics = (registry: Registry) => {
  const { counter, histogram } = instrumentsIn(registry);
  const timed = { help: 'From the call to the durable answer.', buckets: SECONDS };
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
