import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { migrate } from '../../../application/sql/migrations/migrate.ts';
import type { Migration } from '../../../application/sql/migrations/migrate.ts';
import { readModelMigrations } from '../../../application/sql/read-model-tables.ts';
import { serviceMigrations } from '../../../application/sql/migrations/service.ts';
import { ConstraintError } from '../../../application/sql/sql-database.ts';
import type { SqlDatabase } from '../../../application/sql/sql-database.ts';
import { SqliteDatabase } from '../../../infrastructure/sqlite/sqlite-database.ts';
import { counterMigrations } from '../../support/sql/counter-migrations.ts';
import { openTemporary, query } from '../../support/sql/temporary-database.ts';
import type { TemporaryDatabase } from '../../support/sql/temporary-database.ts';

const NOW = '2026-01-15T12:00:00.000Z';
const step = (id: string, ...statements: readonly string[]): Migration => ({
  id,
  statements: () => statements,
});

describe('migrations', () => {
  let temporary: TemporaryDatabase;
  beforeEach(async () => {
    temporary = await openTemporary([]);
  });
  afterEach(() => temporary.close());

  const ledger = () =>
    temporary.database.read(query('select id, applied_at from schema_migration order by id'));
  const counter = () => temporary.database.read(query('select value from counter'));

  test('run once each, in their order, and are written down', async () => {
    expect(await migrate(temporary.database, counterMigrations.slice(0, 2), NOW)).toEqual([
      'counter-001',
      'counter-002',
    ]);
    expect(await migrate(temporary.database, counterMigrations, NOW)).toEqual(['counter-003']);
    expect(await migrate(temporary.database, counterMigrations, NOW)).toEqual([]);
    expect(await counter()).toEqual([{ value: 1000 }]);
    expect(await ledger()).toEqual(counterMigrations.map(({ id }) => ({ id, applied_at: NOW })));
  });

  test('a step that fails leaves nothing of itself, and what came before stays', async () => {
    const broken = step('counter-004', 'update counter set value = 1', 'insert into nowhere values (1)');
    await expect(migrate(temporary.database, [...counterMigrations, broken], NOW)).rejects.toThrow('nowhere');
    expect(await counter()).toEqual([{ value: 1000 }]);
    expect(await ledger()).toHaveLength(3);
  });

  test('a constraint that a step breaks is not taken for a step that another process ran', async () => {
    const twice = step(
      'twice-001',
      'create table twice (id integer primary key)',
      'insert into twice values (1), (1)',
    );
    await expect(migrate(temporary.database, [twice], NOW)).rejects.toMatchObject({
      message: expect.stringContaining('twice-001'),
      cause: expect.any(ConstraintError),
    });
    expect(await ledger()).toEqual([]);
  });

  test('two that both found a step missing share the work', async () => {
    const { path, logger, database } = temporary;
    const other = await SqliteDatabase.open({ path, synchronous: 'NORMAL', logger });
    await migrate(database, [], NOW);
    let looking = 2;
    let bothLooked = (): void => undefined;
    const looked = new Promise<void>((resolve) => (bothLooked = resolve));
    const afterBothLooked = (inner: SqlDatabase): SqlDatabase => ({
      dialect: inner.dialect,
      builder: inner.builder,
      snapshot: (queries) => inner.snapshot(queries),
      transaction: (statements) => inner.transaction(statements),
      close: () => inner.close(),
      read: async (one) => {
        const rows = await inner.read(one);
        if (--looking === 0) bothLooked();
        await looked;
        return rows;
      },
    });
    const both = [database, other].map((one) => migrate(afterBothLooked(one), counterMigrations, NOW));
    const outcomes = await Promise.allSettled(both);
    await other.close();
    const applied = outcomes.flatMap((outcome) =>
      outcome.status === 'fulfilled' ? outcome.value : ['failed'],
    );
    expect(applied.toSorted()).toEqual(counterMigrations.map(({ id }) => id));
    expect(await counter()).toEqual([{ value: 1000 }]);
  });

  test('both sets fit into one database', async () => {
    const sets = [...serviceMigrations, ...readModelMigrations];
    expect(new Set(sets.map(({ id }) => id)).size).toBe(sets.length);
    expect(await migrate(temporary.database, sets, NOW)).toEqual(sets.map(({ id }) => id));
  });
});
