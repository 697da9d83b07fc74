import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import kafkajs from 'kafkajs';
import type { PublicEvent } from '../../../application/ports/event-bus.ts';
import { watermarks, withAdmin } from '../../../infrastructure/kafka/kafka-client.ts';
import {
  DEFAULT_PRODUCER_SETTINGS,
  OrderedProducer,
} from '../../../infrastructure/kafka/ordered-producer.ts';
import { TopicAdministration } from '../../../infrastructure/kafka/topic-administration.ts';
import { reassignment } from '../../../infrastructure/kafka/topic-check.ts';
import { factsOf } from '../../../infrastructure/kafka/topics.ts';
import type { TopicShortfall as Shortfall } from '../../../infrastructure/kafka/topic-check.ts';
import { busEvent, busWorld, sequencesByCode } from '../../support/kafka/bus-world.ts';
import type { BusWorld } from '../../support/kafka/bus-world.ts';
import { everyBroker } from '../../support/kafka/each-broker.ts';
import type { KafkaBroker } from '../../support/kafka/kafka-broker.ts';
import { KafkaCluster } from '../../support/kafka/kafka-cluster.ts';
import { rawKafka } from '../../support/kafka/topic-reader.ts';
import { RecordingLogger } from '../../support/recording-logger.ts';
import { until } from '../../support/within.ts';

let cluster: KafkaCluster;
let world: BusWorld;
let worlds = 0;

// The third broker comes when a test starts it.
beforeAll(async () => void (cluster = await KafkaCluster.start(2)));
afterAll(() => cluster?.close());
beforeEach(async () => void (world = await busWorld(cluster.brokers, `cluster-${worlds++}.`)));
afterEach(() => world.close());

const THREE = { topics: { partitions: 4, replication: 3 } };
const topicOf = ({ prefix }: BusWorld): string => `${prefix}receivables.events`;
const administration = (topics: { replication: number; partitions?: number; retentionMs?: number }) =>
  new TopicAdministration({
    brokers: cluster.brokers,
    clientId: 'operator',
    logger: new RecordingLogger(),
    offsets: world.offsets,
    topicPrefix: world.prefix,
    topics: { partitions: 4, ...topics },
  });
const listed = async (topics: Parameters<typeof administration>[0]) =>
  (await administration(topics).list()).find(({ topic }) => topic === topicOf(world))!;

test('no topic is made with fewer copies than it is to have; it is made as soon as there are brokers enough', async () => {
  const { bus, logger } = world.member({ ...THREE, brokersWaitMs: 300 });
  await expect(bus.publish([busEvent('A', 0)])).rejects.toThrow(
    /receivables\.events, .* not made: 3 copies need 3 brokers and 2 are up; start the others, or set KAFKA_REPLICATION/,
  );
  expect(logger.lines.find(({ level }) => level === 'warn')).toMatchObject({
    message: expect.stringContaining('as many brokers are up as they are to have copies'),
  });
  const kafka = rawKafka(cluster.brokers);
  expect(await withAdmin(kafka, (admin) => admin.listTopics())).not.toContain(topicOf(world));
  const patient = world.member({ ...THREE, brokersWaitMs: 60_000 });
  const published = patient.bus.publish([busEvent('A', 0)]);
  await cluster.nodes[2]!.start();
  await published;
  expect(await listed({ replication: 3 })).toMatchObject({
    ...{ partitions: 4, copies: 3, minInsyncReplicas: 2, problems: [] },
  });
});

