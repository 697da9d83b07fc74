import { Counter, Histogram } from 'prom-client';
import type { Registry } from 'prom-client';

const SECONDS = [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10];

/** Label of requests that match no published operation: paths are the caller's choice and would be without number. */
const UNMATCHED = 'unmatched';
/** The caller was gone before there was an answer. */
const GONE = 'gone';

export class RequestMetrics {
  readonly #requests: Counter<'operation' | 'status'>;
  readonly #duration: Histogram<'operation'>;

  constructor(registry: Registry) {
    this.#requests = new Counter({
      name: 'receivables_http_requests_total',
      help: 'Requests by published operation and status of the answer.',
      labelNames: ['operation', 'status'],
      registers: [registry],
    });
    this.#duration = new Histogram({
      name: 'receivables_http_request_duration_seconds',
      help: 'From the arrival of the headers to the answer.',
      labelNames: ['operation'],
      buckets: SECONDS,
      registers: [registry],
    });
  }

  answered(operation: string = UNMATCHED, status: number | undefined, seconds: number): void {
    this.#requests.inc({ operation, status: status === undefined ? GONE : String(status) });
    this.#duration.observe({ operation }, seconds);
  }
}
