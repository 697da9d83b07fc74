import { SqlKeyStore } from '../../infrastructure/sql/key-store.ts';
import {
  SqlWebhookSecrets,
  SqlWebhookSubscriptions,
} from '../../infrastructure/sql/webhooks/subscriptions.ts';
import { openServiceDatabase } from '../infrastructure/sql/support/temporary-database.ts';
import { ManualClock } from '../support/manual-clock.ts';
import { describeWebhookSecretsContract } from './webhook-secrets-contract.ts';

describeWebhookSecretsContract('SQLite', async () => {
  const { database, close } = await openServiceDatabase();
  return {
    secrets: new SqlWebhookSecrets(database),
    subscriptions: new SqlWebhookSubscriptions(database),
    keys: new SqlKeyStore(database, new ManualClock()),
    close,
  };
});
