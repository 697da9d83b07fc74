import { randomUUID } from 'node:crypto';
import { expect } from '@jest/globals';
import { loanStream } from '../../application/command-handling/operation.ts';
import { decodeEvent } from '../../application/event-codec/event-codec.ts';
import { UnreadableEventError } from '../../application/event-codec/fields.ts';
import { QuarantinedOperations } from '../../application/maintenance/quarantine/quarantined-operations.ts';
import { ReadModelCopy } from '../../application/maintenance/rebuild/read-model-copy.ts';
import type {
  EventStore,
  EventSubscription,
  PlacedEvents,
  RecordedEvent,
  StoredEvents,
} from '../../application/ports/event-store.ts';
import { projectedEvent } from '../../application/projecting/projected-event.ts';
import { SqlProjectionStore } from '../../application/projecting/projection-store.ts';
import type { FeedQuery } from '../../application/publication/feed.ts';
import { Publication } from '../../application/publication/publication.ts';
import type { Query, SqlDatabase } from '../../application/sql/sql-database.ts';
import type { LoanEvent } from '../../domain/loan/events.ts';
import { loanDecider } from '../../domain/loan/index.ts';
import type { LoanCommand } from '../../domain/loan/index.ts';
import type { FundId, LoanCode } from '../../domain/shared/identifiers.ts';
import { eventIndex, logOrder } from '../../infrastructure/composition/read-models.ts';
import { loanProjection } from '../../projections/loan/loan-projection.ts';
import { receiveL1 } from '../domain/support/loan-story.ts';
import { NOW, commandHandler, fixedClock } from '../support/application-parts.ts';
import { RecordingLogger } from '../support/recording-logger.ts';

export interface FeedStores {
  readonly log: EventStore & EventSubscription & PlacedEvents & Partial<StoredEvents>;
  readonly database: SqlDatabase;
  close(): Promise<void>;
}

export const FUNDS = [randomUUID(), randomUUID()] as const;
/** After its reception, in the order in which they can be carried out. */
const STEPS: readonly LoanCommand['type'][] = ['ApproveLoan', 'SignLoanTerm', 'DisburseLoan'];

/** Counts what a page asks of the read model and of the log. */
export class Counts {
  queries = 0;
  rows = 0;
  events = 0;
  readonly texts: string[] = [];
}

export const counting = (stores: FeedStores, counts: Counts): Pick<FeedStores, 'log' | 'database'> => {
  const { log, database } = stores;
  const note = (queries: readonly Query<unknown>[], answers: readonly (readonly unknown[])[]): void => {
    counts.queries += queries.length;
    counts.rows += answers.reduce((sum, rows) => sum + rows.length, 0);
    counts.texts.push(...queries.map((query) => query.compile().sql));
  };
  return {
    database: {
      ...{ dialect: database.dialect, builder: database.builder },
      read: async (query) => {
        const rows = await database.read(query);
        note([query], [rows]);
        return rows;
      },
      snapshot: async (queries) => {
        const answers = await database.snapshot(queries);
        note(queries, answers);
        return answers;
      },
      transaction: (...parameters) => database.transaction(...parameters),
      close: async () => undefined,
    },
    log: {
      ...{ append: log.append.bind(log), head: log.head.bind(log), findClaim: log.findClaim.bind(log) },
      ...{ read: log.read.bind(log), subscribe: log.subscribe.bind(log) },
      ...(log.byId && { byId: log.byId.bind(log) }),
      at: async (...place) => {
        counts.events += 1;
        return log.at(...place);
      },
    },
  };
};

/** A service over these stores, as far as the feed needs one. */
export const serviceOn = (stores: Pick<FeedStores, 'log' | 'database'>) => {
  const { log, database } = stores;
  const commands = commandHandler(log, fixedClock());
  const unreadable = new Set<string>();
  const decode = (recorded: RecordedEvent) => {
    if (unreadable.has(recorded.id)) throw new UnreadableEventError('a field of later');
    return decodeEvent(recorded);
  };
  const publication = new Publication({
    log: Object.assign(Object.create(log) as FeedStores['log'], {
      at: (stream: string, revision: bigint) => log.at(stream, revision),
      ...(log.byId && { byId: (id: string) => log.byId!(id) }),
      subscribe: (options: Parameters<EventSubscription['subscribe']>[0]) => log.subscribe(options),
    }),
    ...{ events: log, readModel: database, decode: (one) => decode(one) as LoanEvent },
    ...{ apiVersion: '2026.6.0', cacheBytes: 1_000_000, logger: new RecordingLogger() },
    ...{ checkpoints: {} as never, quarantine: {} as never, topics: () => Promise.reject(new Error('none')) },
    ...{ written: async () => undefined, sleep: async () => undefined },
  });
  const store = new SqlProjectionStore(database);
  const projections = log.byId ? [loanProjection] : [loanProjection, eventIndex];
  const projected = (event: RecordedEvent) => projectedEvent(event, decode(event));
  return {
    publication,
    unreadable,
    tell: (application: string, code: string, command: LoanCommand) =>
      commands.handle({
        stream: loanStream(application, code),
        ...{ applicationId: application, actor: 'test', correlationId: 'test' },
        decide: (state) => loanDecider.decide(command, state),
      }),
    /** Takes in what the log holds. */
    project: async () => {
      for (const projection of projections)
        await new ReadModelCopy({
          ...{ log, store, projection, order: logOrder, decode: projected },
          ...{ onProgress: () => undefined, breathe: async () => undefined },
        }).catchUp(new AbortController().signal);
    },
    release: (stream: string) =>
      new QuarantinedOperations({
        ...{ projections, store, events: log, order: logOrder, decode: projected },
        relay: { list: async () => [], waits: async () => false, release: async () => false },
        renegotiation: { resolve: async () => undefined },
        actors: [],
      }).release(stream),
  };
};
export type Service = ReturnType<typeof serviceOn>;

const receive = (code: string, fund: string): LoanCommand => ({
  ...receiveL1,
  code: code as LoanCode,
  fundId: fund as FundId,
});

/** An operation of which so much has happened: its reception, and up to three steps more. */
export const assigned = async (
  { tell }: Service,
  application: string,
  { code, fund = FUNDS[0], steps = 0 }: { code: string; fund?: string; steps?: number },
): Promise<void> => {
  await tell(application, code, receive(code, fund));
  for (const type of STEPS.slice(0, steps)) await tell(application, code, { type, now: NOW } as LoanCommand);
};

/** What the command line prints, in its order. */
export const printed = async ({ publication }: Service, applicationId: string) => {
  const bodies: string[] = [];
  const query = { applicationId, follow: false };
  for await (const { event } of publication.stream(query, new AbortController().signal))
    bodies.push(event.body);
  return bodies;
};

interface Walk {
  readonly bodies: readonly string[];
  readonly last: string | null;
}

/** Page after page until there is no more. */
export const walked = async (
  { publication }: Service,
  reader: Parameters<Publication['feed']['page']>[0],
  query: FeedQuery,
): Promise<Walk> => {
  const bodies: string[] = [];
  let last = query.after ?? null;
  for (;;) {
    const page = await publication.feed.page(reader, { ...query, ...(last !== null && { after: last }) });
    expect(page.events.length).toBeLessThanOrEqual(query.limit);
    bodies.push(...page.events.map(({ body }) => body));
    last = page.nextAfter;
    if (!page.hasMore) return { bodies, last };
  }
};

export const idOf = (body: string): string => (JSON.parse(body) as { event_id: string }).event_id;
export const fieldOf = (body: string, field: string): unknown =>
  (JSON.parse(body) as Record<string, unknown>)[field];
