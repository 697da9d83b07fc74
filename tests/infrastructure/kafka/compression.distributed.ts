import { gzipSync } from 'node:zlib';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from '@jest/globals';
import kafkajs from 'kafkajs';
import type { Kafka } from 'kafkajs';
import { withAdmin } from '../../../infrastructure/kafka/kafka-client.ts';
import type { PublicEvent } from '../../../application/ports/event-bus.ts';
import { busWorld, mixedEvents, sequencesByCode, whole } from '../../support/kafka/bus-world.ts';
import type { BusWorld } from '../../support/kafka/bus-world.ts';
import { testKafka } from '../../support/kafka/test-kafka.ts';
import type { TestKafka } from '../../support/kafka/test-kafka.ts';
import { rawKafka, readTopic } from '../../support/kafka/topic-reader.ts';
import { until } from '../../support/within.ts';

const OPERATIONS = 20;
const EACH = 50;

let kafka: TestKafka;
let world: BusWorld;
beforeAll(async () => void (kafka = await testKafka()));
afterAll(() => kafka?.close());
beforeEach(async () => void (world = await busWorld(kafka.brokers, kafka.prefix())));
afterEach(() => world?.close());

test.each(['gzip', 'snappy', 'lz4', 'zstd'])(
  'messages that a broker keeps compressed with %s are consumed, whole and in order',
  async (value) => {
    const { bus: publisher } = world.member();
    await publisher.publish(mixedEvents(OPERATIONS, 1));
    const topic = `${world.prefix}receivables.events`;
    await withAdmin(rawKafka(kafka.brokers), (admin) =>
      admin.alterConfigs({
        validateOnly: false,
        resources: [
          {
            type: kafkajs.ConfigResourceTypes.TOPIC,
            name: topic,
            configEntries: [{ name: 'compression.type', value }],
          },
        ],
      }),
    );
    const seen: PublicEvent[] = [];
    await world.consumer('g', async (events) => void seen.push(...events));
    const sent = mixedEvents(OPERATIONS, EACH, 1);
    await publisher.publish(sent);
    await until(() => seen.length >= sent.length + OPERATIONS, 'all events', 30_000);
    expect(sequencesByCode(seen)).toEqual(whole(OPERATIONS, EACH + 1));
  },
);

/** As a client writes it that compresses; ours does not. */
const writePacked = async (
  outsider: Kafka,
  topic: string,
  messages: readonly { readonly value: Buffer }[],
): Promise<void> => {
  const { CompressionCodecs: codecs, CompressionTypes: types } = kafkajs;
  const { decompress } = codecs[types.GZIP]();
  const compress = async ({ buffer }: { readonly buffer: Buffer }) => gzipSync(buffer);
  codecs[types.GZIP] = () => ({ compress, decompress }) as never;
  const producer = outsider.producer({ createPartitioner: () => () => 0 });
  await producer.connect();
  await producer.send({ topic, messages: [...messages], compression: types.GZIP });
  await producer.disconnect();
};

test('a batch that would be too large unpacked goes to the dead letters, message by message, and keeps up nothing else', async () => {
  const outsider = rawKafka(kafka.brokers);
  const seen: PublicEvent[] = [];
  const { bus: publisher } = world.member();
  await world.consumer('g', async (events) => void seen.push(...events));
  await publisher.publish(mixedEvents(OPERATIONS, 1));
  await until(() => seen.length === OPERATIONS, 'all events');
  const topic = `${world.prefix}receivables.events`;
  await writePacked(outsider, topic, [
    { value: Buffer.from('small') },
    { value: Buffer.alloc(64 * 1_048_576 + 1) },
  ]);
  await publisher.publish(mixedEvents(OPERATIONS, EACH, 1));
  await until(() => seen.length >= OPERATIONS * (EACH + 1), 'all events', 30_000);
  expect(sequencesByCode(seen)).toEqual(whole(OPERATIONS, EACH + 1));
  const letters = await readTopic(outsider, `${topic}.dead-letter`);
  expect(letters.map(({ value }) => value?.toString())).toEqual([
    'left out: a compressed batch holds more than 67108864 bytes, so it is not unpacked',
    'left out: a compressed batch holds more than 67108864 bytes, so it is not unpacked',
  ]);
  expect(new Set(letters.map(({ headers }) => headers['dead_letter_offset'])).size).toBe(2);
});
