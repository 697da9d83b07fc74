import { afterAll, beforeAll, expect, test } from '@jest/globals';
import kafkajs from 'kafkajs';
import { withAdmin } from '../../infrastructure/kafka/kafka-client.ts';
import { pause } from '../../infrastructure/support/time.ts';
import { Cluster } from '../support/distributed/cluster.ts';
import { Engines } from '../support/distributed/engines.ts';
import { InsistentWriters, eventsOfWholeLife } from '../support/insistent-writers.ts';
import { rawKafka } from '../support/kafka/topic-reader.ts';
import { Random } from '../support/random.ts';
import type { ServiceProcess } from '../support/service-process.ts';
import { within } from '../support/within.ts';

const SEED = Number(process.env['SEED'] ?? 1);
const ROUNDS = Number(process.env['ROUNDS'] ?? 2);
const INSTALLMENTS = 3;
const LIFE = eventsOfWholeLife(INSTALLMENTS);
/** No event is so small. */
const TOO_SMALL = 300;
const AS_BY_DEFAULT = 1_048_588;

const random = new Random(SEED);
let engines: Engines;
let cluster: Cluster;
beforeAll(async () => {
  engines = await Engines.start();
  cluster = await Cluster.prepare(engines);
}, 240_000);
afterAll(async () => {
  await cluster?.close();
  await engines?.close();
}, 300_000);

const takeMessagesUpTo = async (bytes: number): Promise<void> => {
  const { KAFKA_BROKERS: brokers, KAFKA_TOPIC_PREFIX: prefix } = engines.environment;
  const configEntries = [{ name: 'max.message.bytes', value: String(bytes) }];
  const resources = [
    { type: kafkajs.ConfigResourceTypes.TOPIC, name: `${prefix}receivables.events`, configEntries },
  ];
  await withAdmin(rawKafka([brokers!]), (admin) => admin.alterConfigs({ validateOnly: false, resources }));
};

const waiting = async (node: ServiceProcess): Promise<number> =>
  (await node.receivables('quarantine', 'list', '-o', 'json')).split('\n').filter(Boolean).length;

test(
  `operations that wait, and are released while processes are killed, are told whole, once and in order (seed ${SEED})`,
  async () => {
    const api = await cluster.add('api');
    const mortal: ServiceProcess[] = [];
    for (const roles of ['projector,relay,scheduler', 'webhooks'])
      mortal.push(await cluster.add(roles), await cluster.add(roles));
    const client = cluster.clientAt(await cluster.createClient(), api);
    const { receiver } = cluster;
    const hook = await client.call('POST', '/webhook', { url: receiver.url, events: ['*'] });
    expect(hook.status).toBe(200);
    const killSome = async (): Promise<void> => {
      for (let kill = 0; kill < 2; kill++) {
        const victim = random.pick(mortal);
        await victim.end('SIGKILL');
        await pause(random.next() * 2_000);
        await victim.start();
      }
    };

    const writing = new InsistentWriters(client, { writers: 4, installments: INSTALLMENTS, prefix: 'Q' });
    await writing.untilAcknowledged(20);
    for (let round = 0; round < ROUNDS; round++) {
      await takeMessagesUpTo(TOO_SMALL);
      await within('some wait', 60_000, async () => (await waiting(api)) > 3);
      await killSome();
      await writing.untilAcknowledged(10);
      await takeMessagesUpTo(AS_BY_DEFAULT);
      const killing = killSome();
      await within('nothing waits', 120_000, async () => {
        await api.receivables('quarantine', 'release', '--all');
        return (await waiting(api)) === 0;
      });
      await killing;
    }
    await writing.stop();

    const all = (): boolean =>
      writing.finished.every((code) => receiver.eventsOf(code).length >= LIFE.length);
    await receiver.until(all, 'webhooks of every finished operation', 180_000);
    for (const code of writing.finished) expect([code, receiver.eventsOf(code)]).toEqual([code, LIFE]);
    expect(await api.receivables('audit', 'verify')).toContain('"differences":0');
    expect(await api.receivables('projections', 'rebuild')).toContain('"differences":0');
  },
  300_000 + ROUNDS * 300_000,
);
