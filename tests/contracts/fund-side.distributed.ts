import { afterAll, beforeAll } from '@jest/globals';
import { readModelMigrations } from '../../application/sql/read-model-tables.ts';
import { openPostgres, testPostgres } from '../support/postgres/test-postgres.ts';
import type { TestPostgres } from '../support/postgres/test-postgres.ts';
import { describeFundSideContract } from './fund-side-contract.ts';

let postgres: TestPostgres;
beforeAll(async () => void (postgres = await testPostgres()));
afterAll(() => postgres.close());

describeFundSideContract('PostgreSQL', () => openPostgres(postgres, readModelMigrations));
