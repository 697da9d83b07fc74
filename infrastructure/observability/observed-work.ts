import {
  ConcurrencyError,
  KeyAlreadyClaimedError,
  OutcomeUnknownError,
  StoreUnavailableError,
} from '../../application/ports/event-store.ts';
import type { AppendResult, EventToAppend } from '../../application/ports/event-store.ts';
import type { Logger } from '../../application/ports/logger.ts';
import type {
  CommandWatch,
  EventStoreWatch,
  RequestWatch,
  WatchedRequest,
  WatchedResult,
} from '../../application/ports/observation.ts';
import { DomainError } from '../../domain/shared/domain-error.ts';
import type { ServiceMetrics } from './service-metrics.ts';
import { parseTraceparent, traceIdOf } from './tracing/tracer.ts';
import type { NoteOnSpan, Tracer } from './tracing/tracer.ts';

/** Who acts, where it is no client: their ids are without number, so all of them are `client`. */
const ROLES: ReadonlySet<string> = new Set(['administrator', 'scheduler']);

/** By its key used before, stored, or already as the command wants it. */
const outcomeOf = ({ replayed, events = [] }: WatchedResult): string => {
  if (replayed) return 'replayed';
  return events.length > 0 ? 'stored' : 'unchanged';
};

/** Beside what a rule refused: what the store did not say even after retries is `unknown`. */
const failureOf = (error: unknown): string => {
  if (error instanceof OutcomeUnknownError) return 'unknown';
  return error instanceof StoreUnavailableError ? 'unavailable' : 'failed';
};

const counted = async <Result extends WatchedResult>(
  metrics: ServiceMetrics | undefined,
  role: string,
  work: () => Promise<Result>,
  note?: NoteOnSpan,
): Promise<Result> => {
  try {
    const result = await work();
    const outcome = outcomeOf(result);
    metrics?.commands.handled(role, outcome);
    note?.({ 'receivables.outcome': outcome });
    return result;
  } catch (error) {
    if (error instanceof DomainError) {
      metrics?.commands.refused(role, error.code);
      note?.({ 'receivables.outcome': 'refused', 'receivables.error_code': error.code });
    } else {
      metrics?.commands.handled(role, failureOf(error));
    }
    throw error;
  }
};

interface Observers {
  /** Undefined when they are off. */
  readonly metrics: ServiceMetrics | undefined;
  readonly tracer: Tracer;
  readonly logger: Logger;
}

/** Counts and traces commands. */
export const observedCommands = ({ metrics, tracer }: Observers): CommandWatch => ({
  run: (command, work) => {
    const [named = ''] = command.actor.split('/', 1);
    const role = ROLES.has(named) ? named : 'client';
    if (!tracer.active) return counted(metrics, role, work);
    const { stream, correlationId, causationId } = command;
    const attributes = {
      'receivables.stream': stream,
      'receivables.correlation_id': correlationId,
      ...(causationId !== undefined && { 'receivables.causation_id': causationId }),
      'receivables.role': role,
    };
    const traceId = traceIdOf(correlationId, stream);
    return tracer.run({ name: 'command', kind: 'internal', traceId, attributes }, (note) =>
      counted(metrics, role, work, note),
    );
  },
});

const REFUSED = 400;
const FAILED = 500;

/** Counts, times, traces and logs requests. */
export const observedRequests = (observers: Observers): RequestWatch => ({
  run: async (request, work) => {
    const { tracer } = observers;
    const startedAt = performance.now();
    try {
      await (tracer.active ? tracedRequest(tracer, request, work) : work());
    } finally {
      answered(observers, request, (performance.now() - startedAt) / 1_000);
    }
  },
});

/** The service begins a trace of its own and links it to the caller's: what callers send must not decide what is kept here. */
const tracedRequest = (tracer: Tracer, request: WatchedRequest, work: () => Promise<void>): Promise<void> => {
  const { requestId, operation = 'unmatched', method } = request;
  const traceId = traceIdOf(requestId, '');
  const link = parseTraceparent(request.traceparent);
  const attributes = { 'receivables.request_id': requestId, 'http.request.method': method };
  return tracer.run({ name: operation, kind: 'server', traceId, attributes, link }, async (note) => {
    await work();
    const status = request.status();
    if (status === undefined) note({}, 'gone');
    else note({ 'http.response.status_code': status }, status >= FAILED ? 'http_status' : undefined);
  });
};

const answered = ({ metrics, logger }: Observers, request: WatchedRequest, seconds: number): void => {
  const { requestId, operation } = request;
  const status = request.status();
  metrics?.requests.answered(operation, status, seconds);
  // Refusals have a line of their own, with the reason.
  if (status !== undefined && status >= REFUSED) return;
  const fields = { request_id: requestId, operation, status, duration_ms: Math.round(seconds * 1e5) / 100 };
  if (status === undefined) logger.info(fields, 'request abandoned by its caller');
  // What a request changed has a line of its own, under the same id; how many there are and how long they take, the metrics say.
  else logger.debug(fields, 'request answered');
};

const appendFailure = (error: unknown): string => {
  if (error instanceof ConcurrencyError) return 'conflict';
  if (error instanceof KeyAlreadyClaimedError) return 'claimed';
  if (error instanceof OutcomeUnknownError) return 'unknown';
  return error instanceof StoreUnavailableError ? 'unavailable' : 'failed';
};

type Append = Parameters<EventStoreWatch['append']>;

/** Counts, times, traces and logs every append. */
export const observedEventStore = ({ metrics, tracer, logger }: Observers): EventStoreWatch => ({
  append: async (stream, events, append) => {
    const startedAt = performance.now();
    try {
      const result = await (tracer.active ? tracedAppend(tracer, [stream, events, append]) : append());
      metrics?.stores.appended('stored', (performance.now() - startedAt) / 1_000, events.length);
      logStored(logger, stream, events, result);
      return result;
    } catch (error) {
      metrics?.stores.appended(appendFailure(error), (performance.now() - startedAt) / 1_000, 0);
      throw error;
    }
  },
  readFailed: (call) => metrics?.stores.readFailed(call),
});

const tracedAppend = (tracer: Tracer, [stream, events, append]: Append): Promise<AppendResult> => {
  const [first] = events;
  if (!first) return append();
  const span = {
    name: 'append',
    kind: 'client',
    traceId: traceIdOf(first.metadata.correlationId, stream),
    attributes: {
      'receivables.stream': stream,
      'receivables.event_ids': events.map(({ id }) => id).join(','),
      'receivables.event_types': events.map(({ type }) => type).join(','),
    },
  } as const;
  return tracer.run(span, async (note) => {
    const result = await append();
    note({ 'receivables.revision': Number(result.revision) });
    return result;
  });
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
