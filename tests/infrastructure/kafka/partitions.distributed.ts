import { afterAll, afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { PublicEvent } from '../../../application/ports/event-bus.ts';
import { toBusMessage } from '../../../application/publication/bus-message.ts';
import { KafkaDeadLetters } from '../../../infrastructure/kafka/dead-letters.ts';
import { watermarks, withAdmin } from '../../../infrastructure/kafka/kafka-client.ts';
import { TopicAdministration } from '../../../infrastructure/kafka/topic-administration.ts';
import { busEvent, busWorld, mixedEvents, sequencesByCode, whole } from '../../support/kafka/bus-world.ts';
import type { BusWorld } from '../../support/kafka/bus-world.ts';
import { addressesOf, everyBroker } from '../../support/kafka/each-broker.ts';
import { testKafka } from '../../support/kafka/test-kafka.ts';
import { rawKafka, readTopic, writeInTransaction, writeRaw } from '../../support/kafka/topic-reader.ts';
import { RecordingLogger } from '../../support/recording-logger.ts';
import { until } from '../../support/within.ts';

const OPERATIONS = 40;
const QUIET_MS = 200;
const TWELVE = { topics: { partitions: 12 }, consumer: { lookAgainMs: 50 } };

let world: BusWorld;

const kafka = await testKafka();
const outsider = rawKafka(kafka.brokers);
afterAll(() => kafka?.close());
beforeEach(async () => void (world = await busWorld(kafka.brokers, kafka.prefix())));
afterEach(() => world.close());

const events = (): string => `${world.prefix}receivables.events`;
const administration = (): TopicAdministration =>
  new TopicAdministration({
    brokers: kafka.brokers,
    clientId: 'operator',
    logger: new RecordingLogger(),
    offsets: world.offsets,
    topicPrefix: world.prefix,
    topics: { partitions: 12, replication: 1 },
    quietMs: QUIET_MS,
  });
const accept = () => administration().acceptPartitions(events());
const double = async (): Promise<void> => {
  await withAdmin(outsider, (admin) =>
    admin.createPartitions({ topicPartitions: [{ topic: events(), count: 24 }] }),
  );
  await everyBroker(
    await addressesOf(outsider),
    events(),
    ({ partitions }) => partitions.length === 24,
    '24 partitions',
  );
  const count = () =>
    watermarks(outsider, events()).then(
      ({ size }) => size,
      () => 0,
    );
  await until(async () => (await count()) === 24, '24 partitions with leaders');
};

describe('12 partitions become 24 while events are left in the old ones', () => {
  test('nothing is published over 24 and nothing overtakes; once the old ones are empty the number can be accepted', async () => {
    const before = mixedEvents(OPERATIONS, 3);
    // A group that has begun, and is away when the number changes.
    const first = await world.consumer('g', async () => undefined, TWELVE);
    await until(() => first.bus.status().groups.get('g')!.joined, 'joined');
    await until(async () => (await world.offsets.load(`${world.prefix}g`, events())).size === 12, 'offsets');
    await first.bus.close();
    const running = world.member(TWELVE);
    await running.bus.publish(before);
    await double();

    const refusal =
      /receivables\.events has 24 partitions, and its operations are spread over 12: .* run receivables topics accept-partitions/;
    const after = mixedEvents(OPERATIONS, 3, 3);
    const checked: (readonly string[])[] = [];
    const metrics = {
      topicChecked: (topic: string, short: readonly string[]) =>
        void (topic === events() && checked.push(short)),
    };
    const later = world.member({ ...TWELVE, metrics });
    await expect(later.bus.publish(after)).rejects.toThrow(refusal);
    expect(later.logger.lines).toContainEqual({
      level: 'error',
      fields: { topic: events(), reason: expect.stringMatching(refusal) },
      message: 'a topic has another number of partitions',
    });
    expect(checked).toEqual([['partitions_changed']]);
    await expect(accept()).rejects.toThrow(`${before.length} messages wait in the 12 partitions of before`);

    // A process of an earlier release has published over 24 already: newer events in partitions that are free of older ones.
    const strays = after.slice(0, OPERATIONS);
    await writeRaw(
      outsider,
      events(),
      strays.map((event, n) => ({
        ...toBusMessage(event),
        partition: 12 + (n % 12),
        headers: { ...toBusMessage(event).headers },
      })),
    );
    const seen: PublicEvent[] = [];
    const consumer = await world.consumer('g', async (batch) => void seen.push(...batch), TWELVE);
    await until(() => seen.length === before.length, 'the old partitions');
    await until(async () => (await administration().list())[0]!.waiting === 0, 'no message waits');
    expect(sequencesByCode(seen)).toEqual(whole(OPERATIONS, 3));
    await expect(later.bus.publish(after)).rejects.toThrow(refusal);
    expect(await accept()).toEqual({ before: 12, partitions: 24 });

    await later.bus.publish(after);
    await until(() => seen.length === before.length + after.length, 'everything');
    expect(sequencesByCode(seen)).toEqual(whole(OPERATIONS, 6));
    // The relay that ran all along takes the number over as well: with its next try where it finds the new partitions only now.
    const last = mixedEvents(OPERATIONS, 1, 6);
    await running.bus.publish(last).catch(() => running.bus.publish(last));
    await until(() => seen.length === OPERATIONS * 7, 'what came last');
    expect(sequencesByCode(seen)).toEqual(whole(OPERATIONS, 7));
    expect(consumer.logger.lines.filter(({ message }) => /dead letters/.test(message))).toEqual([]);
    expect(await accept()).toEqual({ before: 24, partitions: 24 });
  });

  test('a number is not accepted for a topic that was never used, and for none that is not ours', async () => {
    await expect(accept()).rejects.toThrow('has not been used yet');
    await expect(administration().acceptPartitions('elsewhere')).rejects.toThrow('elsewhere is none of');
  });
});

test('an event that was overtaken is put aside, loudly, and a repetition is not; once it is noted as handled it is one', async () => {
  const seen: PublicEvent[] = [];
  const counted: string[] = [];
  const metrics = { deadLettered: (topic: string, group: string) => void counted.push(`${topic} ${group}`) };
  const { logger } = await world.consumer('g', async (batch) => void seen.push(...batch), {
    ...TWELVE,
    metrics,
  });
  const [zero, one, two, three] = [0, 1, 2, 3].map((sequence) => busEvent('OP', sequence));
  const write = (event: PublicEvent, partition: number) => {
    const message = toBusMessage(event);
    return writeRaw(outsider, events(), [{ ...message, partition, headers: { ...message.headers } }]);
  };
  await write(zero!, 3);
  await write(two!, 3);
  await until(() => seen.length === 2, 'two events');
  // From another partition, where it was left behind; and two that were handled, once more.
  await write(one!, 4);
  await write(zero!, 4);
  await write(two!, 4);
  await write(three!, 4);
  await until(() => seen.length === 3, 'the next one');
  expect(seen.map(({ sequence }) => sequence)).toEqual([0, 2, 3]);
  const letters = await readTopic(outsider, `${events()}.dead-letter`);
  expect(letters.map(({ headers }) => headers['event_id'])).toEqual([one!.eventId]);
  const reason = `event ${one!.eventId} (sequence 1 of OP) comes after sequence 2, and the group has not handled it`;
  expect(letters[0]!.headers['dead_letter_reason']).toBe(reason);
  expect(counted).toEqual([`${events()} ${world.prefix}g`]);
  expect(logger.lines.filter(({ level }) => level === 'error')).toMatchObject([
    { fields: { reason, event_id: one!.eventId }, message: 'message put to the dead letters' },
  ]);

  const group = `${world.prefix}g`;
  const deadLetters = new KafkaDeadLetters({
    ...{ brokers: kafka.brokers, clientId: 'operator', logger: new RecordingLogger() },
    ...{ topicPrefix: world.prefix, offsets: world.offsets },
  });
  expect(await deadLetters.list()).toMatchObject([
    {
      ...{ eventId: one!.eventId, name: one!.name, applicationId: one!.applicationId, code: 'OP' },
      ...{ group, reason, topic: events(), partition: 4, offset: 0 },
    },
  ]);
  expect(await deadLetters.isHandled(group, one!)).toBe(false);
  await deadLetters.noteHandled(group, one!);
  await deadLetters.noteHandled(group, one!);
  expect(await deadLetters.isHandled(group, one!)).toBe(true);
  const four = busEvent('OP', 4);
  await write(one!, 4);
  await write(four, 4);
  await until(() => seen.length === 4, 'the one after it');
  expect(seen.at(-1)).toEqual(four);
  expect(counted).toHaveLength(1);
  expect(await deadLetters.list()).toHaveLength(1);
  await writeInTransaction(outsider, letters[0]!.topic, ['no dead letter of ours'], 'commit');
  expect(await deadLetters.list()).toHaveLength(2);
  const left = await withAdmin(outsider, (admin) => admin.listGroups());
  expect(left.groups.filter(({ groupId }) => groupId.includes('dead-letters-read'))).toEqual([]);
});
