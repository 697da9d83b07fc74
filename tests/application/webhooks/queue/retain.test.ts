import { afterAll, expect, test } from '@jest/globals';
import { DeliveryQueue } from '../../../../application/webhooks/queue/delivery-queue.ts';
import { DELIVERED, FAILED, Story, at, queueOn } from '../../../contracts/delivery-queue-samples.ts';
import { openServiceDatabase } from '../../../support/sql/temporary-database.ts';
import type { SqlDatabase } from '../../../../application/sql/sql-database.ts';
import type { TemporaryDatabase } from '../../../support/sql/temporary-database.ts';

const store = await openServiceDatabase();
afterAll(() => store.close());

const storyOver = (database: SqlDatabase): Story => new Story(queueOn(database));

const before = at(5);
const retention = { deliveredBefore: before, failedBefore: before, removedBefore: before, limit: 10 };

const left = async ({ database }: TemporaryDatabase): Promise<readonly number[]> => {
  const counts = (['webhook_delivery', 'webhook_attempt', 'webhook_event', 'webhook_lane'] as const).map(
    async (table) =>
      (await database.read(database.builder.selectFrom(table).select((eb) => eb.lit(1).as('one')))).length,
  );
  return Promise.all(counts);
};

test.each([
  ['delivered', DELIVERED, 200],
  ['failed', FAILED, 503],
] as const)(
  'one that was %s long ago is kept until an attempt asked for by hand has ended',
  async (_, first, status) => {
    const story = storyOver(store.database);
    const { queue } = story.adapter;
    const webhookId = await story.subscribe();
    const event = story.event('OP-1');
    await story.enqueue(webhookId, [event]);
    await story.record(await story.leaseOne(webhookId), first);
    await queue.redeliver(event, [webhookId], at(10));
    while ((await queue.cleanUp(retention)) > 0);
    const underWay = await story.leaseOne(webhookId, 10);
    expect(underWay).toMatchObject({ event, redelivery: true, attempt: 2 });
    while ((await queue.cleanUp(retention)) > 0);
    expect(await story.record(underWay, FAILED, 20)).toEqual({ kind: 'released' });
    const { attemptLog } = await story.recordOf(webhookId, event);
    expect(attemptLog.map(({ responseStatus }) => responseStatus)).toEqual([status, 503]);
    while ((await queue.cleanUp({ ...retention, deliveredBefore: at(30), failedBefore: at(30) })) > 0);
    expect(await left(store)).toEqual([0, 0, 0, 0]);
  },
);

test('of two attempts asked for by hand, the second is made also where the first ended long ago', async () => {
  const story = storyOver(store.database);
  const { queue, subscriptions } = story.adapter;
  const webhookId = await story.subscribe();
  const event = story.event('OP-1');
  await story.enqueue(webhookId, [event]);
  await story.record(await story.leaseOne(webhookId), FAILED);
  for (let n = 0; n < 2; n++) await queue.redeliver(event, [webhookId], at(10));
  const first = await story.lease(webhookId, 10, { firstAttempts: 1, retries: 0 });
  expect(await story.record(first[0]!, DELIVERED, 20)).toEqual({ kind: 'released' });
  await subscriptions.update(story.applicationId, webhookId, { status: 'paused' }, at(20));
  const old = { ...retention, deliveredBefore: at(30), failedBefore: at(30) };
  while ((await queue.cleanUp(old)) > 0);
  await subscriptions.update(story.applicationId, webhookId, { status: 'active' }, at(40));
  const second = await story.leaseOne(webhookId, 40);
  expect(second).toMatchObject({ event, redelivery: true, attempt: 3 });
  expect(await story.record(second, DELIVERED, 50)).toEqual({ kind: 'released' });
  while ((await queue.cleanUp({ ...old, deliveredBefore: at(60) })) > 0);
  expect(await left(store)).toEqual([0, 0, 0, 0]);
});

test('an attempt asked for while old ones are being removed keeps its delivery, with what was tried before', async () => {
  const { database } = store;
  const story = storyOver(database);
  const webhookId = await story.subscribe();
  const [event, other] = [story.event('OP-1'), story.event('OP-2')];
  for (const one of [event, other]) {
    await story.enqueue(webhookId, [one]);
    await story.record(await story.leaseOne(webhookId), DELIVERED);
  }
  const asking: SqlDatabase = {
    builder: database.builder,
    dialect: database.dialect,
    close: () => database.close(),
    snapshot: (queries) => database.snapshot(queries),
    transaction: (statements, options) => database.transaction(statements, options),
    read: async (query) => {
      const found = await database.read(query);
      await story.adapter.queue.redeliver(event, [webhookId], at(10));
      return found;
    },
  };
  expect(await new DeliveryQueue(asking).cleanUp(retention)).toBe(2);
  expect(await left(store)).toEqual([1, 1, 1, 1]);
  const sent = await story.leaseOne(webhookId, 10);
  expect(sent).toMatchObject({ event, attempt: 2 });
  await story.record(sent, DELIVERED, 20);
  while ((await story.adapter.queue.cleanUp({ ...retention, deliveredBefore: at(30) })) > 0);
});

test('an attempt asked for by hand leaves nothing where its webhook was deleted meanwhile', async () => {
  const story = storyOver(store.database);
  const { queue, subscriptions } = story.adapter;
  const webhookId = await story.subscribe();
  const event = story.event('OP-1');
  await story.enqueue(webhookId, [event]);
  await story.record(await story.leaseOne(webhookId), DELIVERED);
  await queue.redeliver(event, [webhookId], at(10));
  const underWay = await story.leaseOne(webhookId, 10);
  await subscriptions.remove(story.applicationId, webhookId, at(11));
  while ((await queue.cleanUp(retention)) > 0);
  expect((await story.record(underWay, DELIVERED, 20)).kind).toBe('lease_lost');
  expect(await left(store)).toEqual([0, 0, 0, 0]);
});

test('an attempt that ends while its deleted webhook is removed leaves nothing', async () => {
  const story = storyOver(store.database);
  const { queue, subscriptions } = story.adapter;
  const webhookId = await story.subscribe();
  // The delivery that goes first is not that of the lane that goes first.
  for (const code of ['OP-2', 'OP-1']) await story.enqueue(webhookId, [story.event(code)]);
  const underWay = await story.lease(webhookId);
  await subscriptions.remove(story.applicationId, webhookId, at(11));
  expect(await queue.cleanUp({ ...retention, limit: 1 })).toBe(1);
  for (const one of underWay) await story.record(one, DELIVERED, 20);
  while ((await queue.cleanUp(retention)) > 0);
  expect(await left(store)).toEqual([0, 0, 0, 0]);
});
