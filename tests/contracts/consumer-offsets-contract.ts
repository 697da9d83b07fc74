import { randomUUID } from 'node:crypto';
import { expect } from '@jest/globals';
import { PlaceMovedError } from '../../application/processors/consumer-offsets.ts';
import type { ConsumerProgress } from '../../application/ports/event-bus.ts';
import type { ConsumerOffsets } from '../../application/processors/consumer-offsets.ts';
import { Story, at } from './delivery-queue-samples.ts';
import type { QueueUnderTest } from './delivery-queue-samples.ts';
import type { Promised } from './promises.ts';

const TOPIC = 'receivables.events';

export interface OffsetsUnderTest extends QueueUnderTest {
  readonly offsets: ConsumerOffsets;
}

const newGroup = (): string => `group-${randomUUID()}`;

const step = (group: string, from: number, to: number): ConsumerProgress => ({
  group,
  topic: TOPIC,
  partition: 0,
  from,
  to,
  operations: [],
});

const offsetCases: readonly Promised<OffsetsUnderTest>[] = [
  {
    name: 'a group that never consumed has no offsets',
    check: async ({ offsets }) => {
      expect(await offsets.load(newGroup(), TOPIC)).toEqual(new Map());
    },
  },
  {
    name: 'the first offset of a partition stays, whoever names another one later',
    check: async ({ offsets }) => {
      const group = newGroup();
      await offsets.begin(group, TOPIC, 3, 17);
      await offsets.begin(group, TOPIC, 3, 99);
      await offsets.begin(group, TOPIC, 4, 0);
      const expected = new Map([
        [3, 17],
        [4, 0],
      ]);
      expect(await offsets.load(group, TOPIC)).toEqual(expected);
    },
  },
  {
    name: 'groups and topics do not know of each other',
    check: async ({ offsets }) => {
      const group = newGroup();
      await offsets.begin(group, TOPIC, 0, 5);
      expect(await offsets.load(newGroup(), TOPIC)).toEqual(new Map());
      expect(await offsets.load(group, 'another')).toEqual(new Map());
    },
  },
  {
    name: 'an offset moves from where it is, forwards and back',
    check: async ({ offsets }) => {
      const group = newGroup();
      await offsets.begin(group, TOPIC, 0, 0);
      await offsets.advance(step(group, 0, 40));
      expect(await offsets.load(group, TOPIC)).toEqual(new Map([[0, 40]]));
      await offsets.advance(step(group, 40, 7));
      expect(await offsets.load(group, TOPIC)).toEqual(new Map([[0, 7]]));
    },
  },
  {
    name: 'whoever expects another offset, or one where there is none, is refused and writes nothing',
    check: async ({ offsets }) => {
      const group = newGroup();
      const marks = [{ operation: 'app.OP', sequence: 3, eventIds: ['a'] }];
      await expect(offsets.advance(step(group, 0, 1))).rejects.toThrow(PlaceMovedError);
      await offsets.begin(group, TOPIC, 0, 10);
      const late = { ...step(group, 9, 11), operations: marks };
      await expect(offsets.advance(late)).rejects.toThrow(PlaceMovedError);
      expect(await offsets.load(group, TOPIC)).toEqual(new Map([[0, 10]]));
      expect(await offsets.marks(group, ['app.OP'])).toEqual(new Map());
    },
  },
  {
    name: 'of two that go on from the same offset at once exactly one does',
    check: async ({ offsets }) => {
      const group = newGroup();
      await offsets.begin(group, TOPIC, 0, 0);
      const tries = Array.from({ length: 8 }, (_, n) => offsets.advance(step(group, 0, n + 1)));
      const won = (await Promise.allSettled(tries)).map(({ status }) => status === 'fulfilled');
      expect(won.filter(Boolean)).toHaveLength(1);
      expect(await offsets.load(group, TOPIC)).toEqual(new Map([[0, won.indexOf(true) + 1]]));
    },
  },
  {
    name: 'what was handled of an operation is remembered with the offset, the newest only',
    check: async ({ offsets }) => {
      const group = newGroup();
      const first = { operation: 'app.A', sequence: 1, eventIds: ['a1'] };
      const other = { operation: 'app.B', sequence: 4, eventIds: ['b4', 'b4-second'] };
      const newest = { operation: 'app.A', sequence: 2, eventIds: ['a2'], handled: '0-1 2:1f3a9c0d' };
      await offsets.begin(group, TOPIC, 0, 0);
      await offsets.advance({ ...step(group, 0, 3), operations: [first, other] });
      await offsets.advance({ ...step(group, 3, 4), operations: [newest] });
      expect(await offsets.marks(group, ['app.A', 'app.B', 'app.C'])).toEqual(
        new Map([
          ['app.A', newest],
          ['app.B', other],
        ]),
      );
      expect(await offsets.marks(newGroup(), ['app.A'])).toEqual(new Map());
      expect(await offsets.marks(group, [])).toEqual(new Map());
    },
  },
  {
    name: 'a mark is changed by itself only where it is still the one that was read',
    check: async ({ offsets }) => {
      const group = newGroup();
      const first = { operation: 'app.A', sequence: 4, eventIds: ['A-4'] };
      const marked = { ...first, handled: '0-4' };
      expect(await offsets.mark(group, undefined, first)).toBe(true);
      expect(await offsets.mark(group, undefined, marked)).toBe(false);
      expect(await offsets.mark(group, marked, marked)).toBe(false);
      expect(await offsets.mark(group, first, marked)).toBe(true);
      expect(await offsets.mark(group, first, { ...first, sequence: 5 })).toBe(false);
      expect(await offsets.mark(group, { ...marked, sequence: 3 }, first)).toBe(false);
      expect(await offsets.marks(group, ['app.A'])).toEqual(new Map([['app.A', marked]]));
      expect(await offsets.marks(newGroup(), ['app.A'])).toEqual(new Map());
    },
  },
  {
    name: 'the first number of partitions of a topic stays until another one is accepted from it',
    check: async ({ offsets }) => {
      const topic = newGroup();
      expect(await offsets.keptPartitions(topic)).toBeUndefined();
      expect(await offsets.acceptPartitions(topic, 12, 24)).toBe(false);
      const kept = await Promise.all([12, 24, 24, 12].map((found) => offsets.keepPartitions(topic, found)));
      const [first] = kept;
      expect(kept).toEqual(Array(4).fill(first));
      expect(await offsets.acceptPartitions(topic, first! + 1, 48)).toBe(false);
      expect(await offsets.acceptPartitions(topic, first!, 48)).toBe(true);
      expect(await offsets.keptPartitions(topic)).toBe(48);
      expect(await offsets.keepPartitions(topic, 12)).toBe(48);
    },
  },
  {
    name: 'a topic that was consumed before its number was kept has the number that the offsets say',
    check: async ({ offsets }) => {
      const [topic, group] = [newGroup(), newGroup()];
      for (const partition of [0, 11, 3]) await offsets.begin(group, topic, partition, 0);
      expect(await offsets.keepPartitions(topic, 24)).toBe(12);
      expect(await offsets.groups(topic)).toEqual([group]);
      expect(await offsets.groups(newGroup())).toEqual([]);
    },
  },
];

