import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { Compilable, Kysely } from 'kysely';
import { StoreUnavailableError } from '../../../application/ports/event-store.ts';
import { queryBuilder } from '../../../application/sql/engine.ts';
import { ConstraintError, GuardFailedError } from '../../../application/sql/sql-database.ts';
import type { Statement } from '../../../application/sql/sql-database.ts';
import { openPostgres, query, raw, testPostgres, throughPort } from '../../support/postgres/test-postgres.ts';
import type { PostgresFixture, TestPostgres } from '../../support/postgres/test-postgres.ts';
import { TcpProxy } from '../../support/tcp-proxy.ts';

const account = {
  id: 'test-001',
  statements: () => [
    'create table owner (id text collate "C" not null primary key)',
    `create table account (id bigint not null primary key, owner text collate "C" references owner (id),
        amount bigint not null check (amount >= 0))`,
    'create table kept (id bigint not null primary key, value text collate "C", bytes bytea, share double precision)',
  ],
};

const add = (id: number, amount = 1) => raw('insert into account (id, amount) values ($1, $2)', id, amount);

interface Account {
  readonly id: number;
  readonly owner: string | null;
  readonly amount: number;
}
const build = queryBuilder('postgres') as unknown as Kysely<{ account: Account }>;
const guarded = (query: Compilable, expectChanges: number): Statement => ({
  query: query.compile(),
  expectChanges,
});

let postgres: TestPostgres;
let fixture: PostgresFixture;
const ids = async (): Promise<readonly number[]> =>
  (await fixture.database.read(query<{ id: number }>('select id from account order by id'))).map(
    ({ id }) => id,
  );

beforeAll(async () => {
  postgres = await testPostgres();
  fixture = await openPostgres(postgres, [account]);
});
afterAll(async () => {
  await fixture.close();
  await postgres.close();
});
beforeEach(async () => {
  await fixture.database.transaction([raw('delete from account'), raw('delete from kept')]);
});