test('whatever a producer says was sent is on the topic, also when a leader moves to a broker that has answered already', async () => {
  const kafka = rawKafka(cluster.brokers);
  const topic = topicOf(world);
  const replicaAssignment = [1, 2].map((broker, partition) => ({ partition, replicas: [broker] }));
  await withAdmin(kafka, (admin) =>
    admin.createTopics({ topics: [{ topic, replicaAssignment }], waitForLeaders: false }),
  );
  const leaders = (...wanted: readonly number[]): Promise<void> =>
    everyBroker(
      cluster.brokers.slice(0, 2),
      topic,
      ({ partitions }) =>
        wanted.every((leader, id) => partitions.some((p) => p.partitionId === id && p.leader === leader)),
      `brokers ${wanted.join(' and ')} lead`,
    );
  await leaders(1, 2);
  const producer = new OrderedProducer({
    kafka,
    topic,
    topics: { ready: async () => undefined, requirePartitions: () => undefined },
    logger: new RecordingLogger(),
    settings: DEFAULT_PRODUCER_SETTINGS,
  });
  const keys = Array.from({ length: 20 }, (_, n) => `key ${n}`);
  const sent = (value: string): Promise<boolean> =>
    producer.send(keys.map((key) => ({ key, value, headers: {} }))).then(
      () => true,
      () => false,
    );
  await until(() => sent('before'), 'both leaders answer');
  await withAdmin(kafka, (admin) =>
    admin.alterPartitionReassignments({
      topics: [{ topic, partitionAssignment: [{ partition: 0, replicas: [2] }] }],
    }),
  );
  await leaders(2, 2);
  const ends = async () => {
    const marks = await watermarks(kafka, topic);
    return [0, 1].map((id) => marks.get(id)!.high);
  };
  const added = async (work: () => Promise<unknown>): Promise<readonly number[]> => {
    const before = await ends();
    await work();
    return (await ends()).map((end, id) => end - before[id]!);
  };
  const moved = await added(() => until(() => sent('after'), 'the new leader answers'));
  const whole = await added(() => sent('again'));
  await producer.close();
  expect(whole[0]! + whole[1]!).toBe(keys.length);
  expect(moved.map((count, id) => count >= whole[id]!)).toEqual([true, true]);
});

test('a topic of before that is below is a warning and a problem with the command that mends it, until it is mended', async () => {
  const kafka = rawKafka(cluster.brokers);
  const topic = topicOf(world);
  const configEntries = [{ name: 'retention.ms', value: '60000' }];
  await withAdmin(kafka, (admin) =>
    admin.createTopics({
      topics: [{ topic, numPartitions: 4, replicationFactor: 1, configEntries }],
      waitForLeaders: false,
    }),
  );
  await everyBroker(cluster.brokers, topic, () => true, 'every broker knows the topic');
  const checked: Record<string, readonly string[]> = {};
  const metrics = {
    topicChecked: (name: string, short: readonly string[]) => void (checked[name] = short),
  };
  const { bus, logger } = world.member({ ...THREE, metrics });
  await bus.publish([busEvent('A', 0)]);
  const below = ['replication_factor', 'min.insync.replicas', 'retention.ms'];
  expect(checked[topic]).toEqual(below);
  const warnings = logger.lines.filter(({ message }) => message === 'a topic is below what it should be');
  expect(warnings.map(({ fields }) => (fields as Shortfall).setting)).toEqual(below);
  expect(warnings.map(({ fields }) => (fields as Shortfall).command)).toEqual([
    expect.stringContaining('kafka-reassign-partitions.sh'),
    expect.stringContaining('--add-config min.insync.replicas=2'),
    expect.stringContaining('--add-config retention.ms=1209600000'),
  ]);
  // What the commands do, by the protocol that they use.
  const { problems } = await listed({ replication: 3 });
  expect(problems.map(({ problem }) => problem.split(' ')[0])).toEqual(below);
  const facts = await withAdmin(kafka, (admin) => factsOf(admin, [topic], () => undefined));
  const plan = { topic, partitions: 4, replication: 3, retentionMs: 0 };
  const { partitions } = JSON.parse(reassignment(plan, facts.get(topic)!)) as {
    partitions: { partition: number; replicas: number[] }[];
  };
  await withAdmin(kafka, async (admin) => {
    await admin.alterPartitionReassignments({ topics: [{ topic, partitionAssignment: partitions }] });
    await admin.alterConfigs({
      validateOnly: false,
      resources: [
        {
          type: kafkajs.ConfigResourceTypes.TOPIC,
          name: topic,
          configEntries: [
            { name: 'min.insync.replicas', value: '2' },
            { name: 'retention.ms', value: '1209600000' },
          ],
        },
      ],
    });
  });
  await everyBroker(
    cluster.brokers,
    topic,
    ({ partitions: found, settings }) =>
      found.every(({ replicas }) => replicas.length === 3) &&
      settings.get('min.insync.replicas') === '2' &&
      settings.get('retention.ms') === '1209600000',
    'mended',
  );
  expect((await listed({ replication: 3 })).problems).toEqual([]);
  // A copy that was added is one before it is in step.
  await cluster.whole();
  const next = world.member({ ...THREE, metrics });
  await next.bus.publish([busEvent('A', 1)]);
  expect(checked[topic]).toEqual([]);
});

