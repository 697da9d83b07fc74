import { afterAll, expect, test } from '@jest/globals';
import { spoiled } from '../support/spoiled.ts';
import { openServiceDatabase } from '../support/sql/temporary-database.ts';
import { brokenQueues } from './delivery-queue-broken.ts';
import { deliveryQueueCases } from './delivery-queue-contract.ts';
import { queueOn } from './delivery-queue-samples.ts';

const { database, close } = await openServiceDatabase();
afterAll(close);

test.each(brokenQueues)('the contract notices a queue that $flaw', async (broken) => {
  const noticing = deliveryQueueCases.find(({ name }) => name === broken.noticedBy);
  const { queue, ...adapter } = queueOn(database);
  const check = noticing!.check({ ...adapter, queue: spoiled(queue, broken.spoil(queue)) });
  await expect(check).rejects.toThrow();
});
