import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { DeliveryLag } from '../../application/webhooks/delivery-lag.ts';
import { DeliveryLog } from '../../application/webhooks/delivery-log.ts';
import { DeliveryQueue } from '../../application/webhooks/queue/delivery-queue.ts';
import { WebhookSubscriptions } from '../../application/webhooks/subscriptions.ts';
import { openServiceDatabase } from '../support/sql/temporary-database.ts';
import { brokenQueues, spoiled } from './delivery-queue-broken.ts';
import { deliveryQueueCases, describeDeliveryQueueContract } from './delivery-queue-contract.ts';
import type { QueueFixture } from './delivery-queue-contract.ts';

const open = async (): Promise<QueueFixture> => {
  const { database, close } = await openServiceDatabase();
  const queue = new DeliveryQueue(database);
  const log = new DeliveryLog(database);
  const lag = new DeliveryLag(database);
  return { adapter: { queue, log, lag, subscriptions: new WebhookSubscriptions(database) }, close };
};

describeDeliveryQueueContract('DeliveryQueue on SQLite', open);

describe('the contract notices a queue that', () => {
  let fixture: QueueFixture;
  beforeAll(async () => {
    fixture = await open();
  });
  afterAll(() => fixture.close());

  test.each(brokenQueues)('$flaw', async (broken) => {
    const noticing = deliveryQueueCases.find(({ name }) => name === broken.noticedBy);
    await expect(noticing!.check(spoiled(fixture.adapter, broken))).rejects.toThrow();
  });
});
