import { sql } from 'kysely';
import type { CompiledQuery } from 'kysely';
import { differingRows } from '../../audit/difference.ts';
import type { EventStore, EventSubscription, KeyClaim, LogPosition } from '../../ports/event-store.ts';
import { rawQuery } from '../../sql/engine.ts';
import type { SqlDatabase } from '../../sql/sql-database.ts';
import { retryUntilAvailable } from '../../support/retry.ts';
import { copyEvents, verifyEvents } from './copy-events.ts';
import { MoveFailedError, MOVED_TABLES } from './what-moves.ts';
import type { LogToMove, PlacesToMove, MovedTable, Row, MovedRows, Value } from './what-moves.ts';

interface DocumentsToMove {
  count(): Promise<number>;
  copy(moved: (documents: number) => void): Promise<void>;
}

interface Dependencies {
  readonly log: LogToMove;
  readonly records: { readonly source: MovedRows; readonly target: SqlDatabase };
  readonly finish: (places: PlacesToMove) => Promise<void>;
  readonly store: (EventStore & EventSubscription) | undefined;
  readonly documents: DocumentsToMove | undefined;
  readonly pause: (ms: number) => Promise<void>;
}

interface Moved {
  readonly events: number;
  readonly streams: number;
  readonly claims: number;
  readonly records: number;
  readonly documents: number;
}

type Done = (steps: number) => void;
type Records = Pick<Dependencies, 'records' | 'pause'>;

const PAGE = 250;
const CLAIMS_IN_FLIGHT = 32;

const keyOf = ({ key }: MovedTable, row: Row): readonly Value[] => key.map((column) => row[column]!);

const countRecords = (source: MovedRows): number =>
  MOVED_TABLES.reduce((sum, table) => sum + source.count(table), 0);

function* pagesOf(source: MovedRows) {
  for (const table of MOVED_TABLES)
    for (let after: readonly Value[] | undefined; ;) {
      const rows = source.page(table, after, PAGE);
      yield { table, after, rows };
      const last = rows.at(-1);
      if (!last) break;
      after = keyOf(table, last);
    }
}

const copyRecords = async ({ records: { source, target }, pause }: Records, done: Done): Promise<void> => {
  for (const { table, rows } of pagesOf(source)) {
    if (rows.length === 0) continue;
    const query = insertion(target, table, rows);
    await retryUntilAvailable(() => target.transaction([{ query }]), pause);
    done(rows.length);
  }
};

/** @throws MoveFailedError naming the first row that is not what it was */
const compareRecords = async ({ records: { source, target }, pause }: Records, done: Done): Promise<void> => {
  for (const { table, after, rows } of pagesOf(source)) {
    const nameOf = (row: Row): string => JSON.stringify(keyOf(table, row));
    const there = await retryUntilAvailable(() => target.read(selection(target, table, after)), pause);
    for (const { expected, found, columns } of differingRows(nameOf, rows, there)) {
      const key = keyOf(table, (expected ?? found)!).join(', ');
      const one = expected ? 'is missing' : 'is one too many';
      const how = columns.length > 0 ? `differs in ${columns.join(', ')}` : one;
      throw new MoveFailedError(`${table.name} is not what it was: ${key} ${how}`);
    }
    done(rows.length);
  }
};

/** A row that is there already was stored by the same move before it was interrupted. */
const insertion = ({ builder }: SqlDatabase, { name }: MovedTable, rows: readonly Row[]): CompiledQuery => {
  const columns = Object.keys(rows[0]!);
  const values = rows.map((row) => sql`(${sql.join(columns.map((column) => row[column]))})`);
  return sql`insert into ${sql.table(name)} (${sql.join(columns.map((column) => sql.ref(column)))})
    values ${sql.join(values)} on conflict do nothing`.compile(builder);
};

const selection = (database: SqlDatabase, { name, key }: MovedTable, after: readonly Value[] | undefined) => {
  const columns = sql.join(key.map((column) => sql.ref(column)));
  const where = after === undefined ? sql`` : sql`where (${columns}) > (${sql.join([...after])})`;
  const text = sql<Row>`select * from ${sql.table(name)} ${where} order by ${columns} limit ${sql.lit(PAGE)}`;
  return rawQuery(database, text);
};

/** Every step can be repeated, so a process that was killed is started again; all is compared before it is in use. */
export class Move {
  readonly #deps: Dependencies;

  constructor(dependencies: Dependencies) {
    this.#deps = dependencies;
  }

  async steps(): Promise<number> {
    const { store, log, records, documents } = this.#deps;
    const { events, claims } = log.counts();
    return (
      2 * countRecords(records.source) + (store ? 2 * events + claims : 0) + ((await documents?.count()) ?? 0)
    );
  }

  /** @throws MoveFailedError @throws StoreUnavailableError an engine stays away: start it again later */
  async execute(done: Done): Promise<Moved> {
    const { store, records, log, finish, documents, pause } = this.#deps;
    await copyRecords(this.#deps, done);
    const places = store ? await this.#moveStreams(store, done) : records.source.places();
    await documents?.copy(done);
    await compareRecords(this.#deps, done);
    await retryUntilAvailable(() => finish(places), pause);
    const { events, streams, claims } = store ? log.counts() : { events: 0, streams: 0, claims: 0 };
    return {
      events,
      streams,
      claims,
      records: countRecords(records.source),
      documents: (await documents?.count()) ?? 0,
    };
  }

  async #moveStreams(store: EventStore & EventSubscription, done: Done): Promise<PlacesToMove> {
    const { log, records, pause } = this.#deps;
    const { checkpoints, subscriptions } = records.source.places();
    const old = [...checkpoints.map(({ position }) => position), ...subscriptions.map(({ place }) => place)];
    const placeOf = (position: LogPosition | 'start'): number =>
      position === 'start' ? 0 : log.lastAt(position);
    const cuts = new Set(old.map(placeOf).filter((at) => at > 0));
    await copyEvents({ log, store, pause }, cuts, done);
    const positions = await verifyEvents({ log, subscription: store }, cuts, done);
    for (const page of log.claims()) {
      for (let at = 0; at < page.length; at += CLAIMS_IN_FLIGHT) {
        const some = page.slice(at, at + CLAIMS_IN_FLIGHT);
        await Promise.all(some.map((held) => this.#verifyClaim(store, held.claim, held.stream)));
        done(some.length);
      }
    }
    const moved = (position: LogPosition | 'start') => positions.get(placeOf(position));
    return {
      checkpoints: checkpoints.flatMap(({ name, position: before }) => {
        const position = moved(before);
        return position === undefined ? [] : [{ name, position }];
      }),
      subscriptions: subscriptions.map((one) => ({ ...one, place: moved(one.place) ?? 'start' })),
    };
  }

  async #verifyClaim(store: EventStore, claim: KeyClaim, stream: string): Promise<void> {
    const holder = await retryUntilAvailable(() => store.findClaim(claim), this.#deps.pause);
    if (holder === stream) return;
    throw new MoveFailedError(
      `the key ${claim.key} of ${claim.endpoint} should be held by ${stream}, and ${holder === undefined ? 'is not held' : `is held by ${holder}`}`,
    );
  }
}
