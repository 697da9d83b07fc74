import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { DeliveryLag } from '../../../../application/webhooks/delivery-lag.ts';
import { DeliveryLog } from '../../../../application/webhooks/delivery-log.ts';
import { DeliveryQueue } from '../../../../application/webhooks/queue/delivery-queue.ts';
import { WebhookSubscriptions } from '../../../../application/webhooks/subscriptions.ts';
import { DELIVERED, Story, at } from '../../../contracts/delivery-queue-samples.ts';
import { openServiceDatabase } from '../../../support/sql/temporary-database.ts';
import type { TemporaryDatabase } from '../../../support/sql/temporary-database.ts';

let store: TemporaryDatabase;
beforeAll(async () => {
  store = await openServiceDatabase();
});
afterAll(() => store.close());

test('an attempt asked for by hand leaves nothing where its delivery was removed for its age meanwhile', async () => {
  const { database } = store;
  const story = new Story({
    queue: new DeliveryQueue(database),
    log: new DeliveryLog(database),
    lag: new DeliveryLag(database),
    subscriptions: new WebhookSubscriptions(database),
  });
  const { queue } = story.adapter;
  const webhookId = await story.subscribe();
  const event = story.event('OP-1');
  await story.enqueue(webhookId, [event]);
  await story.record(await story.leaseOne(webhookId), DELIVERED);
  await queue.redeliver(event, [webhookId], at(10));
  const underWay = await story.leaseOne(webhookId, 10);
  const before = at(5);
  const retention = { deliveredBefore: before, failedBefore: before, removedBefore: before, limit: 10 };
  while ((await queue.cleanUp(retention)) > 0);
  expect(await story.record(underWay, DELIVERED, 20)).toEqual({ kind: 'released' });
  const counts = (['webhook_delivery', 'webhook_attempt', 'webhook_event', 'webhook_lane'] as const).map(
    async (table) =>
      (await database.read(database.builder.selectFrom(table).select((eb) => eb.lit(1).as('one')))).length,
  );
  expect(await Promise.all(counts)).toEqual([0, 0, 0, 0]);
});
