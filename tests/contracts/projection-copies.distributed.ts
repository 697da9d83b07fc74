import { afterAll, beforeAll, describe, test } from '@jest/globals';
import { readModelMigrations } from '../../infrastructure/sql/read-model-migrations.ts';
import { openPostgres, testPostgres } from '../support/postgres/test-postgres.ts';
import type { TestPostgres } from '../support/postgres/test-postgres.ts';
import { copiesCases, copiesWorld } from './projection-copies-cases.ts';

let postgres: TestPostgres;
beforeAll(async () => {
  postgres = await testPostgres();
});
afterAll(() => postgres.close());

describe('two copies of a read model on PostgreSQL', () => {
  test.each(copiesCases)('$name', async ({ check }) => {
    const { database, close } = await openPostgres(postgres, readModelMigrations);
    await check(copiesWorld(database)).finally(close);
  });
});
