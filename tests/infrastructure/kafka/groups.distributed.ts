import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { withAdmin } from '../../../infrastructure/kafka/kafka-client.ts';
import { PlaceMovedError } from '../../../application/processors/consumer-offsets.ts';
import type { ConsumerProgress, PublicEvent } from '../../../application/ports/event-bus.ts';
import {
  busEvent,
  busWorld,
  mixedEvents,
  noLag,
  sequencesByCode,
  whole,
} from '../../support/kafka/bus-world.ts';
import type { BusWorld, Member } from '../../support/kafka/bus-world.ts';
import { rawKafka } from '../../support/kafka/topic-reader.ts';
import { testKafka } from '../../support/kafka/test-kafka.ts';
import type { TestKafka } from '../../support/kafka/test-kafka.ts';
import { until } from '../../support/within.ts';

let kafka: TestKafka;
let world: BusWorld;

beforeAll(async () => void (kafka = await testKafka()));
afterAll(() => kafka.close());
beforeEach(async () => void (world = await busWorld(kafka.brokers, kafka.prefix())));
afterEach(() => world.close());

const partitionsOf = ({ bus }: Member, group = 'g'): readonly number[] =>
  bus.status().groups.get(group)?.partitions ?? [];
const shared = (...members: readonly Member[]): boolean =>
  members.every((member) => partitionsOf(member).length > 0) &&
  members
    .flatMap((member) => partitionsOf(member))
    .toSorted()
    .join() === '0,1,2,3';

/** Effects and offset in one step, as a transaction writes them. */
const handledOnce =
  (seen: PublicEvent[]) => async (events: readonly PublicEvent[], progress?: ConsumerProgress) => {
    await world.offsets.advance(progress!);
    seen.push(...events);
    return 'progress_stored' as const;
  };

describe('consumers of one group', () => {
  test('share the partitions, and each operation stays in order', async () => {
    const seen: PublicEvent[] = [];
    const first = await world.consumer('g', handledOnce(seen));
    const second = await world.consumer('g', handledOnce(seen));
    await until(() => shared(first, second), 'two members share four partitions');
    const events = mixedEvents(40, 25);
    for (let n = 0; n < events.length; n += 50) await first.bus.publish(events.slice(n, n + 50));
    await until(() => seen.length >= events.length, 'all events');
    expect(sequencesByCode(seen)).toEqual(whole(40, 25));
  });

  test('may come and go while a handler is at work: nothing is lost, doubled or out of order', async () => {
    const seen: PublicEvent[] = [];
    const slowly = async (events: readonly PublicEvent[], progress?: ConsumerProgress) => {
      await delay(30);
      return handledOnce(seen)(events, progress);
    };
    const small = { consumer: { batchSize: 5 } };
    const first = await world.consumer('g', slowly, small);
    const events = mixedEvents(20, 20);
    await first.bus.publish(events);
    await until(() => seen.length > 20, 'a start');
    const second = await world.consumer('g', slowly, small);
    const third = await world.consumer('g', slowly, small);
    await until(() => shared(first, second, third), 'three members share four partitions');
    await second.bus.close();
    await until(() => seen.length >= events.length, 'all events');
    expect(sequencesByCode(seen)).toEqual(whole(20, 20));
  });

  test('one that hangs loses its partitions, and what it finishes later is refused', async () => {
    const release = Promise.withResolvers<void>();
    const late: unknown[] = [];
    const hung: ConsumerProgress[] = [];
    const hangs = async (_: readonly PublicEvent[], progress?: ConsumerProgress) => {
      hung.push(progress!);
      await release.promise;
      await world.offsets.advance(progress!).catch((error: unknown) => void late.push(error));
      return 'progress_stored' as const;
    };
    const zombie = await world.consumer('g', hangs, { consumer: { rebalanceTimeoutMs: 2_000 } });
    const events = mixedEvents(1, 3);
    await zombie.bus.publish(events);
    await until(() => hung.length > 0, 'a hanging handler');
    const seen: PublicEvent[] = [];
    const heir = await world.consumer('g', handledOnce(seen), { consumer: { rebalanceTimeoutMs: 2_000 } });
    await until(() => seen.length > 0, 'somebody else takes over');
    expect(partitionsOf(heir)).toEqual([0, 1, 2, 3]);
    release.resolve();
    await until(() => late.length > 0, 'a late result');
    expect(late).toEqual([expect.any(PlaceMovedError)]);
    expect(hung).toHaveLength(1);
    await until(() => shared(zombie, heir), 'the first one comes back');
    expect(seen).toEqual(events);
  });
});

