import { logOrder } from '../../infrastructure/composition/read-models.ts';
import { SqlLoanReader } from '../../application/loans/loan-reader.ts';
import { SqlProjectionStore } from '../../application/projecting/projection-store.ts';
import { SqliteEventStore } from '../../infrastructure/sqlite/event-log/sqlite-event-store.ts';
import type { Row } from '../../projections/projection.ts';
import { openReadModel, query } from '../support/sql/temporary-database.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { InMemoryTables } from '../projections/in-memory-tables.ts';
import { InMemoryEventStore } from '../support/in-memory-event-store.ts';
import { describeQuarantinedRenegotiation } from './quarantined-renegotiation-cases.ts';
import type { FollowedStores } from './quarantined-renegotiation-cases.ts';

describeQuarantinedRenegotiation('in memory', async (check) => {
  const tables = new InMemoryTables();
  const numberOf = (position: string): number => (position === 'start' ? 0 : parseInt(position, 10));
  await check({
    log: new InMemoryEventStore(),
    store: tables,
    order: { ...logOrder, compare: (one, other) => numberOf(one) - numberOf(other) },
    rows: async (table) => tables.rows(table),
  });
});

const onFiles = async (check: (stores: FollowedStores) => Promise<void>): Promise<void> => {
  const { database, close } = await openReadModel();
  const log = await SqliteEventStore.open(temporaryDirectory());
  try {
    await check({
      log,
      store: new SqlProjectionStore(database),
      order: logOrder,
      rows: (table) => database.read(query<Row>(`select * from ${table}`)),
      loans: new SqlLoanReader(database),
    });
  } finally {
    await Promise.all([log.close(), close()]);
  }
};

describeQuarantinedRenegotiation('embedded', onFiles, [['projector', 'unnamed']]);
