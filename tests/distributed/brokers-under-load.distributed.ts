import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { Cluster } from '../support/distributed/cluster.ts';
import { InsistentWriters, eventsOfWholeLife } from '../support/insistent-writers.ts';
import { everyBroker } from '../support/kafka/each-broker.ts';
import type { KafkaBroker } from '../support/kafka/kafka-broker.ts';
import { KafkaCluster } from '../support/kafka/kafka-cluster.ts';

const INSTALLMENTS = 3;
const LIFE = eventsOfWholeLife(INSTALLMENTS);
const PREFIX = 'brokers.';

let brokers: KafkaCluster;
let cluster: Cluster;

beforeAll(async () => {
  brokers = await KafkaCluster.start();
  cluster = await Cluster.prepare({
    environment: {
      KAFKA_BROKERS: brokers.brokers.join(','),
      KAFKA_TOPIC_PREFIX: PREFIX,
      MASTER_KEY: randomBytes(32).toString('base64'),
    },
  });
}, 300_000);
afterAll(async () => {
  await cluster?.close();
  await brokers?.close();
}, 300_000);

test('webhooks go on while one of three brokers is killed or stopped; a frozen one may hold them up, and nothing is lost or out of order', async () => {
  const node = await cluster.add();
  const api = cluster.clientAt(await cluster.createClient(), node);
  const hook = await api.call('POST', '/webhook', { url: cluster.receiver.url, events: ['*'] });
  expect(hook.status).toBe(200);
  await everyBroker(
    brokers.brokers,
    `${PREFIX}receivables.events`,
    () => true,
    'every broker knows the topic',
  );
  const topics = (await node.receivables('topics', 'list', '-o', 'json')).trim().split('\n');
  expect(topics.map((line) => JSON.parse(line) as object)).toContainEqual({
    ...{ topic: `${PREFIX}receivables.events`, partitions: 12, spread_over: 12, waiting: 0 },
    ...{ copies: 3, min_insync_replicas: 2, retention_ms: 1_209_600_000, problems: [], mend: [] },
  });

  const writing = new InsistentWriters([api], { writers: 1, installments: INSTALLMENTS, prefix: 'B' });
  /** Without this broker new events come all the way to the receiver. */
  const goesOn = async (): Promise<void> => {
    await writing.untilAcknowledged(LIFE.length);
    const before = cluster.receiver.arrivals.length;
    const more = (): boolean => cluster.receiver.arrivals.length > before + LIFE.length;
    await cluster.receiver.until(more, 'webhooks while a broker is away', 120_000);
  };
  await goesOn();
  const [killed, stopped, frozen] = brokers.nodes as [KafkaBroker, KafkaBroker, KafkaBroker];
  await killed.kill();
  await goesOn();
  await killed.start();
  await brokers.whole();
  await stopped.stop();
  await goesOn();
  await stopped.start();
  await brokers.whole();
  // Clients of its leaders wait for the answers of a frozen broker, and may find it again at their next try; writes do not.
  frozen.freeze();
  await writing.untilAcknowledged(LIFE.length);
  frozen.thaw();
  await goesOn();
  await writing.stop();

  const { receiver } = cluster;
  const all = (): boolean => writing.finished.every((code) => receiver.eventsOf(code).length >= LIFE.length);
  await receiver.until(all, 'webhooks of every finished operation', 180_000);
  for (const code of writing.finished) expect([code, receiver.eventsOf(code)]).toEqual([code, LIFE]);
  const refused = `${PREFIX}elsewhere`;
  await expect(node.receivables('topics', 'accept-partitions', refused)).rejects.toMatchObject({ code: 3 });
}, 600_000);
