import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { CompiledQuery } from 'kysely';
import { Client, escapeLiteral } from 'pg';
import { serviceMigrations } from '../../../application/sql/migrations/service.ts';
import type { SqlDatabase } from '../../../application/sql/sql-database.ts';
import { DeliveryLag } from '../../../application/webhooks/queue/floors.ts';
import { DeliveryQueue } from '../../../application/webhooks/queue/delivery-queue.ts';
import { Story, at, queueOn } from '../../contracts/delivery-queue-samples.ts';
import { holdSnapshot, workThrough } from '../../support/postgres/held-snapshot.ts';
import { openPostgres, testPostgres } from '../../support/postgres/test-postgres.ts';
import type { PostgresFixture, TestPostgres } from '../../support/postgres/test-postgres.ts';

const LANES = 8_192;
/** What a search may read of the index and the table beside what it finds. */
const MOST_PAGES = 60;

let postgres: TestPostgres;
let fixture: PostgresFixture;
let client: Client;
let asked: CompiledQuery[] = [];
let recording: SqlDatabase;
let adapter: ConstructorParameters<typeof Story>[0];

beforeAll(async () => {
  postgres = await testPostgres();
  fixture = await openPostgres(postgres, serviceMigrations);
  const { database } = fixture;
  recording = {
    dialect: database.dialect,
    builder: database.builder,
    read: (one) => {
      asked.push(one.compile());
      return database.read(one);
    },
    snapshot: (all) => database.snapshot(all),
    transaction: (statements, options) => {
      asked.push(...statements.map(({ query }) => query));
      return database.transaction(statements, options);
    },
    close: () => Promise.resolve(),
  };
  adapter = { ...queueOn(database), queue: new DeliveryQueue(recording) };
  client = new Client({ connectionString: fixture.url });
  await client.connect();
});
afterAll(async () => {
  await client.end();
  await fixture.close();
  await postgres.close();
});

interface Buffers {
  readonly 'Shared Hit Blocks': number;
  readonly 'Shared Read Blocks': number;
}

const literal = (value: unknown): string =>
  typeof value === 'string' ? escapeLiteral(value) : JSON.stringify(value);

/** Pages that the statement touches; what it writes is taken back. */
const pagesOf = async ({ sql, parameters }: CompiledQuery): Promise<number> => {
  const text = sql.replace(/\$(\d+)/g, (_, n: string) => literal(parameters[Number(n) - 1]));
  await client.query('begin');
  const { rows } = await client.query<{ 'QUERY PLAN': readonly [{ Plan: Buffers }] }>(
    `explain (analyze, buffers, format json) ${text}`,
  );
  await client.query('rollback');
  const { Plan } = rows[0]!['QUERY PLAN'][0];
  return Plan['Shared Hit Blocks'] + Plan['Shared Read Blocks'];
};

const pagesOfSearches = async (
  work: () => Promise<unknown>,
  isSearch = /ready_at" (>=|<=)/,
): Promise<readonly number[]> => {
  asked = [];
  await work();
  const searches = asked.filter(({ sql }) => isSearch.test(sql));
  const pages: number[] = [];
  for (const search of searches) pages.push(await pagesOf(search));
  return pages;
};

test('while a transaction is held open, due lanes are found without reading those that were finished since', async () => {
  const story = new Story(adapter);
  const webhookId = await story.subscribe();
  const held = await holdSnapshot(fixture.url);
  let ms = 0;
  try {
    // As many a second as one process sends.
    await workThrough(adapter.queue, webhookId, { lanes: LANES, now: () => Date.parse(at((ms += 15))) });
    await adapter.queue.schedules(at(ms));
    ms += 30_000;
    await adapter.queue.schedules(at(ms));
    await adapter.queue.lease([{ webhookId, firstAttempts: 1, retries: 1 }], at(ms), at(ms + 1));
    const claims = await pagesOfSearches(() =>
      adapter.queue.lease([{ webhookId, firstAttempts: 16, retries: 16 }], at(ms), at(ms + 15_000)),
    );
    expect(claims.length).toBeGreaterThan(2);
    expect(Math.max(...claims)).toBeLessThan(MOST_PAGES);
    const looks = await pagesOfSearches(() => adapter.queue.schedules(at(ms + 1)));
    expect(looks).toHaveLength(1);
    expect(Math.max(...looks)).toBeLessThan(MOST_PAGES);
    // A process that knows nothing yet reads them all, which proves that they are there.
    const first = await pagesOfSearches(() => new DeliveryQueue(recording).schedules(at(ms)));
    expect(Math.max(...first)).toBeGreaterThan(MOST_PAGES * 5);

    // The same of the oldest delivery that waits, which metrics and readiness ask for all the time.
    let clock = Date.parse(at(ms + 600_000));
    const lag = new DeliveryLag(recording, () => clock);
    const [whole] = await pagesOfSearches(() => lag.read(), /webhook_delivery/);
    expect(whole).toBeGreaterThan(MOST_PAGES * 5);
    clock += 1_000;
    const late = story.events('LATE', 1);
    await adapter.queue.enqueue([{ webhookId, event: late[0]! }], new Date(clock).toISOString());
    const [bounded] = await pagesOfSearches(() => lag.read(), /webhook_delivery/);
    expect(bounded).toBeLessThan(MOST_PAGES);
    const oldest = { webhookId, oldestCreatedAt: new Date(clock).toISOString() };
    expect(await lag.read()).toEqual([oldest]);
    expect(await new DeliveryLag(recording).read()).toEqual([oldest]);
  } finally {
    await held.release();
  }
});
