import { afterAll, describe, expect, test } from '@jest/globals';
import { PostgresGenerationTables } from '../../infrastructure/postgres/postgres-generation-tables.ts';
import { serviceMigrations } from '../../application/sql/migrations/service.ts';
import { openPostgres, raw, testPostgres } from '../support/postgres/test-postgres.ts';
import { generationsCases } from './generations-cases.ts';
import { World } from './generations-world.ts';

const NOW = '2026-01-15T12:00:00.000Z';

const postgres = await testPostgres();
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

  test('beside tables of earlier versions a generation is built, and they are kept until they are dropped', () =>
    withWorld(async (world) => {
      const { service, tables } = world.fixture;
      await service.transaction([
        raw('create table projection_checkpoint (name text, slot text, version bigint, position text)'),
        raw('create table loan__b (stream text)'),
      ]);
      expect(await world.generations().serving()).toBeUndefined();
      expect(await world.rebuild('received')).toMatchObject({ generation: 1, outcome: 'switched' });
      expect(await world.generations().dropOld()).toEqual([0]);
      expect(await tables.exists(0)).toBe(false);
    }));
});
