import { afterAll, expect, test } from '@jest/globals';
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { migrate } from '../../../application/sql/migrations/migrate.ts';
import { PostgresDatabase } from '../../../infrastructure/postgres/postgres-database.ts';
import { RecordingLogger } from '../../support/recording-logger.ts';
import { bothSets, openPostgres, query, testPostgres } from '../../support/postgres/test-postgres.ts';
import { counterMigrations } from '../../support/sql/counter-migrations.ts';
import { openTemporary } from '../../support/sql/temporary-database.ts';

const PROCESS = fileURLToPath(new URL('../../support/sql/migrating-process.ts', import.meta.url));
const run = promisify(execFile);
const NOW = '2026-01-15T12:00:00.000Z';

const postgres = await testPostgres();
afterAll(() => postgres.close());

test('of several processes that start at once, one runs each step', async () => {
  const url = await postgres.schema();
  const runs = await Promise.all([1, 2].map(() => run(process.execPath, [PROCESS, url])));
  const applied = runs.flatMap(({ stdout }) => JSON.parse(stdout) as string[]);
  const all = [...bothSets, ...counterMigrations].map(({ id }) => id);
  expect(applied.toSorted()).toEqual(all.toSorted());
  const { database, close } = await openPostgres(postgres, [], { url });
  expect(await database.read(query('select value from counter'))).toEqual([{ value: 1000 }]);
  expect(await migrate(database, bothSets, NOW)).toEqual([]);
  await close();
});

test('nobody fails because others create the same tables at the same moment', async () => {
  for (let round = 0; round < 3; round++) {
    const url = await postgres.schema();
    // Opened without its ledger, which is the first thing they would trip over.
    const open = () => PostgresDatabase.open({ url, logger: new RecordingLogger(), poolSize: 1 });
    const all = await Promise.all(Array.from({ length: 8 }, open));
    const applied = await Promise.all(all.map((database) => migrate(database, counterMigrations, NOW)));
    expect(applied.flat().toSorted()).toEqual(counterMigrations.map(({ id }) => id));
    await Promise.all(all.map((database) => database.close()));
  }
});

test('a step that fails leaves nothing of itself', async () => {
  const { database, close } = await openPostgres(postgres, counterMigrations);
  const broken = {
    id: 'counter-004',
    statements: () => [
      'create table half (id bigint)',
      'update counter set value = 1',
      'insert into nowhere values (1)',
    ],
  };
  await expect(migrate(database, [broken], NOW)).rejects.toThrow('nowhere');
  expect(await database.read(query('select value from counter'))).toEqual([{ value: 1000 }]);
  expect(await database.read(query(`select to_regclass('half') as it`))).toEqual([{ it: null }]);
  await close();
});

test('both engines have the same tables and columns', async () => {
  const { database, close } = await openPostgres(postgres, bothSets);
  const columns = query<{ column: string }>(
    `select table_name || '.' || column_name || ' ' || is_nullable as column
       from information_schema.columns where table_schema = current_schema() order by 1`,
  );
  const inPostgres = (await database.read(columns)).map(({ column }) => column);
  await close();
  const sqlite = await openTemporary(bothSets);
  const inSqlite = await sqlite.database.read(
    query<{ column: string }>(
      `select t.name || '.' || c.name || ' ' || case c."notnull" when 1 then 'NO' else 'YES' end as column
         from sqlite_schema t, pragma_table_info(t.name) c where t.type = 'table' order by 1`,
    ),
  );
  await sqlite.close();
  expect(inPostgres.toSorted()).toEqual(inSqlite.map(({ column }) => column).toSorted());
});
