import type { DecisionDeadLetters } from '../../application/ports/decision-source.ts';
import { OutcomeUnknownError, StoreUnavailableError } from '../../application/ports/event-store.ts';
import type { Logger } from '../../application/ports/logger.ts';
import type {
  AttemptWatch,
  CommandWatch,
  RequestWatch,
  WatchedAttempt,
  WatchedCommand,
  WatchedRequest,
  WatchedResult,
} from '../../application/ports/observation.ts';
import { DomainError } from '../../domain/shared/domain-error.ts';
import type {
  CommandMetrics,
  CommandOutcome,
  CommandRole,
  RequestMetrics,
  WorkMetrics,
} from './metrics/work-metrics.ts';
import { parseTraceparent, traceIdOf } from './tracing/tracer.ts';
import type { NoteOnSpan, Tracer } from './tracing/tracer.ts';

/** Counts decisions that were put aside. */
export const observedDeadLetters = (
  letters: DecisionDeadLetters,
  metrics: WorkMetrics | undefined,
): DecisionDeadLetters => ({
  put: async (refused) => {
    await letters.put(refused);
    metrics?.deadLetter(refused.reason.code);
  },
});

export interface Sweep {
  execute(signal: AbortSignal): Promise<number>;
}

/** Counts sweeps and what they marked. */
export const observedSweep = (sweep: Sweep, metrics: WorkMetrics | undefined): Sweep => ({
  execute: async (signal) => {
    try {
      const marked = await sweep.execute(signal);
      metrics?.swept(marked);
      return marked;
    } catch (error) {
      metrics?.sweepFailed();
      throw error;
    }
  },
});

/** The same object with some of its methods replaced; everything else goes to the original, private fields and all. */
export const overriding = <Target extends object>(target: Target, methods: Partial<Target>): Target =>
  new Proxy(target, {
    get: (original, name) => {
      if (Object.hasOwn(methods, name)) return methods[name as keyof Target];
      const value: unknown = Reflect.get(original, name, original);
      return typeof value === 'function' ? (value.bind(original) as unknown) : value;
    },
  });

const ROLES: Readonly<Record<string, CommandRole>> = {
  administrator: 'administrator',
  scheduler: 'scheduler',
};

const outcomeOf = ({ replayed, events = [] }: WatchedResult): CommandOutcome => {
  if (replayed) return 'replayed';
  return events.length > 0 ? 'stored' : 'unchanged';
};

const failureOf = (error: unknown): CommandOutcome => {
  if (error instanceof OutcomeUnknownError) return 'unknown';
  return error instanceof StoreUnavailableError ? 'unavailable' : 'failed';
};

/** Counts and traces commands. */
export class ObservedCommands implements CommandWatch {
  readonly #metrics: CommandMetrics | undefined;
  readonly #tracer: Tracer;

  constructor(metrics: CommandMetrics | undefined, tracer: Tracer) {
    this.#metrics = metrics;
    this.#tracer = tracer;
  }

  run<Result extends WatchedResult>(command: WatchedCommand, work: () => Promise<Result>): Promise<Result> {
    const role = ROLES[command.actor] ?? 'client';
    if (!this.#tracer.active) return this.#counted(role, work);
    const { stream, correlationId, causationId } = command;
    const attributes = {
      'receivables.stream': stream,
      'receivables.correlation_id': correlationId,
      ...(causationId !== undefined && { 'receivables.causation_id': causationId }),
      'receivables.role': role,
    };
    const traceId = traceIdOf(correlationId, stream);
    return this.#tracer.run({ name: 'command', kind: 'internal', traceId, attributes }, (note) =>
      this.#counted(role, work, note),
    );
  }

  async #counted<Result extends WatchedResult>(
    role: CommandRole,
    work: () => Promise<Result>,
    note?: NoteOnSpan,
  ): Promise<Result> {
    try {
      const result = await work();
      const outcome = outcomeOf(result);
      this.#metrics?.handled(role, outcome);
      note?.({ 'receivables.outcome': outcome });
      return result;
    } catch (error) {
      if (error instanceof DomainError) {
        this.#metrics?.refused(role, error.code);
        note?.({ 'receivables.outcome': 'refused', 'receivables.error_code': error.code });
      } else {
        this.#metrics?.handled(role, failureOf(error));
      }
      throw error;
    }
  }
}

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

/** A line for each attempt that failed: at `debug`, because a receiver that is down would fill a disk. */
export class LoggedAttempts implements AttemptWatch {
  readonly #next: AttemptWatch;
  readonly #logger: Logger;

  constructor(next: AttemptWatch, logger: Logger) {
    this.#next = next;
    this.#logger = logger;
  }

  attempted(attempt: WatchedAttempt): void {
    this.#next.attempted(attempt);
    if (attempt.outcome === 'delivered') return;
    const { delivery, reason, status, startedAt, endedAt } = attempt;
    this.#logger.debug(
      {
        webhook_id: delivery.endpoint.webhookId,
        delivery_id: delivery.deliveryId,
        event_id: delivery.event.eventId,
        attempt: delivery.attempt,
        reason,
        status,
        duration_ms: endedAt - startedAt,
      },
      'delivery attempt failed',
    );
  }
}
