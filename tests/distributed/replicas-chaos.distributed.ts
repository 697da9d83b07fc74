import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { pause } from '../../infrastructure/support/time.ts';
import { loanRequest } from '../support/api-client.ts';
import type { ApiClient, ApiResponse } from '../support/api-client.ts';
import type { Cluster } from '../support/distributed/cluster.ts';
import { MoodyPair } from '../support/distributed/moody-pair.ts';
import { StandInCluster } from '../support/eventstoredb/cluster.ts';
import { InsistentWriters } from '../support/insistent-writers.ts';
import { KafkaCluster } from '../support/kafka/kafka-cluster.ts';
import type { MoodyReceiver } from '../support/moody-receiver.ts';
import { ReplicatedPostgres } from '../support/postgres/replicated-postgres.ts';
import { Random } from '../support/random.ts';
import { WholeLives } from '../support/whole-lives.ts';
import { within } from '../support/within.ts';

/** Three nodes of the event store, three brokers, a primary with a synchronous standby: one of them fails at a time. */
const TROUBLES = Number(process.env['TROUBLES'] ?? 12);
const SEED = Number(process.env['SEED'] ?? 20_261_122);
const WRITERS = 4;
const INSTALLMENTS = 3;
const ACKNOWLEDGED_BETWEEN = 20;
/** Shorter than a real cluster takes, so that many fit in. `leaders.distributed.ts` waits as long as a real one. */
const ELECTION_MS = 2_000;
/** Leases and elections take some seconds; what a busy machine needs on top is printed. */
const FAIL_OVER_MS = 90_000;

const random = new Random(SEED);
let events: StandInCluster;
let kafka: KafkaCluster;
let postgres: ReplicatedPostgres;
let pair: MoodyPair;
let cluster: Cluster;
let receiver: MoodyReceiver;
let apis: readonly ApiClient[];

beforeAll(async () => {
  [events, kafka, postgres] = await Promise.all([
    StandInCluster.start({ electionMs: ELECTION_MS }),
    KafkaCluster.start(),
    ReplicatedPostgres.start(),
  ]);
  const environment = {
    EVENTSTORE_URL: events.url,
    KAFKA_BROKERS: kafka.brokers.join(','),
    KAFKA_REPLICATION: '3',
    DATABASE_URL: postgres.url,
    MASTER_KEY: randomBytes(32).toString('base64'),
  };
  pair = await MoodyPair.start({ environment }, random);
  ({ cluster, receiver, apis } = pair);
}, 300_000);

afterAll(async () => {
  await pair?.close();
  await Promise.all([events?.close(), kafka?.close(), postgres?.close()]);
}, 300_000);

/** A new operation goes its whole way to `active`, which needs every role but that of the webhooks. */
const goesOn = (code: string): Promise<number> =>
  within(`${code} is active again`, FAIL_OVER_MS, async () => {
    for (const api of apis) {
      const read = await api.loan(code).catch(() => undefined);
      if (read?.status === 404)
        await api.assign(loanRequest(api.fund, code, INSTALLMENTS)).catch(() => undefined);
      if (read?.body?.status === 'active') return true;
    }
    return false;
  });

const otherLeader = (before: number): Promise<number> =>
  within('another leader', FAIL_OVER_MS, () =>
    Promise.resolve(events.leader !== undefined && events.leader !== before),
  );

interface Trouble {
  readonly name: string;
  /** No caller may notice it. */
  readonly unnoticed?: boolean;
  /** Answers what ends the trouble. */
  readonly begin: () => Promise<() => Promise<unknown>>;
}

const leaderThat = (
  name: string,
  fail: (leader: number) => unknown,
  end: (node: number) => Promise<void>,
): Trouble => ({
  name: `leader ${name}`,
  unnoticed: true,
  begin: async () => {
    const leader = events.leader!;
    const failing = fail(leader);
    await otherLeader(leader);
    await failing;
    return () => end(leader);
  },
});

const KINDS: readonly Trouble[] = [
  leaderThat(
    'killed',
    (leader) => events.kill(leader),
    (node) => events.restart(node),
  ),
  leaderThat(
    'stopped',
    (leader) => events.stop(leader),
    (node) => events.restart(node),
  ),
  leaderThat(
    'frozen',
    (leader) => events.freeze(leader),
    (node) => events.thaw(node),
  ),
  {
    name: 'broker killed',
    begin: async () => {
      const broker = random.pick(kafka.nodes);
      await broker.kill();
      return () => broker.start();
    },
  },
  {
    name: 'broker frozen',
    begin: async () => {
      const broker = random.pick(kafka.nodes);
      broker.freeze();
      return async () => broker.thaw();
    },
  },
  {
    name: 'standby promoted',
    begin: async () => {
      await postgres.failOver();
      return async () => undefined;
    },
  },
  {
    name: 'process killed',
    begin: async () => {
      const victim = random.pick(cluster.nodes);
      await victim.end('SIGKILL');
      return () => victim.start();
    },
  },
];

test(
  `${TROUBLES} nodes, brokers, databases and processes fail one after the other: nothing lost, doubled or out of order, and no caller notices another leader (seed ${SEED})`,
  async () => {
    let watched: string | undefined;
    let watchedSince = 0;
    const noticed: unknown[] = [];
    const onTry = (_: ApiClient, response: ApiResponse | undefined, tried: number): void => {
      // What began before has to do with the trouble before.
      if (watched === undefined || tried < watchedSince) return;
      if (response === undefined || response.status >= 500)
        noticed.push([watched, response?.status, response?.body]);
    };
    const writers = new InsistentWriters(apis, {
      writers: WRITERS,
      installments: INSTALLMENTS,
      prefix: 'W',
      onTry,
    });
    const took = new Map<string, number[]>();
    const probes: string[] = [];
    try {
      for (let n = 0; n < TROUBLES; n++) {
        // Each kind in its turn, so that a short run meets all of them.
        const trouble = KINDS[n % KINDS.length]!;
        await writers.untilAcknowledged(ACKNOWLEDGED_BETWEEN);
        await pause(random.next() * 300);
        const begun = performance.now();
        if (trouble.unnoticed) [watched, watchedSince] = [`${n} ${trouble.name}`, begun];
        const end = await trouble.begin();
        probes.push(`P-${n}`);
        await goesOn(`P-${n}`);
        took.set(trouble.name, [...(took.get(trouble.name) ?? []), Math.round(performance.now() - begun)]);
        await writers.untilAcknowledged(ACKNOWLEDGED_BETWEEN);
        watched = undefined;
        await end();
      }
      await writers.stop();
    } catch (error) {
      writers.abandon();
      throw error;
    }
    const { acknowledged, finished } = writers;
    const lives = new WholeLives(receiver, INSTALLMENTS, { finished, active: probes });
    receiver.calmDown();
    const rest = await lives.untilTold(240_000, cluster.nodes[0]!);
    // What comes too often comes soon after.
    await pause(3_000);
    await lives.expectNothingLostOrDoubled(apis);
    expect(noticed).toEqual([]);
    process.stdout.write(
      `${TROUBLES} troubles, ${acknowledged} acknowledged writes, ${finished.length} operations; milliseconds until an operation went its whole way: ` +
        `${JSON.stringify(Object.fromEntries(took))}; the last webhook ${Math.round(rest)} ms after the end\n`,
    );
  },
  300_000 + TROUBLES * 60_000,
);
