import { SqlBorrowerIndex } from '../../infrastructure/sql/borrower-index.ts';
import { SqlCheckpointStore, SqlClockOffset } from '../../infrastructure/sql/coordination.ts';
import { SqlKeyStore } from '../../infrastructure/sql/key-store.ts';
import { SqlOperationSearch } from '../../infrastructure/sql/read-models/operation-search.ts';
import { SqlOperationStates } from '../../infrastructure/sql/read-models/operation-states.ts';
import { SqlProjectionStore } from '../../infrastructure/sql/read-models/projection-store.ts';
import { SqlSealBook } from '../../infrastructure/sql/seal-book.ts';
import { SqlWebhookDesk } from '../../infrastructure/sql/webhooks/webhook-desk.ts';
import {
  SqlWebhookSecrets,
  SqlWebhookSubscriptions,
} from '../../infrastructure/sql/webhooks/subscriptions.ts';
import { openReadModel, openServiceDatabase } from '../infrastructure/sql/support/temporary-database.ts';
import { InMemoryKeyStore } from '../support/in-memory-key-store.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { describeBorrowerIndexContract } from './borrower-index-contract.ts';
import { describeCheckpointStoreContract } from './checkpoint-store-contract.ts';
import { describeClockOffsetContract } from './clock-offset-contract.ts';
import { describeDeskContract } from './desk-contract.ts';
import { describeFundSideContract } from './fund-side-contract.ts';
import { describeKeyStoreContract } from './key-store-contract.ts';
import { projectInto } from './loan-reader-samples.ts';
import { describeOperationSearchContract } from './operation-search-contract.ts';
import { describeOperationStatesContract } from './operation-states-contract.ts';
import { describeSealBookContract } from './seal-book-contract.ts';
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
    search: new SqlOperationSearch(database),
    project: projectInto(new SqlProjectionStore(database)),
    close,
  };
});

describeDeskContract('SQLite', openReadModel);

describeOperationStatesContract('SqlOperationStates on SQLite', async () => {
  const { database, close } = await openReadModel();
  return {
    states: new SqlOperationStates(database),
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
    secrets: new SqlWebhookSecrets(database),
    subscriptions: new SqlWebhookSubscriptions(database),
    keys: new SqlKeyStore(database, new ManualClock()),
    close,
  };
});

describeWebhookDeskContract('SqlWebhookDesk on SQLite', async () => {
  const { database, close } = await openServiceDatabase();
  return { desk: new SqlWebhookDesk(database), adapter: queueOn(database), close };
});

describeWebhookSubscriptionsContract('SqlWebhookSubscriptions on SQLite', async () => {
  const { database, close } = await openServiceDatabase();
  return { store: new SqlWebhookSubscriptions(database), close };
});
