import { afterAll, describe, expect, test } from '@jest/globals';
import type { ConsumerOffsets } from '../../application/processors/consumer-offsets.ts';
import type { DeliveryQueue } from '../../application/webhooks/queue/delivery-queue.ts';
import { spoiled } from '../support/spoiled.ts';
import { openServiceDatabase } from '../support/sql/temporary-database.ts';
import { consumerOffsetsCases } from './consumer-offsets-contract.ts';
import { offsetsOver } from './consumer-offsets-samples.ts';

interface Flaw {
  readonly flaw: string;
  readonly promise: string;
  readonly offsets?: (sound: ConsumerOffsets) => Partial<ConsumerOffsets>;
  readonly queue?: (sound: DeliveryQueue, offsets: ConsumerOffsets) => Partial<DeliveryQueue>;
}

/** Each flaw with a part of the name of a promise that must find it out. */
const flaws: readonly Flaw[] = [
  {
    flaw: 'lets everybody move an offset',
    promise: 'is refused and writes nothing',
    offsets: (sound) => ({
      advance: async (progress) => {
        const stored = (await sound.load(progress.group, progress.topic)).get(progress.partition) ?? 0;
        await sound.advance({ ...progress, from: stored });
      },
    }),
  },
  {
    flaw: 'begins anew at every start',
    promise: 'whoever names another one later',
    offsets: (sound) => ({
      begin: async (group, topic, partition, offset) => {
        await sound.begin(group, topic, partition, offset);
        const from = (await sound.load(group, topic)).get(partition)!;
        await sound.advance({ group, topic, partition, from, to: offset, operations: [] });
      },
    }),
  },
  {
    flaw: 'forgets what was handled',
    promise: 'remembered with the offset',
    offsets: (sound) => ({ advance: (progress) => sound.advance({ ...progress, operations: [] }) }),
  },
  {
    flaw: 'queues first and moves the offset afterwards',
    promise: 'lost its partition queues nothing',
    queue: (sound, offsets) => ({
      enqueue: async (deliveries, now, progress) => {
        const count = await sound.enqueue(deliveries, now);
        if (progress && 'group' in progress) await offsets.advance(progress);
        return count;
      },
    }),
  },
  {
    flaw: 'stores no progress without deliveries',
    promise: 'bring the consumer on',
    queue: (sound) => ({
      enqueue: async (deliveries, now, progress) =>
        deliveries.length === 0 ? 0 : sound.enqueue(deliveries, now, progress),
    }),
  },
];

const store = await openServiceDatabase();
afterAll(() => store.close());

describe('the contract of consumer offsets finds broken ones out', () => {
  test.each(flaws)('one that $flaw', async ({ promise, offsets, queue }) => {
    const sound = offsetsOver(store.database);
    const adapter = {
      ...sound,
      offsets: spoiled(sound.offsets, offsets?.(sound.offsets)),
      queue: spoiled(sound.queue, queue?.(sound.queue, sound.offsets)),
    };
    const noticed = consumerOffsetsCases.find(({ name }) => name.includes(promise))!;
    await expect(noticed.check(adapter)).rejects.toThrow();
  });
});
