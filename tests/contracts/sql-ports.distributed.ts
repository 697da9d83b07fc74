import { afterAll } from '@jest/globals';
import { SqlBorrowerIndex } from '../../application/privacy/borrower-index.ts';
import { SqlCheckpointStore } from '../../application/coordination/stored-places.ts';
import { SqlClockOffset } from '../../application/maintenance/sandbox/sandbox-clock.ts';
import { SqlLeases } from '../../application/coordination/leases.ts';
import { SqlClientRegistry } from '../../application/clients/client-registry.ts';
import { SqlKeyStore } from '../../application/coordination/key-store.ts';
import { SqlLoanReader } from '../../application/loans/loan-reader.ts';
import { Worklists } from '../../application/administrator/worklists.ts';
import { SqlProjectionStore } from '../../application/projecting/projection-store.ts';
import { SqlSealBook } from '../../application/audit/seals/seal-book.ts';
import { DeliveryLag } from '../../application/webhooks/delivery-lag.ts';
import { DeliveryLog } from '../../application/webhooks/delivery-log.ts';
import { DeliveryComparison } from '../../application/webhooks/delivery-comparison.ts';
import { WebhookDesk } from '../../application/webhooks/webhook-desk.ts';
import { DeliveryQueue } from '../../application/webhooks/queue/delivery-queue.ts';
import { WebhookSubscriptions } from '../../application/webhooks/subscriptions.ts';
import { webhookSecrets } from '../../application/webhooks/webhook-secrets.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { rowsByStream, storeOfKnown } from '../support/known-operations.ts';
import { bothSets, openPostgres, testPostgres } from '../support/postgres/test-postgres.ts';
import { describeBorrowerIndexContract } from './borrower-index-contract.ts';
import { describeCheckpointStoreContract } from './checkpoint-store-contract.ts';
import { describeClockOffsetContract } from './clock-offset-contract.ts';
import { describeClientRegistryContract } from './client-registry-contract.ts';
import { describeDeskContract } from './desk-contract.ts';
import { describeDeskSessionsContract } from './desk-sessions-contract.ts';
import { describeDeliveryQueueContract } from './delivery-queue-contract.ts';
import { describeKeyStoreContract } from './key-store-contract.ts';
import { describeLeasesContract } from './leases-contract.ts';
import { describeLoanReaderContract } from './loan-reader-contract.ts';
import { projectInto } from './loan-reader-samples.ts';
import { describeOperationSearchContract } from './operation-search-contract.ts';
import { describeOperationStatesContract } from './operation-states-contract.ts';
import { describeProjectionStoreContract } from './projection-store-contract.ts';
import { describeSealBookContract } from './seal-book-contract.ts';
import { describeDeliveryComparisonContract } from './delivery-comparison-contract.ts';
import { describeRangeRedeliveryContract, rangesOn } from './range-redelivery-contract.ts';
import { describeWebhookDeskContract, queueOn } from './webhook-desk-contract.ts';
import { describeWebhookSecretsContract } from './webhook-secrets-contract.ts';
import { describeWebhookSubscriptionsContract } from './webhook-subscriptions-contract.ts';

const postgres = await testPostgres();
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
    database,
    project: projectInto(new SqlProjectionStore(database)),
    close,
  };
});

describeDeskContract('PostgreSQL', open);

describeDeskSessionsContract('PostgreSQL', open);

describeOperationStatesContract('the read model on PostgreSQL', async () => {
  const { database, close } = await open();
  return {
    database,
    worklists: new Worklists(database),
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
    secrets: webhookSecrets(database),
    subscriptions: new WebhookSubscriptions(database),
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
  const rows = (table: string) => rowsByStream(database, table);
  return { store: storeOfKnown(database), rows, close };
});

describeDeliveryComparisonContract('DeliveryComparison on PostgreSQL', async () => {
  const { database, close } = await open();
  return { comparison: new DeliveryComparison(database), adapter: queueOn(database), close };
});

describeWebhookDeskContract('WebhookDesk on PostgreSQL', async () => {
  const { database, close } = await open();
  return { desk: new WebhookDesk(database), adapter: queueOn(database), close };
});

describeWebhookSubscriptionsContract('WebhookSubscriptions on PostgreSQL', async () => {
  const { database, close } = await open();
  return { store: new WebhookSubscriptions(database), close };
});

describeDeliveryQueueContract('DeliveryQueue on PostgreSQL', async () => {
  const { database, close } = await open();
  const queue = new DeliveryQueue(database);
  const log = new DeliveryLog(database);
  const lag = new DeliveryLag(database);
  return { adapter: { queue, log, lag, subscriptions: new WebhookSubscriptions(database) }, close };
});

describeRangeRedeliveryContract('RangeRedeliveries on PostgreSQL', async () => {
  const { database, close } = await open();
  return { adapter: rangesOn(database), close };
});
