import { afterAll, expect, test } from '@jest/globals';
import { openServiceDatabase } from '../support/sql/temporary-database.ts';
import { brokenQueues, spoiled } from './delivery-queue-broken.ts';
import { deliveryQueueCases } from './delivery-queue-contract.ts';
import { queueOn } from './webhook-desk-contract.ts';

const { database, close } = await openServiceDatabase();
afterAll(close);

test.each(brokenQueues)('the contract notices a queue that $flaw', async (broken) => {
  const noticing = deliveryQueueCases.find(({ name }) => name === broken.noticedBy);
  await expect(noticing!.check(spoiled(queueOn(database), broken))).rejects.toThrow();
});
