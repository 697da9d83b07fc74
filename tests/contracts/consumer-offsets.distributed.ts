import { afterAll, beforeAll } from '@jest/globals';
import { serviceMigrations } from '../../application/sql/migrations/service.ts';
import { openPostgres, testPostgres } from '../support/postgres/test-postgres.ts';
import type { TestPostgres } from '../support/postgres/test-postgres.ts';
import { describeConsumerOffsetsContract } from './consumer-offsets-contract.ts';
import { offsetsOver } from './consumer-offsets-samples.ts';

let postgres: TestPostgres;
beforeAll(async () => void (postgres = await testPostgres()));
afterAll(() => postgres.close());

describeConsumerOffsetsContract('ConsumerOffsets on PostgreSQL', async () => {
  const { database, close } = await openPostgres(postgres, serviceMigrations);
  return { adapter: offsetsOver(database), close };
});
