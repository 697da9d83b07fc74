import { afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { DatabaseSync } from 'node:sqlite';
import { cp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { CompiledQuery } from 'kysely';
import type {
  EventStore,
  EventSubscription,
  LogPosition,
  RecordedEvent,
} from '../../application/ports/event-store.ts';
import { openMove } from '../../infrastructure/composition/maintenance/migrate.ts';
import { readConfiguration } from '../../infrastructure/composition/configuration.ts';
import { useDataDirectory } from '../../infrastructure/composition/data-directory.ts';
import { EventStoreDbStore } from '../../infrastructure/eventstoredb/event-store-db-store.ts';
import { MOVED_TABLES } from '../../application/maintenance/moving/what-moves.ts';
import { SqliteDatabase } from '../../infrastructure/sqlite/sqlite-database.ts';
import { EventStoreDbStandIn } from '../support/eventstoredb/stand-in.ts';
import { allMovedRows, movedRows, writeSource } from '../support/moving/source-directory.ts';
import { RecordingLogger } from '../support/recording-logger.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

/** Of the one webhook (`source-directory.ts`). */
const PLACES = { begins_at: 150, filter_from: 160 };
const CHECKPOINTS = { 'outbox-relay': 123, 'sandbox-administrator': 200, 'borrower-index': 201 };

const template = temporaryDirectory();
let directory: string;
let standIn: EventStoreDbStandIn;
let store: EventStoreDbStore;
let database: SqliteDatabase;

beforeAll(async () => {
  await writeSource(template, CHECKPOINTS);
});

beforeEach(async () => {
  directory = temporaryDirectory();
  await cp(template, directory, { recursive: true });
  standIn = await EventStoreDbStandIn.start();
  store = new EventStoreDbStore({ url: standIn.url });
  const path = join(directory, 'target.db');
  database = await SqliteDatabase.open({ path, synchronous: 'NORMAL', logger: new RecordingLogger() });
});

afterEach(async () => {
  await store.close();
  await standIn.kill();
  await database.close();
});

const move = async (
  through: EventStore & EventSubscription = store,
): Promise<{ result: object; steps: number; done: number }> => {
  const engines = { database, store: through, documents: undefined };
  const opened = await openMove(directory, engines);
  try {
    const steps = await opened.steps();
    let done = 0;
    const result = await opened.execute((count) => void (done += count));
    return { result, steps, done };
  } finally {
    await opened.close();
  }
};

interface SourceEvent {
  readonly id: string;
  readonly stream: string;
  readonly revision: number;
  readonly position: number;
  readonly data: string;
  readonly metadata: string;
}

/** Straight from the file, by nobody's code but SQLite's. */
const source = <Row>(sql: string): readonly Row[] => {
  const db = new DatabaseSync(join(directory, 'events.db'), { readOnly: true });
  try {
    return db.prepare(sql).all() as unknown as readonly Row[];
  } finally {
    db.close();
  }
};

const sourceEvents = (): readonly SourceEvent[] =>
  source<SourceEvent>(
    'select e.id, s.name as stream, e.revision, e.position, e.data, e.metadata from events e join streams s on s.id = e.stream_id order by e.position',
  );

const following = async (from: LogPosition | 'start'): Promise<readonly RecordedEvent[]> => {
  const events: RecordedEvent[] = [];
  for await (const message of store.subscribe({ from, signal: new AbortController().signal })) {
    if (message.kind === 'caught_up') return events;
    if (message.kind === 'events') events.push(...message.events);
  }
  return events;
};

const rows = async <Row>(sql: string): Promise<readonly Row[]> =>
  database.read({ compile: () => CompiledQuery.raw(sql) as CompiledQuery<Row> });

const expectMoved = async (): Promise<void> => {
  const originals = sourceEvents();
  const byId = new Map(originals.map((event) => [event.id, event]));
  const moved = await following('start');
  expect(moved).toHaveLength(originals.length);
  const ends = new Map<string, bigint>();
  for (const event of moved) {
    const original = byId.get(event.id)!;
    expect([event.stream, event.revision, event.data]).toEqual([
      original.stream,
      BigInt(original.revision),
      original.data,
    ]);
    expect(event.metadata).toEqual(JSON.parse(original.metadata));
    expect(event.revision).toBe((ends.get(event.stream) ?? -1n) + 1n);
    ends.set(event.stream, event.revision);
  }
  const checkpoints = await rows<{ name: string; position: LogPosition }>('select * from checkpoint');
  expect(checkpoints.map(({ name }) => name).sort()).toEqual(Object.keys(CHECKPOINTS).sort());
  for (const { name, position } of checkpoints) {
    const expected = originals.filter((one) => one.position > CHECKPOINTS[name as keyof typeof CHECKPOINTS]);
    const rest = await following(position);
    expect(rest.map(({ id }) => id).sort()).toEqual(expected.map(({ id }) => id).sort());
  }
  const [subscription] = await rows<Record<keyof typeof PLACES, LogPosition>>(
    'select begins_at, filter_from from webhook_subscription',
  );
  for (const column of ['begins_at', 'filter_from'] as const) {
    const behind = originals.filter((one) => one.position > PLACES[column]);
    const wanted = await following(subscription![column]);
    expect(wanted.map(({ id }) => id).sort()).toEqual(behind.map(({ id }) => id).sort());
  }
  const claims = source<{ application_id: string; endpoint: string; key: string; name: string }>(
    'select application_id, endpoint, key, name from claims join streams on streams.id = stream_id',
  );
  expect(claims.some(({ application_id: id }) => id === '*')).toBe(true);
  for (const { application_id: applicationId, endpoint, key, name } of claims) {
    expect(await store.findClaim({ applicationId, endpoint, key })).toBe(name);
  }
  for (const table of ['client', 'webhook_event', 'webhook_delivery', 'webhook_lane', 'borrower_operation']) {
    const [counted] = await rows<{ n: number }>(`select count(*) as n from ${table}`);
    expect([table, counted!.n]).toEqual([table, movedRows(table)]);
  }
};

/** Stores what it is told until it is cut off; then nothing comes back, as when the process dies. */
const dyingAfter = (appends: number): EventStore & EventSubscription => {
  let left = appends;
  return {
    read: (stream, from) => store.read(stream, from),
    head: (stream) => store.head(stream),
    findClaim: (claim) => store.findClaim(claim),
    subscribe: (options) => store.subscribe(options),
    append: async (stream, expected, events, claim) => {
      left -= 1;
      // Of those that are under way together some were stored and some were not.
      if (left < 0 && left % 2 === 0) throw new Error('killed');
      const result = await store.append(stream, expected, events, claim);
      if (left < 0) throw new Error('killed');
      return result;
    },
  };
};

describe('moving an embedded data directory', () => {
  test('takes every event, key, row and place along', async () => {
    const { result, steps, done } = await move();
    await expectMoved();
    const events = sourceEvents();
    expect(result).toEqual({
      events: events.length,
      streams: new Set(events.map(({ stream }) => stream)).size,
      claims: source('select 1 from claims').length,
      records: allMovedRows,
      documents: 0,
    });
    expect(done).toBe(steps);
  });

  test('goes on where it was interrupted, as often as it takes', async () => {
    for (const appends of [0, 17, 70]) {
      await expect(move(dyingAfter(appends))).rejects.toThrow('killed');
    }
    const { steps, done } = await move();
    expect(done).toBe(steps);
    await expectMoved();
    expect((await move()).result).toMatchObject({ already_moved: expect.any(String) });
    await expectMoved();
  });

  test('keeps a renegotiation between what came before and after it', async () => {
    await move();
    const placeOf = new Map(sourceEvents().map(({ id, position }) => [id, position]));
    const places = (await following('start')).map(({ id, stream }) => ({ at: placeOf.get(id)!, stream }));
    places.forEach(({ at, stream }, index) => {
      if (!stream.startsWith('renegotiation-')) return;
      expect(places.slice(0, index).every((other) => other.at < at)).toBe(true);
      expect(places.slice(index + 1).every((other) => other.at > at)).toBe(true);
    });
  });

  test('moves the database alone when the streams stay, places unchanged', async () => {
    const opened = await openMove(directory, { database, store: undefined, documents: undefined });
    await opened.execute(() => undefined);
    await opened.close();
    expect(await rows('select name, position from checkpoint order by name')).toEqual([
      { name: 'borrower-index', position: '201' },
      { name: 'outbox-relay', position: '123' },
      { name: 'sandbox-administrator', position: '200' },
    ]);
  });

  test('notices an event that is not as it was, and one that is too much', async () => {
    const [first] = sourceEvents();
    const changing: EventStore & EventSubscription = {
      ...dyingAfter(1_000_000),
      append: (stream, expected, events, claim) =>
        store.append(
          stream,
          expected,
          events.map((event) => (event.id === first!.id ? { ...event, data: '{"n":1}' as never } : event)),
          claim,
        ),
    };
    await expect(move(changing)).rejects.toThrow(/differs from what was moved/);
  });
});

describe('what is refused', () => {
  test('a database that holds something', async () => {
    await move();
    await rm(join(directory, 'moved.json'));
    await expect(move()).rejects.toThrow(/moved from another data directory/);
  });

  test('an event store that holds something', async () => {
    await expect(move(dyingAfter(3))).rejects.toThrow('killed');
    await rm(join(directory, 'moved.json'));
    await database.transaction(
      [
        ...['move_progress', 'client', 'application_fund', 'wrapped_key', 'borrower_operation', 'checkpoint'],
        ...['consumer_offset', 'consumer_mark', 'consumer_topic', 'webhook_subscription', 'webhook_event'],
        ...['webhook_delivery', 'webhook_attempt', 'webhook_lane', 'webhook_redelivery'],
        ...['webhook_redelivery_item', 'log_seal', 'log_seal_head'],
      ].map((table) => ({ query: CompiledQuery.raw(`delete from ${table}`) })),
    );
    await expect(move()).rejects.toThrow('the event store holds other data');
  });

  test('a directory that is in use, and using one that was moved or is on its way', async () => {
    const configuration = readConfiguration({ DATA_DIR: directory, LOG_LEVEL: 'error' });
    const open = () => useDataDirectory(configuration, 'service');
    const service = await open();
    await expect(move()).rejects.toThrow('is in use');
    await service.close();
    await expect(move(dyingAfter(20))).rejects.toThrow('killed');
    await expect(open()).rejects.toThrow('is being moved to other engines');
    await move();
    await expect(open()).rejects.toThrow(/set EVENTSTORE_URL, DATABASE_URL$/);
  });

  test('a database whose move was begun and never ended, once another has all of it', async () => {
    const into = async (target: SqliteDatabase) =>
      openMove(directory, { database: target, store: undefined, documents: undefined });
    await (await into(database)).close();
    const path = join(directory, 'other.db');
    const other = await SqliteDatabase.open({ path, synchronous: 'NORMAL', logger: new RecordingLogger() });
    const opened = await into(other);
    await opened.execute(() => undefined);
    await opened.close();
    await other.close();
    await expect(into(database)).rejects.toThrow('was moved to another database');
  });

  test('a directory that holds no service', async () => {
    await rm(join(directory, 'service.db'));
    await expect(move()).rejects.toThrow('holds no service');
  });
});

test('every table of the service database goes along, or is one of those that stay', async () => {
  const db = new DatabaseSync(join(template, 'service.db'), { readOnly: true });
  const tables = db.prepare("select name from sqlite_schema where type = 'table' order by name").all();
  db.close();
  const stay = [
    // Whoever is signed in at the desk signs in again.
    'desk_session',
    ...['checkpoint', 'lease', 'move_progress', 'rate_bucket', 'read_model_generation'],
    // The new store has its own row: nothing older runs on it.
    ...['schema_migration', 'stored_format'],
  ];
  const known = [...MOVED_TABLES.map(({ name }) => name), ...stay].sort();
  expect(tables.map(({ name }) => name)).toEqual(known);
});
