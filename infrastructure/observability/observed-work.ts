import {
  ConcurrencyError,
  KeyAlreadyClaimedError,
  OutcomeUnknownError,
  StoreUnavailableError,
} from '../../application/ports/event-store.ts';
import type { AppendResult, EventStore, EventToAppend } from '../../application/ports/event-store.ts';
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
import type { AppendOutcome, StoreMetrics } from './metrics/store-metrics.ts';
import type { CommandMetrics, CommandOutcome, CommandRole, RequestMetrics } from './metrics/work-metrics.ts';
import { parseTraceparent, traceIdOf } from './tracing/tracer.ts';
import type { NoteOnSpan, Tracer } from './tracing/tracer.ts';

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
  readonly #next: AttemptWatch | undefined;
  readonly #logger: Logger;

  constructor(next: AttemptWatch | undefined, logger: Logger) {
    this.#next = next;
    this.#logger = logger;
  }

  attempted(attempt: WatchedAttempt): void {
    this.#next?.attempted(attempt);
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

interface StoreObservers {
  readonly metrics: StoreMetrics | undefined;
  readonly tracer: Tracer;
  readonly logger: Logger;
}

const appendFailure = (error: unknown): AppendOutcome => {
  if (error instanceof ConcurrencyError) return 'conflict';
  if (error instanceof KeyAlreadyClaimedError) return 'claimed';
  if (error instanceof OutcomeUnknownError) return 'unknown';
  return error instanceof StoreUnavailableError ? 'unavailable' : 'failed';
};

/** Counts, times, traces and logs every append. */
export const observedEventStore = <Store extends EventStore>(
  store: Store,
  observers: StoreObservers,
): Store => {
  const { metrics, tracer, logger } = observers;
  const traced = (
    stream: string,
    events: readonly EventToAppend[],
    append: () => Promise<AppendResult>,
  ): Promise<AppendResult> => {
    const [first] = events;
    if (!first) return append();
    return tracer.run(
      {
        name: 'append',
        kind: 'client',
        traceId: traceIdOf(first.metadata.correlationId, stream),
        attributes: {
          'receivables.stream': stream,
          'receivables.event_ids': events.map(({ id }) => id).join(','),
          'receivables.event_types': events.map(({ type }) => type).join(','),
        },
      },
      async (note) => {
        const result = await append();
        note({ 'receivables.revision': Number(result.revision) });
        return result;
      },
    );
  };
  const readFailing = async <Result>(call: string, read: Promise<Result>): Promise<Result> => {
    try {
      return await read;
    } catch (error) {
      metrics?.readFailed(call);
      throw error;
    }
  };
  return overriding<EventStore>(store, {
    append: async (stream, expected, events, claim) => {
      const startedAt = performance.now();
      const seconds = (): number => (performance.now() - startedAt) / 1_000;
      const append = (): Promise<AppendResult> => store.append(stream, expected, events, claim);
      try {
        const result = await (tracer.active ? traced(stream, events, append) : append());
        metrics?.appended('stored', seconds(), events.length);
        logStored(logger, stream, events, result);
        return result;
      } catch (error) {
        metrics?.appended(appendFailure(error), seconds(), 0);
        throw error;
      }
    },
    read: (stream, from) => readFailing('read', store.read(stream, from)),
    head: (stream) => readFailing('head', store.head(stream)),
    findClaim: (claim) => readFailing('find_claim', store.findClaim(claim)),
  }) as Store;
};

/** The line that leads from a request or a decision to its events, and from there to the deliveries. */
const logStored = (
  logger: Logger,
  stream: string,
  events: readonly EventToAppend[],
  { revision }: AppendResult,
): void => {
  const [first] = events;
  if (!first) return;
  const { correlationId, causationId, actor } = first.metadata;
  logger.info(
    {
      stream,
      revision: Number(revision),
      event_ids: events.map(({ id }) => id),
      event_types: events.map(({ type }) => type),
      correlation_id: correlationId,
      ...(causationId !== correlationId && { causation_id: causationId }),
      actor,
    },
    'events stored',
  );
};
