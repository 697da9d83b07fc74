import { AsyncLocalStorage } from 'node:async_hooks';
import { ROOT_CONTEXT, SpanKind, SpanStatusCode, TraceFlags, trace } from '@opentelemetry/api';
import type { Tracer as OtelTracer, Span } from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { defaultResource, resourceFromAttributes } from '@opentelemetry/resources';
import {
  BatchSpanProcessor,
  RandomIdGenerator,
  SamplingDecision,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from '@opentelemetry/sdk-trace';
import type { IdGenerator, ReadableSpan, SpanExporter } from '@opentelemetry/sdk-trace';
import type { Logger } from '../../../application/ports/logger.ts';
import { within } from '../../support/time.ts';
import { rootSpanIdOf } from './tracer.ts';
import type { Attributes, EndedSpan, NoteOnSpan, SpanDescription, Tracer } from './tracer.ts';

interface Choice {
  readonly traceId: string;
  readonly spanId: string | undefined;
}

/** Random ids, but for spans whose place is known beforehand: starting a span takes its ids at once, within the same call. */
class ChosenIds implements IdGenerator {
  readonly #random = new RandomIdGenerator();
  #choice: Choice | undefined;

  during<T>(choice: Choice, start: () => T): T {
    this.#choice = choice;
    try {
      return start();
    } finally {
      this.#choice = undefined;
    }
  }

  readonly generateTraceId = (): string => this.#choice?.traceId ?? this.#random.generateTraceId();

  readonly generateSpanId = (): string => this.#choice?.spanId ?? this.#random.generateSpanId();
}

const REPORT_EVERY_MS = 60_000;
type Done = Parameters<SpanExporter['export']>[1];

/** The SDK drops spans in silence when its collector does not take them: this says so, once a minute. */
class ReportingExporter implements SpanExporter {
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

const KINDS = {
  server: SpanKind.SERVER,
  internal: SpanKind.INTERNAL,
  client: SpanKind.CLIENT,
  producer: SpanKind.PRODUCER,
  consumer: SpanKind.CONSUMER,
} as const;
/** Beyond it spans are dropped: a collector that is away must not cost memory. */
const MOST_WAITING = 8_192;
const EXPORT_EVERY_MS = 1_000;
const EXPORT_TIMEOUT_MS = 5_000;
const CLOSE_WITHIN_MS = 1_000;

/** Sends spans to an OpenTelemetry collector over OTLP/HTTP. */
export class OtlpTracer implements Tracer {
  readonly active = true;
  readonly #ids = new ChosenIds();
  readonly #sampler: TraceIdRatioBasedSampler;
  readonly #provider: TracerProvider;
  readonly #tracer: OtelTracer;
  readonly #running = new AsyncLocalStorage<Span>();

  /**
   * @param settings where spans are posted, path included; the share of the traces that are kept, 0 to 1; what the process is called
   * beside its own name and version
   */
  constructor(
    { url, ratio, resource }: { readonly url: string; readonly ratio: number; readonly resource: Attributes },
    logger: Logger,
  ) {
    this.#sampler = new TraceIdRatioBasedSampler(ratio);
    const exporter = new ReportingExporter(
      new OTLPTraceExporter({ url, timeoutMillis: EXPORT_TIMEOUT_MS }),
      logger,
    );
    this.#provider = new TracerProvider({
      sampler: this.#sampler,
      idGenerator: this.#ids,
      resource: defaultResource().merge(resourceFromAttributes(resource)),
      spanProcessors: [
        new BatchSpanProcessor({
          exporter,
          maxQueueSize: MOST_WAITING,
          scheduledDelayMillis: EXPORT_EVERY_MS,
          exportTimeoutMillis: EXPORT_TIMEOUT_MS,
        }),
      ],
    });
    this.#tracer = this.#provider.getTracer('receivables');
  }

  keeps(traceId: string): boolean {
    return this.#sampler.shouldSample(ROOT_CONTEXT, traceId).decision !== SamplingDecision.NOT_RECORD;
  }

  run<T>(description: SpanDescription, work: (note: NoteOnSpan) => Promise<T>): Promise<T> {
    const span = this.#start(description);
    return this.#running.run(span, async () => {
      try {
        return await work((attributes, failure) => note(span, attributes, failure));
      } catch (error) {
        span.setStatus({
          code: SpanStatusCode.ERROR,
          message: error instanceof Error ? error.name : 'unknown',
        });
        throw error;
      } finally {
        span.end();
      }
    });
  }

  #start({ name, kind, traceId, attributes, link }: SpanDescription): Span {
    const running = this.#running.getStore();
    const inside = running?.spanContext().traceId === traceId;
    const options = {
      kind: KINDS[kind],
      attributes,
      ...(link && { links: [{ context: { ...link, traceFlags: TraceFlags.NONE, isRemote: true } }] }),
    };
    if (running && inside) return this.#tracer.startSpan(name, options, trace.setSpan(ROOT_CONTEXT, running));
    return this.#ids.during({ traceId, spanId: rootSpanIdOf(traceId) }, () =>
      this.#tracer.startSpan(name, options, ROOT_CONTEXT),
    );
  }

  record({
    name,
    kind,
    traceId,
    spanId,
    parentSpanId,
    startedAt,
    endedAt,
    attributes,
    failure,
  }: EndedSpan): void {
    if (!this.keeps(traceId)) return;
    const parent = { traceId, spanId: parentSpanId, traceFlags: TraceFlags.SAMPLED, isRemote: true };
    const options = { kind: KINDS[kind], attributes, startTime: startedAt };
    const span = this.#ids.during({ traceId, spanId }, () =>
      this.#tracer.startSpan(name, options, trace.setSpanContext(ROOT_CONTEXT, parent)),
    );
    note(span, {}, failure);
    span.end(Math.max(startedAt, endedAt));
  }

  async close(): Promise<void> {
    await within(CLOSE_WITHIN_MS, 'handing spans over', this.#provider.shutdown()).catch(() => undefined);
  }
}

const note = (span: Span, attributes: Attributes, failure: string | undefined): void => {
  span.setAttributes(attributes);
  if (failure !== undefined) span.setStatus({ code: SpanStatusCode.ERROR, message: failure });
};
