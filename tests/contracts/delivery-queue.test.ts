import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { SqlDeliveryLog } from '../../infrastructure/sql/webhooks/delivery-log.ts';
import { SqlDeliveryQueue } from '../../infrastructure/sql/webhooks/delivery-queue.ts';
import { SqlWebhookSubscriptions } from '../../infrastructure/sql/webhooks/subscriptions.ts';
import { openServiceDatabase } from '../infrastructure/sql/support/temporary-database.ts';
import { brokenQueues, spoiled } from './delivery-queue-broken.ts';
import { deliveryQueueCases, describeDeliveryQueueContract } from './delivery-queue-contract.ts';
import type { QueueFixture } from './delivery-queue-contract.ts';

const open = async (): Promise<QueueFixture> => {
  const { database, close } = await openServiceDatabase();
  const queue = new SqlDeliveryQueue(database);
  const log = new SqlDeliveryLog(database);
  return { adapter: { queue, log, subscriptions: new SqlWebhookSubscriptions(database) }, close };
};

describeDeliveryQueueContract('SqlDeliveryQueue on SQLite', open);

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
