import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { PostgresGenerationTables } from '../../infrastructure/sql/read-models/postgres-generation-tables.ts';
import { readModelMigrations } from '../../infrastructure/sql/migrations/read-model.ts';
import { serviceMigrations } from '../../infrastructure/sql/migrations/service.ts';
import { migrate } from '../../infrastructure/sql/migrations/migrate.ts';
import { openPostgres, raw, testPostgres } from '../support/postgres/test-postgres.ts';
import type { TestPostgres } from '../support/postgres/test-postgres.ts';
import { generationsCases } from './generations-cases.ts';
import { World } from './generations-world.ts';

const NOW = '2026-01-15T12:00:00.000Z';

let postgres: TestPostgres;
beforeAll(async () => {
  postgres = await testPostgres();
});
afterAll(() => postgres.close());

const withWorld = async (check: (world: World) => Promise<void>): Promise<void> => {
  const { database: service, url, logger, close } = await openPostgres(postgres, serviceMigrations);
  const tables = await PostgresGenerationTables.of(service, { url, logger, poolSize: 3 }, () => NOW);
  const world = new World({ service, tables });
  try {
    await check(world);
  } finally {
    await world.close();
    for (let number = 1; number <= 6; number += 1) await tables.drop(number);
    await close();
  }
};

describe('generations of the read models on PostgreSQL', () => {
  test.each(generationsCases)('$name', ({ check }) => withWorld(check));

  test('tables of earlier versions serve as generation 0 where their first copy did', () =>
    withWorld(async (world) => {
      const { service, tables } = world.fixture;
      await migrate(service, readModelMigrations.slice(0, -1), NOW);
      await service.transaction([
        raw(`alter table projection_checkpoint add column slot text not null default 'a'`),
        raw(`insert into projection_checkpoint (name, version, position) values ('history', 1, '0')`),
      ]);
      expect(await world.generations().serving()).toBe(0);
      expect(await world.rebuild('received')).toMatchObject({ generation: 1, outcome: 'switched' });
      expect(await world.generations().dropOld()).toEqual([0]);
      expect(await tables.exists(0)).toBe(false);
    }));
});
