import { afterAll, afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { MessageTooLargeError } from '../../../application/ports/event-bus.ts';
import type { PublicEvent } from '../../../application/ports/event-bus.ts';
import { RefusedWritesError } from '../../../application/ports/read-models.ts';
import { toBusMessage } from '../../../application/publication/bus-message.ts';
import { withAdmin } from '../../../infrastructure/kafka/kafka-client.ts';
import {
  busEvent,
  busWorld,
  mixedEvents,
  noLag,
  sequencesByCode,
  whole,
} from '../../support/kafka/bus-world.ts';
import type { BusWorld } from '../../support/kafka/bus-world.ts';
import { testKafka } from '../../support/kafka/test-kafka.ts';
import { rawKafka, readTopic, writeInTransaction, writeRaw } from '../../support/kafka/topic-reader.ts';
import { until } from '../../support/within.ts';

let world: BusWorld;

const kafka = await testKafka();
const outsider = rawKafka(kafka.brokers);
afterAll(() => kafka?.close());
beforeEach(async () => void (world = await busWorld(kafka.brokers, kafka.prefix())));
afterEach(() => world.close());

const events = (): string => `${world.prefix}receivables.events`;

/** One for each place and group: what a busy broker acknowledges too late is sent again, and readers tell it by its place. */
const deadLetters = async () => {
  const letters = await readTopic(outsider, `${world.prefix}receivables.events.dead-letter`);
  const places = Map.groupBy(letters, ({ headers }) =>
    ['group', 'partition', 'offset'].map((name) => headers[`dead_letter_${name}`]).join(' '),
  );
  return [...places.values()].map(([first]) => first!);
};

/** Of one operation, and larger than it has to be. */
const padded = (sequence: number, size: number): PublicEvent => {
  const event = busEvent('OP-0', sequence);
  return { ...event, body: event.body.replace('{', `{"padding":"${'x'.repeat(size)}",`) };
};

describe('what can never be handled goes to the dead letters', () => {
  test('unreadable messages, as they were found, with their place and the reason; the others go on in order', async () => {
    const seen: PublicEvent[] = [];
    const counted: string[] = [];
    const metrics = {
      deadLettered: (topic: string, group: string) => void counted.push(`${topic} ${group}`),
    };
    const member = await world.consumer('g', async (batch) => void seen.push(...batch), { metrics });
    const good = [0, 1].map((sequence) => ({ ...toBusMessage(busEvent('OP', sequence)), partition: 2 }));
    const broken = Buffer.from([0x7b, 0x00, 0xff]);
    await writeRaw(outsider, events(), [
      { ...good[0]!, headers: { ...good[0]!.headers } },
      { partition: 2, key: 'whoever', value: broken, headers: { ...good[0]!.headers, source: 'elsewhere' } },
      { partition: 2, value: '{"event":"made up"}', headers: {} },
      { ...good[1]!, headers: { ...good[1]!.headers } },
    ]);
    await until(() => seen.length >= 2, 'the readable ones');
    await until(() => noLag(member.bus), 'no lag');
    expect(seen.map(({ sequence }) => sequence)).toEqual([0, 1]);
    const [first, second, ...others] = await deadLetters();
    expect(others).toEqual([]);
    const place = {
      dead_letter_topic: events(),
      dead_letter_partition: '2',
      dead_letter_group: `${world.prefix}g`,
    };
    expect(first).toMatchObject({
      key: Buffer.from('whoever'),
      value: broken,
      headers: {
        ...place,
        dead_letter_offset: '1',
        dead_letter_reason: 'the value is not UTF-8',
        source: 'elsewhere',
      },
    });
    expect(second?.headers).toMatchObject({ ...place, dead_letter_offset: '2' });
    expect(second?.headers['dead_letter_reason']).toContain('schema_version');
    expect(counted).toEqual([`${events()} ${world.prefix}g`, `${events()} ${world.prefix}g`]);
    const lines = member.logger.lines.filter(({ message }) => message === 'message put to the dead letters');
    expect(lines.map(({ level }) => level)).toEqual(['error', 'error']);
  });

  test('events whose operation no store can name, while those behind them go on', async () => {
    const seen: PublicEvent[] = [];
    const member = await world.consumer('g', async (batch) => void seen.push(...batch));
    const strange = [busEvent('OP\0', 0), busEvent('OP\ud800', 0), busEvent('OP', 0)];
    await writeRaw(
      outsider,
      events(),
      strange.map((event) => ({
        ...toBusMessage(event),
        partition: 1,
        headers: { ...toBusMessage(event).headers },
      })),
    );
    await until(() => seen.length >= 1, 'the one that can be named');
    await until(() => noLag(member.bus), 'no lag');
    expect(seen.map(({ code }) => code)).toEqual(['OP']);
    expect(await deadLetters()).toHaveLength(2);
  });

  test('events that a handler refuses for good; nothing else of their batch is lost or handled twice', async () => {
    const seen: PublicEvent[] = [];
    const sent = mixedEvents(2, 5);
    const bad = sent[4]!;
    const member = await world.consumer('g', async (batch) => {
      if (batch.some(({ eventId }) => eventId === bad.eventId)) throw new RefusedWritesError('no such fund');
      seen.push(...batch);
    });
    await member.bus.publish(sent);
    await until(() => noLag(member.bus), 'no lag');
    expect(sequencesByCode(seen)).toEqual({ 'OP-0': [0, 1, 3, 4], 'OP-1': [0, 1, 2, 3, 4] });
    const letters = await deadLetters();
    expect(letters.map(({ value }) => value?.toString())).toEqual([bad.body]);
    expect(letters[0]!.headers).toMatchObject({ event_id: bad.eventId, dead_letter_reason: 'no such fund' });
  });

  test('one that is too large with its further headers goes without its value', async () => {
    const member = await world.consumer('g', async () => undefined);
    await writeRaw(outsider, events(), [
      { key: 'big', value: 'x'.repeat(1_000_000), headers: { source: 'elsewhere' } },
    ]);
    await until(() => deadLetters().then((letters) => letters.length > 0), 'a dead letter');
    await until(() => noLag(member.bus), 'no lag');
    expect(await deadLetters()).toMatchObject([
      { key: Buffer.from('big'), value: null, headers: { source: 'elsewhere', dead_letter_offset: '0' } },
    ]);
  });
});

test('what fails for the moment is tried until it works, and keeps its place', async () => {
  const seen: PublicEvent[] = [];
  let calls = 0;
  const member = await world.consumer('g', async (batch) => {
    calls += 1;
    if (calls <= 12) throw new Error('the store is away');
    seen.push(...batch);
  });
  await member.bus.publish(mixedEvents(6, 4));
  await until(() => seen.length >= 24, 'all events');
  expect(sequencesByCode(seen)).toEqual(whole(6, 4));
  await until(() => noLag(member.bus), 'no lag');
  expect(await deadLetters()).toEqual([]);
});

test('an event that no broker would take is refused by name, and others pass', async () => {
  const { bus } = world.member();
  const large = padded(0, 1_000_000);
  await expect(bus.publish([large])).rejects.toThrow(MessageTooLargeError);
  await expect(bus.publish([large])).rejects.toThrow(large.eventId);
  await bus.publish([busEvent('OP', 1)]);
});

test('a broker that takes less refuses an event by name, gets one by one what is too much together, and others pass', async () => {
  await withAdmin(outsider, (admin) =>
    admin.createTopics({
      topics: [
        {
          topic: events(),
          numPartitions: 4,
          configEntries: [{ name: 'max.message.bytes', value: '20000' }],
        },
      ],
      waitForLeaders: true,
    }),
  );
  const seen: PublicEvent[] = [];
  const { bus } = await world.consumer('g', async (batch) => void seen.push(...batch));
  const large = padded(4, 30_000);
  const fitting = [0, 1, 2, 3].map((sequence) => padded(sequence, 9_000));
  await bus.publish(fitting);
  await expect(bus.publish([large])).rejects.toThrow(MessageTooLargeError);
  await expect(bus.publish([large])).rejects.toThrow(large.eventId);
  await bus.publish([busEvent('OP-1', 0)]);
  await until(() => seen.length >= 5, 'all that fit');
  expect(sequencesByCode(seen)).toEqual({ 'OP-0': [0, 1, 2, 3], 'OP-1': [0] });
});

test('a batch larger than one request arrives whole and in order', async () => {
  const seen: PublicEvent[] = [];
  const { bus } = await world.consumer('g', async (batch) => void seen.push(...batch));
  const sent = Array.from({ length: 40 }, (_, n) => padded(n, 100_000));
  await bus.publish(sent);
  await until(() => seen.length >= 40, 'all events');
  expect(seen).toEqual(sent);
});

test('an aborted transaction that is larger than what comes at once holds up nothing behind it', async () => {
  const seen: PublicEvent[] = [];
  await world.consumer('g', async (batch) => void seen.push(...batch));
  const write = (event: PublicEvent) => {
    const message = toBusMessage(event);
    return writeRaw(outsider, events(), [{ ...message, partition: 0, headers: { ...message.headers } }]);
  };
  await write(busEvent('OP', 0));
  await until(() => seen.length === 1, 'what was before it');
  await writeInTransaction(outsider, events(), new Array<string>(20).fill('x'.repeat(100_000)), 'abort');
  await write(busEvent('OP', 1));
  await until(() => seen.length === 2, 'what comes behind it');
  expect(sequencesByCode(seen)).toEqual({ OP: [0, 1] });
});

test('lag is what waits, by group', async () => {
  const hold = Promise.withResolvers<void>();
  const { bus } = await world.consumer('slow', () => hold.promise);
  const quick = await world.consumer('quick', async () => undefined);
  await bus.publish(mixedEvents(1, 7));
  await until(() => noLag(quick.bus), 'no lag');
  expect(await bus.lag()).toEqual({ [`${world.prefix}slow`]: 7 });
  hold.resolve();
  await until(() => noLag(bus), 'no lag');
});
