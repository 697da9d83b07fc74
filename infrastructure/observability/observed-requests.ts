import type { Logger } from '../../application/ports/logger.ts';
import type { RequestWatch, WatchedRequest } from '../../application/ports/observation.ts';
import type { RequestMetrics } from './metrics/request-metrics.ts';
import { parseTraceparent, traceIdOf } from './tracing/trace-ids.ts';
import type { Tracer } from './tracing/tracer.ts';

interface Observers {
  readonly metrics: RequestMetrics | undefined;
  readonly tracer: Tracer;
  readonly logger: Logger;
}

const REFUSED = 400;
const FAILED = 500;

/** Counts, times, traces and logs requests. */
export class ObservedRequests implements RequestWatch {
  readonly #observers: Observers;

  constructor(observers: Observers) {
    this.#observers = observers;
  }

  async run(request: WatchedRequest, work: () => Promise<void>): Promise<void> {
    const { tracer } = this.#observers;
    const startedAt = performance.now();
    try {
      await (tracer.active ? this.#traced(request, work) : work());
    } finally {
      this.#answered(request, (performance.now() - startedAt) / 1_000);
    }
  }

  /** The service begins a trace of its own and links it to the caller's: what callers send must not decide what is kept here. */
  #traced(request: WatchedRequest, work: () => Promise<void>): Promise<void> {
    const { requestId, operation = 'unmatched', method } = request;
    const traceId = traceIdOf(requestId, '');
    const link = parseTraceparent(request.traceparent);
    const attributes = { 'receivables.request_id': requestId, 'http.request.method': method };
    return this.#observers.tracer.run(
      { name: operation, kind: 'server', traceId, attributes, link },
      async (note) => {
        await work();
        const status = request.status();
        if (status === undefined) note({}, 'gone');
        else note({ 'http.response.status_code': status }, status >= FAILED ? 'http_status' : undefined);
      },
    );
  }

  #answered(request: WatchedRequest, seconds: number): void {
    const { metrics, logger } = this.#observers;
    const { requestId, operation } = request;
    const status = request.status();
    metrics?.answered(operation, status, seconds);
    // Refusals have a line of their own, with the reason.
    if (status !== undefined && status >= REFUSED) return;
    const fields = { request_id: requestId, operation, status, duration_ms: Math.round(seconds * 1e5) / 100 };
    if (status === undefined) logger.info(fields, 'request abandoned by its caller');
    // What a request changed has a line of its own, under the same id; how many there are and how long they take, the metrics say.
    else logger.debug(fields, 'request answered');
  }
}