const deliveryCases: readonly Promised<OffsetsUnderTest>[] = [
  {
    name: 'deliveries and the progress that they come from are stored together',
    check: async (adapter) => {
      const { offsets, queue } = adapter;
      const [story, group] = [new Story(adapter), newGroup()];
      const webhookId = await story.subscribe();
      const event = story.event('OP-1');
      const mark = { operation: 'app.OP-1', sequence: 0, eventIds: [event.eventId] };
      await offsets.begin(group, TOPIC, 0, 0);
      const progress = { ...step(group, 0, 1), operations: [mark] };
      expect(await queue.enqueue([{ webhookId, event }], at(0), progress)).toBe(1);
      expect((await story.leaseOne(webhookId)).event).toEqual(event);
      expect(await offsets.load(group, TOPIC)).toEqual(new Map([[0, 1]]));
      expect(await offsets.marks(group, ['app.OP-1'])).toEqual(new Map([['app.OP-1', mark]]));
    },
  },
  {
    name: 'a consumer that lost its partition queues nothing',
    check: async (adapter) => {
      const { offsets, queue } = adapter;
      const [story, group] = [new Story(adapter), newGroup()];
      const webhookId = await story.subscribe();
      await offsets.begin(group, TOPIC, 0, 0);
      await offsets.advance(step(group, 0, 5));
      const planned = [{ webhookId, event: story.event('OP-1') }];
      await expect(queue.enqueue(planned, at(0), step(group, 0, 1))).rejects.toThrow(PlaceMovedError);
      expect(await story.records(webhookId)).toEqual([]);
      expect(await offsets.load(group, TOPIC)).toEqual(new Map([[0, 5]]));
    },
  },
  {
    name: 'events that nobody wants bring the consumer on all the same',
    check: async ({ offsets, queue }) => {
      const group = newGroup();
      await offsets.begin(group, TOPIC, 0, 0);
      expect(await queue.enqueue([], at(0), step(group, 0, 9))).toBe(0);
      expect(await offsets.load(group, TOPIC)).toEqual(new Map([[0, 9]]));
    },
  },
];

export const consumerOffsetsCases: readonly Promised<OffsetsUnderTest>[] = [...offsetCases, ...deliveryCases];