describe('transactions of a PostgreSQL database', () => {
  test('a full disk of the server stores nothing, and says what to do', async () => {
    const full = `do $$ begin raise 'could not extend file "base/1": No space left on device' using errcode = 'disk_full'; end $$`;
    const refused = fixture.database.transaction([add(1), raw(full)]);
    await expect(refused).rejects.toThrow(StoreUnavailableError);
    await expect(refused).rejects.toThrow(
      'No space left on device (53100); make room where the server keeps its data',
    );
    expect(await ids()).toEqual([]);
  });

  test('all statements take effect, and each answers its rows and changes', async () => {
    const results = await fixture.database.transaction([
      add(1, 10),
      add(2, 20),
      raw('update account set amount = amount + $1 returning id, amount', 5),
      raw('select count(*) as n, sum(amount) as total, bool_and(amount > 1) as all_rich from account'),
      raw('delete from account where id = $1', 2),
    ]);
    expect(results).toEqual([
      { rows: [], changes: 1 },
      { rows: [], changes: 1 },
      {
        rows: expect.arrayContaining([
          { id: 1, amount: 15 },
          { id: 2, amount: 25 },
        ]),
        changes: 2,
      },
      { rows: [{ n: 2, total: 40, all_rich: 1 }], changes: 0 },
      { rows: [], changes: 1 },
    ]);
  });

  test.each([
    ['a key that is there already', [add(1), add(2), add(1)]],
    ['an amount below zero', [add(1), add(2, -1)]],
    ['an owner that is not there', [add(1), raw(`update account set owner = 'nobody'`)]],
    ['a value that is missing', [add(1), raw('update account set amount = null')]],
  ])('%s leaves nothing', async (_, statements) => {
    await expect(fixture.database.transaction(statements)).rejects.toThrow(ConstraintError);
    expect(await ids()).toEqual([]);
  });

  test.each([
    ['too few', guarded(build.updateTable('account').set({ amount: 5 }).where('id', '=', 9), 1), 0],
    ['too many', guarded(build.updateTable('account').set({ amount: 5 }), 1), 2],
    [
      'with rows, too few',
      guarded(build.deleteFrom('account').where('id', '=', 9).returning(['id', 'amount']), 1),
      0,
    ],
    ['with rows, too many', guarded(build.deleteFrom('account').returning('id'), 0), 2],
  ])('an unexpected count, %s, leaves nothing and names its statement', async (_, statement, changes) => {
    const outcome = fixture.database.transaction([add(1), add(2), statement, add(3)]);
    await expect(outcome).rejects.toThrow(GuardFailedError);
    await expect(outcome).rejects.toMatchObject({ index: 2, changes });
    expect(await ids()).toEqual([]);
  });

  test('a relaxed transaction counts its statements as any other', async () => {
    const relaxed = { durability: 'relaxed' } as const;
    const outcome = fixture.database.transaction([add(1), guarded(build.deleteFrom('account'), 3)], relaxed);
    await expect(outcome).rejects.toMatchObject({ index: 1, changes: 1 });
    const [first, setting] = await fixture.database.transaction(
      [add(1), raw(`select current_setting('synchronous_commit') as it`)],
      relaxed,
    );
    expect([first!.changes, setting!.rows]).toEqual([1, [{ it: 'off' }]]);
    const [later] = await fixture.database.transaction([
      raw(`select current_setting('synchronous_commit') as it`),
    ]);
    expect(later!.rows).toEqual([{ it: 'on' }]);
  });

  test('text and what only reads cannot expect changes', async () => {
    for (const { query } of [
      raw('delete from account'),
      { query: build.selectFrom('account').selectAll().compile() },
    ]) {
      const outcome = fixture.database.transaction([add(1), { query, expectChanges: 0 }]);
      await expect(outcome).rejects.toThrow('only an insert, update or delete of the query builder');
    }
    expect(await ids()).toEqual([]);
  });

  test('an expected count passes, and the rows of the statement are answered', async () => {
    const results = await fixture.database.transaction([
      guarded(build.insertInto('account').values({ id: 1, amount: 1, owner: null }), 1),
      guarded(build.updateTable('account').set({ amount: 7 }).returning(['id', 'amount']), 1),
      guarded(build.deleteFrom('account').where('id', '=', 2).returning('id'), 0),
    ]);
    expect(results).toEqual([
      { rows: [], changes: 1 },
      { rows: [{ id: 1, amount: 7 }], changes: 1 },
      { rows: [], changes: 0 },
    ]);
  });

  test('values come back as they went', async () => {
    const values = ['2026-01-15T12:00:00.000Z', '', 'ação 🚀 \\ \' "', '{"a":[1,null]}', null];
    const bytes = new Uint8Array([0, 1, 92, 255]);
    for (const [id, value] of values.entries()) {
      await fixture.database.transaction([
        raw('insert into kept values ($1, $2, $3, $4)', id, value, id === 0 ? bytes : null, 0.1 * id),
      ]);
    }
    const rows = await fixture.database.read(query<object>('select * from kept order by id'));
    expect(rows).toEqual(
      values.map((value, id) => ({
        id,
        value,
        bytes: id === 0 ? Buffer.from(bytes) : null,
        share: 0.1 * id,
      })),
    );
  });

  test('integers are numbers up to 2^53 and never a wrong one', async () => {
    const largest = Number.MAX_SAFE_INTEGER;
    await fixture.database.transaction([add(1, largest), add(2, 2 ** 33)]);
    const amounts = query<{ amount: number }>('select amount from account order by id');
    expect(await fixture.database.read(amounts)).toEqual([{ amount: largest }, { amount: 2 ** 33 }]);
    const sum = query<object>('select sum(amount) as it from account');
    await expect(fixture.database.read(sum)).rejects.toThrow(RangeError);
    await expect(fixture.database.transaction([add(3, 1.5)])).rejects.toThrow('bigint');
  });

  test('text is ordered by code point, whatever the database says', async () => {
    const words = ['b', 'B', 'a', 'A', 'á', '1', '-'];
    await fixture.database.transaction(
      words.map((word, id) => raw('insert into kept values ($1, $2)', id, word)),
    );
    const rows = await fixture.database.read(
      query<{ value: string }>('select value from kept order by value'),
    );
    expect(rows.map(({ value }) => value)).toEqual([...words].sort());
  });

  test('two that lock each other’s rows both come through', async () => {
    await fixture.database.transaction([add(1, 0), add(2, 0)]);
    const plus = (id: number) => raw('update account set amount = amount + 1 where id = $1', id);
    const wait = raw('select pg_sleep(0.02)');
    const crossing = Array.from({ length: 4 }, (_, n) =>
      fixture.database.transaction(n % 2 ? [plus(1), wait, plus(2)] : [plus(2), wait, plus(1)]),
    );
    await Promise.all(crossing);
    const amounts = query<{ amount: number }>('select amount from account');
    expect(await fixture.database.read(amounts)).toEqual([{ amount: 4 }, { amount: 4 }]);
  });

  test('what takes longer than a statement may is given up, and nothing is stored', async () => {
    const { database, close } = await openPostgres(postgres, [], {
      url: fixture.url,
      statementTimeoutMs: 100,
    });
    await expect(database.transaction([add(1), raw('select pg_sleep(5)')])).rejects.toThrow(
      StoreUnavailableError,
    );
    expect(await ids()).toEqual([]);
    await close();
  });

  test('nothing to do is done', async () => {
    expect(await fixture.database.transaction([])).toEqual([]);
  });

  test('a connection keeps a bounded number of prepared statements', async () => {
    const { database, close } = await openPostgres(postgres, [], { url: fixture.url, poolSize: 1 });
    for (let n = 0; n < 50; n++) {
      await database.transaction(Array.from({ length: 20 }, (_, i) => raw(`select ${n * 20 + i}`)));
      await expect(database.transaction([raw(`select ${n} / 0`)])).rejects.toThrow('zero');
    }
    const kept = await database.read(
      query<{ n: number }>('select count(*) as n from pg_prepared_statements'),
    );
    expect(kept[0]!.n).toBeLessThanOrEqual(420);
    expect(kept[0]!.n).toBeGreaterThan(300);
    await close();
  });

  test('a statement prepared before its table changed still works', async () => {
    const all = query<object>('select * from kept');
    for (let n = 0; n < 20; n++) await fixture.database.read(all);
    await fixture.database.transaction([raw('alter table kept add column more bigint')]);
    expect(await Promise.all(Array.from({ length: 20 }, () => fixture.database.read(all)))).toHaveLength(20);
    await fixture.database.transaction([raw('alter table kept drop column more')]);
  });
});

