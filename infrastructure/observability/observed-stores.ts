import {
  ConcurrencyError,
  KeyAlreadyClaimedError,
  OutcomeUnknownError,
  StoreUnavailableError,
} from '../../application/ports/event-store.ts';
import type { AppendResult, EventStore, EventToAppend } from '../../application/ports/event-store.ts';
import type { Logger } from '../../application/ports/logger.ts';
import type { AppendOutcome, SqlStore, StoreMetrics } from './metrics/store-metrics.ts';
import { overriding } from './observed-work.ts';
import { traceIdOf } from './tracing/tracer.ts';
import type { Tracer } from './tracing/tracer.ts';

interface Observers {
  readonly metrics: StoreMetrics | undefined;
  readonly tracer: Tracer;
  readonly logger: Logger;
}

const outcomeOf = (error: unknown): AppendOutcome => {
  if (error instanceof ConcurrencyError) return 'conflict';
  if (error instanceof KeyAlreadyClaimedError) return 'claimed';
  if (error instanceof OutcomeUnknownError) return 'unknown';
  return error instanceof StoreUnavailableError ? 'unavailable' : 'failed';
};

/** Counts, times, traces and logs every append. */
export const observedEventStore = <Store extends EventStore>(store: Store, observers: Observers): Store => {
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
        metrics?.appended(outcomeOf(error), seconds(), 0);
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

/** The calls of an SQL store that are watched; what they take and give is the store's affair. */
interface SqlCalls {
  read(query: never): Promise<unknown>;
  snapshot(queries: never): Promise<unknown>;
  transaction(statements: never, options?: never): Promise<unknown>;
}

/** Errors by which a store answers "no": the caller asked for them. */
const ANSWERS = new Set(['GuardFailedError', 'ConstraintError']);

/** Times transactions and counts calls that failed. */
export const observedSql = <Database extends SqlCalls>(
  database: Database,
  store: SqlStore,
  metrics: StoreMetrics,
): Database => {
  const counting = async <Result>(call: string, result: Promise<Result>): Promise<Result> => {
    try {
      return await result;
    } catch (error) {
      const { name } = error as Error;
      if (!ANSWERS.has(name)) metrics.sqlFailed(store, call, name);
      throw error;
    }
  };
  return overriding<SqlCalls>(database, {
    read: (query) => counting('read', database.read(query)),
    snapshot: (queries) => counting('snapshot', database.snapshot(queries)),
    transaction: async (statements, options) => {
      const startedAt = performance.now();
      const results = await counting('transaction', database.transaction(statements, options));
      metrics.transaction(store, (performance.now() - startedAt) / 1_000);
      return results;
    },
  }) as Database;
};
