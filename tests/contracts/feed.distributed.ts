import { afterAll } from '@jest/globals';
import { readModelMigrations } from '../../application/sql/read-model-tables.ts';
import { openAtStandIn } from '../support/eventstoredb/open-store.ts';
import { openPostgres, testPostgres } from '../support/postgres/test-postgres.ts';
import { describeFeedContract } from './feed-contract.ts';

const postgres = await testPostgres();
afterAll(() => postgres.close());

describeFeedContract('EventStoreDB and PostgreSQL', async () => {
  const standIn = await openAtStandIn();
  const { database, close } = await openPostgres(postgres, readModelMigrations);
  return {
    ...{ log: standIn.store, database },
    close: async () => {
      await close();
      await standIn[Symbol.asyncDispose]();
    },
  };
});