describe('over a slow line', () => {
  const LATENCY_MS = 60;
  const ROUND_TRIP_MS = 2 * LATENCY_MS;
  let proxy: TcpProxy;
  let far: PostgresFixture;
  beforeAll(async () => {
    proxy = await TcpProxy.start({ port: Number(new URL(fixture.url).port) });
    far = await openPostgres(postgres, [], { url: throughPort(fixture.url, proxy.port), poolSize: 1 });
    proxy.delay(LATENCY_MS);
  });
  afterAll(async () => {
    await far.close();
    await proxy.close();
  });

  /** Round trips, the fewest of several tries: a busy machine adds to the time of one, and takes from none. */
  const taken = async (act: () => Promise<unknown>): Promise<number> => {
    let fewest = Infinity;
    for (let n = 0; n < 12 && fewest >= 1.9; n++) {
      await fixture.database.transaction([raw('delete from account')]);
      const before = performance.now();
      await act();
      fewest = Math.min(fewest, (performance.now() - before) / ROUND_TRIP_MS);
    }
    return fewest;
  };

  test('a transaction of 200 statements, guarded ones among them, is one round trip', async () => {
    const statements = Array.from({ length: 100 }, (_, id) => [
      add(id),
      guarded(
        build
          .updateTable('account')
          .set((eb) => ({ amount: eb('amount', '+', 1) }))
          .where('id', '=', id),
        1,
      ),
    ]).flat();
    const trips = await taken(() => far.database.transaction(statements));
    expect(trips).toBeGreaterThanOrEqual(0.95);
    expect(trips).toBeLessThan(1.9);
    expect(await ids()).toHaveLength(100);
  });

  test('a snapshot of five reads is one round trip', async () => {
    const one = query<object>('select count(*) as n from account');
    expect(await taken(() => far.database.snapshot([one, one, one, one, one]))).toBeLessThan(1.9);
  });
});

test('a table that gets a column is read on, however many connections have prepared the statement', async () => {
  const { database } = fixture;
  await database.transaction([raw('create table grown (id bigint)'), raw('insert into grown values (1)')]);
  // Long enough that each goes over a connection of its own.
  const all = query<{ id: number }>('select grown.*, pg_sleep(0.3)::text as slept from grown');
  await Promise.all(Array.from({ length: 10 }, () => database.read(all)));
  await database.transaction([raw('alter table grown add column more bigint default 2')]);
  expect(await database.read(all)).toEqual([{ id: 1, more: 2, slept: '' }]);
  const rows = await Promise.all(Array.from({ length: 10 }, () => database.snapshot([all])));
  expect(rows).toEqual(Array.from({ length: 10 }, () => [[{ id: 1, more: 2, slept: '' }]]));
});
