import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from '@jest/globals';
import kafkajs from 'kafkajs';
import { withAdmin } from '../../../infrastructure/kafka/kafka-client.ts';
import type { PublicEvent } from '../../../application/ports/event-bus.ts';
import { busWorld, mixedEvents, sequencesByCode, until, whole } from '../../support/kafka/bus-world.ts';
import type { BusWorld } from '../../support/kafka/bus-world.ts';
import { testKafka } from '../../support/kafka/test-kafka.ts';
import type { TestKafka } from '../../support/kafka/test-kafka.ts';
import { rawKafka } from '../../support/kafka/topic-reader.ts';

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
