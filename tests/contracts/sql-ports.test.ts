import { SqlBorrowerIndex } from '../../application/privacy/borrower-index.ts';
import { SqlCheckpointStore } from '../../application/coordination/stored-places.ts';
import { SqlClockOffset } from '../../application/maintenance/sandbox/sandbox-clock.ts';
import { SqlKeyStore } from '../../application/coordination/key-store.ts';
import { Worklists } from '../../application/administrator/worklists.ts';
import { SqlProjectionStore } from '../../application/projecting/projection-store.ts';
import { SqlSealBook } from '../../application/audit/seals/seal-book.ts';
import { DeliveryComparison } from '../../application/webhooks/delivery-comparison.ts';
import { WebhookDesk } from '../../application/webhooks/webhook-desk.ts';
import { WebhookSubscriptions } from '../../application/webhooks/subscriptions.ts';
import { webhookSecrets } from '../../application/webhooks/webhook-secrets.ts';
import { openReadModel, openServiceDatabase } from '../support/sql/temporary-database.ts';
import { InMemoryKeyStore } from '../support/in-memory-key-store.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { describeBorrowerIndexContract } from './borrower-index-contract.ts';
import { describeCheckpointStoreContract } from './checkpoint-store-contract.ts';
import { describeClockOffsetContract } from './clock-offset-contract.ts';
import { describeDeskContract } from './desk-contract.ts';
import { describeDeskSessionsContract } from './desk-sessions-contract.ts';
import { describeFundSideContract } from './fund-side-contract.ts';
import { describeKeyStoreContract } from './key-store-contract.ts';
import { projectInto } from './loan-reader-samples.ts';
import { describeOperationSearchContract } from './operation-search-contract.ts';
import { describeOperationStatesContract } from './operation-states-contract.ts';
import { describeSealBookContract } from './seal-book-contract.ts';
import { describeDeliveryComparisonContract } from './delivery-comparison-contract.ts';
import { describeWebhookDeskContract, queueOn } from './webhook-desk-contract.ts';
import { describeWebhookSecretsContract } from './webhook-secrets-contract.ts';
import { describeWebhookSubscriptionsContract } from './webhook-subscriptions-contract.ts';

describeBorrowerIndexContract('SqlBorrowerIndex on SQLite', async () => {
  const { database, close } = await openServiceDatabase();
  return { index: new SqlBorrowerIndex(database), close };
});

describeCheckpointStoreContract('SqlCheckpointStore on SQLite', async () => {
  const { database, close } = await openServiceDatabase();
  return { store: new SqlCheckpointStore(database, new ManualClock()), close };
});

describeClockOffsetContract('SqlClockOffset on SQLite', async () => {
  const { database, close } = await openServiceDatabase();
  const view = (): SqlClockOffset => new SqlClockOffset(database, new ManualClock());
  return { views: [view(), view()], close };
});

describeFundSideContract('SQLite', openReadModel);

describeKeyStoreContract('SqlKeyStore on SQLite', async () => {
  const { database, close } = await openServiceDatabase();
  return { store: new SqlKeyStore(database, new ManualClock()), close };
});

describeKeyStoreContract('InMemoryKeyStore', async () => ({
  store: new InMemoryKeyStore(),
  close: async () => undefined,
}));

describeOperationSearchContract('SqlOperationSearch on SQLite', async () => {
  const { database, close } = await openReadModel();
  return {
    database,
    project: projectInto(new SqlProjectionStore(database)),
    close,
  };
});

describeDeskContract('SQLite', openReadModel);

describeDeskSessionsContract('SQLite', openServiceDatabase);

describeOperationStatesContract('the read model on SQLite', async () => {
  const { database, close } = await openReadModel();
  return {
    database,
    worklists: new Worklists(database),
    project: projectInto(new SqlProjectionStore(database)),
    close,
  };
});

describeSealBookContract('SqlSealBook on SQLite', async () => {
  const { database, close } = await openServiceDatabase();
  return { book: new SqlSealBook(database), close };
});

describeWebhookSecretsContract('SQLite', async () => {
  const { database, close } = await openServiceDatabase();
  return {
    secrets: webhookSecrets(database),
    subscriptions: new WebhookSubscriptions(database),
    keys: new SqlKeyStore(database, new ManualClock()),
    close,
  };
});

describeDeliveryComparisonContract('DeliveryComparison on SQLite', async () => {
  const { database, close } = await openServiceDatabase();
  return { comparison: new DeliveryComparison(database), adapter: queueOn(database), close };
});

describeWebhookDeskContract('WebhookDesk on SQLite', async () => {
  const { database, close } = await openServiceDatabase();
  return { desk: new WebhookDesk(database), adapter: queueOn(database), close };
});

describeWebhookSubscriptionsContract('WebhookSubscriptions on SQLite', async () => {
  const { database, close } = await openServiceDatabase();
  return { store: new WebhookSubscriptions(database), close };
});
