import { Counter, Histogram } from 'prom-client';
import type { Registry } from 'prom-client';
import type { SqlWatch } from '../../../application/ports/observation.ts';

const SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10];

export type AppendOutcome = 'stored' | 'conflict' | 'claimed' | 'unknown' | 'unavailable' | 'failed';

/** Errors by which an SQL store answers "no": the caller asked for them. */
const ANSWERS = new Set(['GuardFailedError', 'ConstraintError']);

/** The event store and the SQL stores as their callers see them. */
export class StoreMetrics {
  readonly #appends: Counter<'outcome'>;
  readonly #appendDuration: Histogram;
  readonly #events: Counter;
  readonly #readErrors: Counter<'call'>;
  readonly #sqlDuration: Histogram<'store'>;
  readonly #sqlErrors: Counter<'store' | 'call' | 'error'>;

  constructor(registry: Registry) {
    const registers = [registry];
    this.#appends = new Counter({
      name: 'receivables_event_store_appends_total',
      help: 'Appends by outcome; a conflict is decided again, an unknown outcome is sent again.',
      labelNames: ['outcome'],
      registers,
    });
    this.#appendDuration = new Histogram({
      name: 'receivables_event_store_append_duration_seconds',
      help: 'From the call to the durable answer.',
      buckets: SECONDS,
      registers,
    });
    this.#events = new Counter({
      name: 'receivables_event_store_events_total',
      help: 'Events that this process stored.',
      registers,
    });
    this.#readErrors = new Counter({
      name: 'receivables_event_store_read_errors_total',
      help: 'Reads of the event store that failed.',
      labelNames: ['call'],
      registers,
    });
    this.#sqlDuration = new Histogram({
      name: 'receivables_sql_transaction_duration_seconds',
      help: 'From the call to the durable answer.',
      labelNames: ['store'],
      buckets: SECONDS,
      registers,
    });
    this.#sqlErrors = new Counter({
      name: 'receivables_sql_errors_total',
      help: 'Calls that failed; guards and constraints that said no are answers and do not count.',
      labelNames: ['store', 'call', 'error'],
      registers,
    });
  }

  appended(outcome: AppendOutcome, seconds: number, events: number): void {
    this.#appends.inc({ outcome });
    this.#appendDuration.observe(seconds);
    if (outcome === 'stored') this.#events.inc(events);
  }

  readFailed(call: string): void {
    this.#readErrors.inc({ call });
  }

  /** @param store its name, as labels have it */
  sql(store: 'service' | 'read_model'): SqlWatch {
    return {
      committed: (durationMs) => this.#sqlDuration.observe({ store }, durationMs / 1_000),
      failed: (call, error) => {
        const { name } = error as Error;
        if (!ANSWERS.has(name)) this.#sqlErrors.inc({ store, call, error: name });
      },
    };
  }
}
