import { SqlWebhookSubscriptions } from '../../infrastructure/sql/webhooks/subscriptions.ts';
import { openServiceDatabase } from '../infrastructure/sql/support/temporary-database.ts';
import { describeWebhookSubscriptionsContract } from './webhook-subscriptions-contract.ts';

describeWebhookSubscriptionsContract('SqlWebhookSubscriptions on SQLite', async () => {
  const { database, close } = await openServiceDatabase();
  return { store: new SqlWebhookSubscriptions(database), close };
});
