import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { SqlDeliveryLog } from '../../../../infrastructure/sql/webhooks/delivery-log.ts';
import { SqlDeliveryQueue } from '../../../../infrastructure/sql/webhooks/delivery-queue.ts';
import { SqlWebhookSubscriptions } from '../../../../infrastructure/sql/webhooks/subscriptions.ts';
import { DELIVERED, Story, retry } from '../../../contracts/delivery-queue-samples.ts';
import { openServiceDatabase } from '../support/temporary-database.ts';
import type { TemporaryDatabase } from '../support/temporary-database.ts';

let store: TemporaryDatabase;
beforeAll(async () => {
  store = await openServiceDatabase();
});
afterAll(() => store.close());

const answers = (deliveryId: string) =>
  store.database.read(
    store.database.builder
      .selectFrom('webhook_attempt')
      .select(['attempt', 'response_body'])
      .where('delivery_id', '=', deliveryId)
      .orderBy('attempt'),
  );

test('what the receiver answered is kept with each attempt, and goes with the delivery', async () => {
  const { database } = store;
  const queue = new SqlDeliveryQueue(database);
  const subscriptions = new SqlWebhookSubscriptions(database);
  const story = new Story({ queue, subscriptions, log: new SqlDeliveryLog(database) });
  const webhookId = await story.subscribe();
  await story.enqueue(webhookId, [story.event('OP-1')]);
  const { deliveryId } = await story.leaseOne(webhookId);
  await story.record(await story.leaseOne(webhookId, 20_000), retry(30_000), 20_000);
  await story.record(await story.leaseOne(webhookId, 30_000), DELIVERED, 30_000);
  expect(await answers(deliveryId)).toEqual([
    { attempt: 1, response_body: '{"answer":"não"}' },
    { attempt: 2, response_body: null },
  ]);
  const future = '2100-01-01T00:00:00.000Z';
  await queue.cleanUp({ deliveredBefore: future, failedBefore: future, removedBefore: future, limit: 10 });
  expect(await answers(deliveryId)).toEqual([]);
});
