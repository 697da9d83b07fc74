import { afterAll } from '@jest/globals';
import { logOrder } from '../../infrastructure/composition/read-models.ts';
import { readModelMigrations } from '../../application/sql/read-model-tables.ts';
import { SqlLoanReader } from '../../application/loans/loan-reader.ts';
import { SqlProjectionStore } from '../../application/projecting/projection-store.ts';
import type { Row } from '../../projections/projection.ts';
import { openAtStandIn } from '../support/eventstoredb/open-store.ts';
import { openPostgres, query, testPostgres } from '../support/postgres/test-postgres.ts';
import { describeQuarantinedRenegotiation } from './quarantined-renegotiation-cases.ts';

const postgres = await testPostgres();
afterAll(() => postgres.close());

describeQuarantinedRenegotiation('EventStoreDB and PostgreSQL', async (check) => {
  await using standIn = await openAtStandIn();
  const { database, close } = await openPostgres(postgres, readModelMigrations);
  try {
    await check({
      log: standIn.store,
      store: new SqlProjectionStore(database),
      order: logOrder,
      rows: (table) => database.read(query<Row>(`select * from ${table}`)),
      loans: new SqlLoanReader(database),
    });
  } finally {
    await close();
  }
});
