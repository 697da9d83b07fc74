import { afterAll, beforeAll } from '@jest/globals';
import { SqlBorrowerIndex } from '../../infrastructure/sql/borrower-index.ts';
import { SqlCheckpointStore, SqlClockOffset, SqlLeases } from '../../infrastructure/sql/coordination.ts';
import { SqlClientRegistry } from '../../infrastructure/sql/client-registry.ts';
import { SqlKeyStore } from '../../infrastructure/sql/key-store.ts';
import { SqlLoanReader } from '../../infrastructure/sql/read-models/loan-reader.ts';
import { SqlOperationSearch } from '../../infrastructure/sql/read-models/operation-search.ts';
import { SqlOperationStates } from '../../infrastructure/sql/read-models/operation-states.ts';
import { SqlProjectionStore } from '../../infrastructure/sql/read-models/projection-store.ts';
import { SqlSealBook } from '../../infrastructure/sql/seal-book.ts';
import { SqlDeliveryLog } from '../../infrastructure/sql/webhooks/delivery-log.ts';
import { SqlWebhookDesk } from '../../infrastructure/sql/webhooks/webhook-desk.ts';
import { SqlDeliveryQueue } from '../../infrastructure/sql/webhooks/delivery-queue.ts';
import {
  SqlWebhookSecrets,
  SqlWebhookSubscriptions,
} from '../../infrastructure/sql/webhooks/subscriptions.ts';
import type { Row } from '../../projections/projection.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { bothSets, openPostgres, query, testPostgres } from '../support/postgres/test-postgres.ts';
import type { TestPostgres } from '../support/postgres/test-postgres.ts';
import { describeBorrowerIndexContract } from './borrower-index-contract.ts';
import { describeCheckpointStoreContract } from './checkpoint-store-contract.ts';
import { describeClockOffsetContract } from './clock-offset-contract.ts';
import { describeClientRegistryContract } from './client-registry-contract.ts';
import { describeDeskContract } from './desk-contract.ts';
import { describeDeliveryQueueContract } from './delivery-queue-contract.ts';
import { describeKeyStoreContract } from './key-store-contract.ts';
import { describeLeasesContract } from './leases-contract.ts';
import { describeLoanReaderContract } from './loan-reader-contract.ts';
import { projectInto } from './loan-reader-samples.ts';
import { describeOperationSearchContract } from './operation-search-contract.ts';
import { describeOperationStatesContract } from './operation-states-contract.ts';
import { describeProjectionStoreContract } from './projection-store-contract.ts';
import { describeSealBookContract } from './seal-book-contract.ts';
import { describeWebhookDeskContract, queueOn } from './webhook-desk-contract.ts';
import { describeWebhookSecretsContract } from './webhook-secrets-contract.ts';
import { describeWebhookSubscriptionsContract } from './webhook-subscriptions-contract.ts';

let postgres: TestPostgres;
beforeAll(async () => {
  postgres = await testPostgres();
});
afterAll(() => postgres.close());

const open = () => openPostgres(postgres, bothSets);

describeCheckpointStoreContract('SqlCheckpointStore on PostgreSQL', async () => {
  const { database, close } = await open();
  return { store: new SqlCheckpointStore(database, new ManualClock()), close };
});

describeBorrowerIndexContract('SqlBorrowerIndex on PostgreSQL', async () => {
  const { database, close } = await open();
  return { index: new SqlBorrowerIndex(database), close };
});

describeClientRegistryContract('SqlClientRegistry on PostgreSQL', async () => {
  const { database, close } = await open();
  return { registry: new SqlClientRegistry(database), close };
});

describeOperationSearchContract('SqlOperationSearch on PostgreSQL', async () => {
  const { database, close } = await open();
  return {
    search: new SqlOperationSearch(database),
    project: projectInto(new SqlProjectionStore(database)),
    close,
  };
});

describeDeskContract('PostgreSQL', open);

describeOperationStatesContract('SqlOperationStates on PostgreSQL', async () => {
  const { database, close } = await open();
  return {
    states: new SqlOperationStates(database),
    project: projectInto(new SqlProjectionStore(database)),
    close,
  };
});

describeKeyStoreContract('SqlKeyStore on PostgreSQL', async () => {
  const { database, close } = await open();
  return { store: new SqlKeyStore(database, new ManualClock()), close };
});

describeSealBookContract('SqlSealBook on PostgreSQL', async () => {
  const { database, close } = await open();
  return { book: new SqlSealBook(database), close };
});

describeWebhookSecretsContract('PostgreSQL', async () => {
  const { database, close } = await open();
  return {
    secrets: new SqlWebhookSecrets(database),
    subscriptions: new SqlWebhookSubscriptions(database),
    keys: new SqlKeyStore(database, new ManualClock()),
    close,
  };
});

describeClockOffsetContract('SqlClockOffset on PostgreSQL', async () => {
  const { database, close } = await open();
  const view = (): SqlClockOffset => new SqlClockOffset(database, new ManualClock());
  return { views: [view(), view()], close };
});

describeLeasesContract('SqlLeases on PostgreSQL', async () => {
  const { database, close } = await open();
  return { leases: new SqlLeases(database), close };
});

describeLoanReaderContract('SqlLoanReader on PostgreSQL', async () => {
  const { database, close } = await open();
  const project = projectInto(new SqlProjectionStore(database));
  return { reader: new SqlLoanReader(database), project, close };
});

describeProjectionStoreContract('SqlProjectionStore on PostgreSQL', async () => {
  const { database, close } = await open();
  const rows = (table: string) => database.read(query<Row>(`select * from ${table}`));
  return { store: new SqlProjectionStore(database), rows, close };
});

describeWebhookDeskContract('SqlWebhookDesk on PostgreSQL', async () => {
  const { database, close } = await open();
  return { desk: new SqlWebhookDesk(database), adapter: queueOn(database), close };
});

describeWebhookSubscriptionsContract('SqlWebhookSubscriptions on PostgreSQL', async () => {
  const { database, close } = await open();
  return { store: new SqlWebhookSubscriptions(database), close };
});

describeDeliveryQueueContract('SqlDeliveryQueue on PostgreSQL', async () => {
  const { database, close } = await open();
  const queue = new SqlDeliveryQueue(database);
  const log = new SqlDeliveryLog(database);
  return { adapter: { queue, log, subscriptions: new SqlWebhookSubscriptions(database) }, close };
});
