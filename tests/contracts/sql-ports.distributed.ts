import { afterAll } from '@jest/globals';
import { serviceMigrations } from '../../application/sql/migrations/service.ts';
import { readModelMigrations } from '../../application/sql/read-model-tables.ts';
import { openPostgres, testPostgres } from '../support/postgres/test-postgres.ts';
import { describeSqlPorts } from './sql-ports.ts';

const postgres = await testPostgres();
afterAll(() => postgres.close());

describeSqlPorts(
  'PostgreSQL',
  () => openPostgres(postgres, serviceMigrations),
  () => openPostgres(postgres, readModelMigrations),
);
