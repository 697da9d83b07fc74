import { afterAll, expect, test } from '@jest/globals';
import { DeliveryLag } from '../../../../application/webhooks/delivery-lag.ts';
import { DeliveryLog } from '../../../../application/webhooks/delivery-log.ts';
import { DeliveryQueue } from '../../../../application/webhooks/queue/delivery-queue.ts';
import { WebhookSubscriptions } from '../../../../application/webhooks/subscriptions.ts';
import { DELIVERED, Story, retry } from '../../../contracts/delivery-queue-samples.ts';
import { openServiceDatabase } from '../../../support/sql/temporary-database.ts';

const store = await openServiceDatabase();
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
  const queue = new DeliveryQueue(database);
  const subscriptions = new WebhookSubscriptions(database);
  const story = new Story({
    queue,
    subscriptions,
    log: new DeliveryLog(database),
    lag: new DeliveryLag(database),
  });
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
