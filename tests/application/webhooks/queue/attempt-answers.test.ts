import { afterAll, expect, test } from '@jest/globals';
import { DELIVERED, Story, retry, queueOn } from '../../../contracts/delivery-queue-samples.ts';
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
  const adapter = queueOn(database);
  const { queue } = adapter;
  const story = new Story(adapter);
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
