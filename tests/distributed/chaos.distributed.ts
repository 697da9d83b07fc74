import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { pause } from '../../infrastructure/support/time.ts';
import { loanRequest } from '../support/api-client.ts';
import type { ApiClient } from '../support/api-client.ts';
import type { Cluster } from '../support/distributed/cluster.ts';
import { ENGINE_NAMES, Engines } from '../support/distributed/engines.ts';
import { MoodyPair } from '../support/distributed/moody-pair.ts';
import { InsistentWriters } from '../support/insistent-writers.ts';
import type { MoodyReceiver } from '../support/moody-receiver.ts';
import { Random } from '../support/random.ts';
import type { TcpProxy } from '../support/tcp-proxy.ts';
import { WholeLives } from '../support/whole-lives.ts';
import { within } from '../support/within.ts';

const KILLS = Number(process.env['KILLS'] ?? 10);
const SEED = Number(process.env['SEED'] ?? 20_261_121);
const WRITERS = 4;
const INSTALLMENTS = 3;
const ACKNOWLEDGED_BETWEEN_KILLS = 20;
/** A lease ends after six seconds; what a busy machine needs on top is not what is looked at here, and is printed. */
const FAIL_OVER_MS = 60_000;
/** Every so many kills of a process an engine dies as well. */
const ENGINE_DIES_EVERY = 4;

const random = new Random(SEED);
const done: Record<string, number> = {};
let engines: Engines;
let pair: MoodyPair;
let cluster: Cluster;
let receiver: MoodyReceiver;
let apis: readonly ApiClient[];

beforeAll(async () => {
  engines = await Engines.start();
  pair = await MoodyPair.start(engines, random);
  ({ cluster, receiver, apis } = pair);
}, 240_000);

afterAll(async () => {
  await pair?.close();
  await engines?.close();
}, 300_000);

/** Each ends with connections that work, or none. */
const TROUBLES: Readonly<Record<string, (proxy: TcpProxy) => Promise<void>>> = {
  cut: async (proxy) => proxy.cut(),
  'lost answers': async (proxy) => {
    proxy.mute();
    await pause(random.next() * 500);
    proxy.cut();
    await proxy.pass();
  },
  silence: async (proxy) => {
    proxy.blackhole();
    await pause(random.next() * 1_500);
    await proxy.pass();
  },
};

const troubleAnEngine = async (kill: number): Promise<void> => {
  const given = ENGINE_NAMES.filter((name) => engines.engines[name]);
  const engine = engines.engine(random.pick(given));
  const [name, cause] = random.pick(Object.entries(TROUBLES));
  await cause(engine.proxy);
  done[name] = (done[name] ?? 0) + 1;
  if (kill % ENGINE_DIES_EVERY !== ENGINE_DIES_EVERY - 1) return;
  const dying = engines.engine(given[Math.floor(kill / ENGINE_DIES_EVERY) % given.length]!);
  await dying.kill();
  await pause(random.next() * 1_000);
  await dying.start();
  done['engines killed'] = (done['engines killed'] ?? 0) + 1;
};

/** A new operation goes its whole way to `active`, which needs every role but that of the webhooks. */
const goesOn = (api: ApiClient, code: string): Promise<number> =>
  within(`${code} is active while a process is dead`, FAIL_OVER_MS, async () => {
    const read = await api.loan(code);
    if (read.status === 404) await api.assign(loanRequest(api.fund, code, INSTALLMENTS));
    return read.body?.status === 'active';
  });

test(
  `two processes, ${KILLS} kills, engines that die and connections that are cut: nothing lost, doubled or out of order (seed ${SEED})`,
  async () => {
    const work = { writers: WRITERS, installments: INSTALLMENTS, prefix: 'W' };
    const writers = new InsistentWriters(apis, work);
    const failOvers: number[] = [];
    for (let kill = 0; kill < KILLS; kill++) {
      await writers.untilAcknowledged(ACKNOWLEDGED_BETWEEN_KILLS);
      await pause(random.next() * 300);
      await troubleAnEngine(kill);
      const dying = random.below(apis.length);
      const victim = cluster.nodes[dying]!;
      await victim.end('SIGKILL');
      failOvers.push(await goesOn(apis[1 - dying]!, `P-${kill}`));
      await victim.start();
      if (kill % 10 === 9) process.stdout.write(`${kill + 1} kills, ${writers.acknowledged} writes\n`);
    }
    await writers.stop();
    const { acknowledged, finished } = writers;
    const probes = failOvers.map((_, kill) => `P-${kill}`);
    const lives = new WholeLives(receiver, INSTALLMENTS, { finished, active: probes });
    receiver.calmDown();
    const rest = await lives.untilTold(180_000, cluster.nodes[0]!);
    // Whatever comes too often comes soon after.
    await pause(3_000);
    await lives.expectNothingLostOrDoubled(apis);
    expect(Object.values(receiver.trouble).every((times) => times > 0)).toBe(true);
    expect(finished.length).toBeGreaterThan(KILLS);
    const repetitions = receiver.acceptedPosts - receiver.distinctEvents;
    process.stdout.write(
      `${KILLS} kills, ${JSON.stringify(done)}; ${acknowledged} acknowledged writes, ${finished.length} operations; ` +
        `slowest fail-over ${Math.round(Math.max(...failOvers))} ms, median ${Math.round(failOvers.sort((a, b) => a - b)[KILLS >> 1]!)} ms; ` +
        `${receiver.acceptedPosts} accepted posts, ${repetitions} repetitions, the last ${Math.round(rest)} ms after the end; ` +
        `trouble ${JSON.stringify(receiver.trouble)}\n`,
    );
  },
  300_000 + KILLS * 60_000,
);