describe('the offset in the store is the truth', () => {
  const handle = (seen: PublicEvent[]) => async (events: readonly PublicEvent[]) => void seen.push(...events);

  test('a new consumer goes on there, whatever the broker remembers', async () => {
    const before: PublicEvent[] = [];
    // Never reports to the broker, as if every report was lost.
    const first = await world.consumer('g', handle(before), { consumer: { reportEveryMs: 3_600_000 } });
    await first.bus.publish(mixedEvents(8, 5));
    await until(() => before.length >= 40, 'a first half');
    await until(() => noLag(first.bus), 'stored offsets');
    await first.bus.close();
    const after: PublicEvent[] = [];
    const second = await world.consumer('g', handle(after));
    await second.bus.publish(mixedEvents(8, 5, 5));
    await until(() => after.length >= 40, 'a second half');
    expect(sequencesByCode([...before, ...after])).toEqual(whole(8, 10));
  });

  test('a store that was set back gets the events again, although nothing new arrives', async () => {
    const before: PublicEvent[] = [];
    const first = await world.consumer('g', handle(before), { consumer: { reportEveryMs: 1 } });
    await first.bus.publish(mixedEvents(1, 6));
    await until(() => noLag(first.bus).then((none) => before.length > 5 && none), 'all');
    await first.bus.close();
    const [group, topic] = [`${world.prefix}g`, `${world.prefix}receivables.events`];
    const stored = await world.offsets.load(group, topic);
    const [partition, from] = [...stored].find(([, next]) => next === 6)!;
    const back = { operation: 'application-1.OP-0', sequence: 1, eventIds: [before[1]!.eventId] };
    await world.offsets.advance({ group, topic, partition, from, to: 0, operations: [back] });
    const again: PublicEvent[] = [];
    await world.consumer('g', handle(again));
    await until(() => again.length >= 4, 'the rest');
    expect(again).toEqual(before.slice(2));
  });

  test('a topic that was emptied beside a store of before gives nothing of what it held, and what is published again once', async () => {
    const before: PublicEvent[] = [];
    const first = await world.consumer('g', handle(before));
    const kept = mixedEvents(4, 3);
    await first.bus.publish(kept);
    await until(() => noLag(first.bus), 'what is kept');
    await first.bus.close();
    const { bus } = world.member();
    // Of operations that come in again once the log was set back: none of these may stand before them.
    await bus.publish([0, 1, 2, 3].flatMap((n) => [0, 1, 2].map((k) => busEvent(`LATER-${n}`, k))));
    await withAdmin(rawKafka(kafka.brokers), async (admin) => {
      const topic = `${world.prefix}receivables.events`;
      const partitions = (await admin.fetchTopicOffsets(topic)).map(({ partition }) => partition);
      const emptied = partitions.map((partition) => ({ partition, offset: '-1' }));
      await admin.deleteTopicRecords({ topic, partitions: emptied });
    });
    const anew = [0, 1, 2, 3].flatMap((n) => [busEvent(`LATER-${n}`, 0), busEvent(`OP-${n}`, 3)]);
    await bus.publish([...kept, ...anew]);
    const seen: PublicEvent[] = [];
    const second = await world.consumer('g', handle(seen));
    await until(() => seen.length >= anew.length, 'what is new');
    await until(() => noLag(second.bus), 'no lag');
    expect(before).toHaveLength(kept.length);
    expect(seen.map(({ eventId }) => eventId).toSorted()).toEqual(
      anew.map(({ eventId }) => eventId).toSorted(),
    );
  });

  test('a topic that was made anew is read from its beginning', async () => {
    const [group, topic] = [`${world.prefix}g`, `${world.prefix}receivables.events`];
    for (const partition of [0, 1, 2, 3]) await world.offsets.begin(group, topic, partition, 5_000);
    const seen: PublicEvent[] = [];
    const { bus, logger } = await world.consumer('g', handle(seen));
    await bus.publish(mixedEvents(8, 2));
    await until(() => seen.length >= 16, 'all events');
    // An empty partition is told of again when it is assigned again before anything was read from it.
    const told = logger.lines.filter(({ level }) => level === 'error');
    expect(new Set(told.map(({ fields }) => (fields as { partition: number }).partition))).toEqual(
      new Set([0, 1, 2, 3]),
    );
    expect(sequencesByCode(seen)).toEqual(whole(8, 2));
  });
});

describe('repetitions by the relay', () => {
  test('reach no handler, in the same batch or much later', async () => {
    const seen: PublicEvent[] = [];
    const { bus } = await world.consumer('g', async (events) => void seen.push(...events));
    const events = mixedEvents(5, 4);
    await bus.publish(events.slice(0, 12));
    await bus.publish(events.slice(4, 12));
    await until(() => seen.length >= 12, 'a start');
    await bus.publish(events);
    await bus.publish(events.slice(0, 3));
    await until(() => seen.length >= 20, 'all events');
    await until(() => noLag(bus), 'no lag');
    expect(sequencesByCode(seen)).toEqual(whole(5, 4));
    expect(new Set(seen.map(({ eventId }) => eventId))).toEqual(
      new Set(events.map(({ eventId }) => eventId)),
    );
  });
});
