import type { ReadableSpan, SpanExporter } from '@opentelemetry/sdk-trace';
import type { Logger } from '../../../application/ports/logger.ts';

const REPORT_EVERY_MS = 60_000;
type Done = Parameters<SpanExporter['export']>[1];

/** The SDK drops spans in silence when its collector does not take them: this says so, once a minute. */
export class ReportingExporter implements SpanExporter {
  readonly #exporter: SpanExporter;
  readonly #logger: Logger;
  #lost = 0;
  #reportedAt = -Infinity;

  constructor(exporter: SpanExporter, logger: Logger) {
    this.#exporter = exporter;
    this.#logger = logger;
  }

  export(spans: ReadableSpan[], done: Done): void {
    this.#exporter.export(spans, (result) => {
      if (result.error !== undefined) this.#failed(spans.length, result.error);
      done(result);
    });
  }

  #failed(spans: number, error: Error): void {
    this.#lost += spans;
    const now = performance.now();
    if (now - this.#reportedAt < REPORT_EVERY_MS) return;
    this.#logger.warn({ spans: this.#lost, reason: error.message }, 'traces: the collector takes no spans');
    this.#reportedAt = now;
    this.#lost = 0;
  }

  forceFlush(): Promise<void> {
    return this.#exporter.forceFlush?.() ?? Promise.resolve();
  }

  shutdown(): Promise<void> {
    return this.#exporter.shutdown();
  }
}