/** The longest time in which something did not happen, in milliseconds. */
class Standstill {
  #last = performance.now();
  longest = 0;

  begin(): void {
    this.#last = performance.now();
    this.longest = 0;
  }

  /** It happens now. */
  end(): void {
    const now = performance.now();
    this.longest = Math.max(this.longest, Math.round(now - this.#last));
    this.#last = now;
  }
}
type Standstills = Readonly<Record<'publishing' | 'consuming', Standstill>>;

describe('with three copies, one broker away is no loss and no standstill', () => {
  const OPERATIONS = 5;

  /** Publishes one event after the other, each until the bus has it, while one broker after the other is away. */
  const throughout = async (
    trouble: (goesOn: () => Promise<void>, stands: Standstills) => Promise<void>,
  ): Promise<void> => {
    const seen: PublicEvent[] = [];
    const options = { ...THREE, producer: DEFAULT_PRODUCER_SETTINGS };
    const stands = { publishing: new Standstill(), consuming: new Standstill() };
    await world.consumer(
      'g',
      async (events) => {
        seen.push(...events);
        stands.consuming.end();
      },
      options,
    );
    const { bus } = world.member(options);
    const stopping = new AbortController();
    let published = 0;
    const publish = (event: PublicEvent): Promise<boolean> =>
      bus.publish([event]).then(
        () => true,
        () => delay(20, false),
      );
    const publishing = (async () => {
      for (; !stopping.signal.aborted; published++) {
        const event = busEvent(`OP-${published % OPERATIONS}`, Math.floor(published / OPERATIONS));
        while (!(await publish(event)));
        stands.publishing.end();
      }
    })();
    const goesOn = async (): Promise<void> => {
      const [before, had] = [published, seen.length];
      await until(() => published > before + 20 && seen.length > had + 20, 'it goes on', 60_000);
    };
    await goesOn();
    await trouble(goesOn, stands);
    stopping.abort();
    await publishing;
    await until(() => seen.length >= published, 'all events', 60_000);
    const expected: Record<string, number[]> = {};
    for (let n = 0; n < published; n++)
      (expected[`OP-${n % OPERATIONS}`] ??= []).push(Math.floor(n / OPERATIONS));
    expect(sequencesByCode(seen)).toEqual(expected);
  };
  const whole = (): Promise<void> =>
    everyBroker(
      cluster.brokers,
      topicOf(world),
      ({ partitions }) => partitions.every(({ isr }) => isr.length === 3),
      'all copies are whole again',
    );

  test('killed and stopped, one after the other', async () => {
    const [killed, stopped] = cluster.nodes as [KafkaBroker, KafkaBroker, KafkaBroker];
    await throughout(async (goesOn) => {
      await killed.kill();
      await goesOn();
      await killed.start();
      await whole();
      await stopped.stop();
      await goesOn();
      await stopped.start();
      await whole();
    });
  }, 240_000);

  test('each of them frozen with its connections open: publishing goes on when the others have noticed', async () => {
    const held: (readonly [publishing: number, consuming: number])[] = [];
    await throughout(async (goesOn, { publishing, consuming }) => {
      for (const frozen of cluster.nodes) {
        publishing.begin();
        consuming.begin();
        frozen.freeze();
        await goesOn();
        held.push([publishing.longest, consuming.longest]);
        frozen.thaw();
        await whole();
        await goesOn();
      }
    });
    process.stdout.write(
      `a frozen broker: milliseconds without publishing and without consuming ${JSON.stringify(held)}\n`,
    );
    for (const [publishing] of held) expect(publishing).toBeLessThan(40_000);
  }, 360_000);
});
