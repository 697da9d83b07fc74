import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { ApiResponse } from '../support/api-client.ts';
import { Cluster } from '../support/distributed/cluster.ts';
import { Engines } from '../support/distributed/engines.ts';
import { Renegotiator } from '../support/renegotiator.ts';
import { within } from '../support/within.ts';

const ROUNDS = 3;
const PAIRS = 4;
/** A reservation whose process died is released or carried out by then: its lease, and a fail-over in the worst case. */
const SETTLED_MS = 60_000;

let engines: Engines;
let cluster: Cluster;
let clients: readonly [Renegotiator, Renegotiator];

beforeAll(async () => {
  engines = await Engines.start();
  cluster = await Cluster.prepare(engines);
  const nodes = [await cluster.add(), await cluster.add()] as const;
  const credentials = await cluster.createClient();
  const at = (n: 0 | 1): Renegotiator => new Renegotiator(cluster.clientAt(credentials, nodes[n]));
  clients = [at(0), at(1)];
  const subscription = { url: cluster.receiver.url, events: ['*'] };
  expect((await clients[0].api.call('POST', '/webhook', subscription)).status).toBe(200);
}, 300_000);
afterAll(async () => {
  await cluster?.close();
  await engines?.close();
}, 300_000);

const statusesAt = (client: Renegotiator, codes: readonly string[]): Promise<readonly string[]> =>
  Promise.all(codes.map((code) => client.statusOf(code)));

test('the same one at both processes at once is executed once; of two that want one operation, one wins', async () => {
  const [here, there] = clients;
  for (let round = 0; round < ROUNDS; round++) {
    const [a, b, c] = ['A', 'B', 'C'].map((name) => `R${round}-${name}`) as [string, string, string];
    await here.activate(a, b, c);
    const watchers = [here.watch([a, b], `${a}-N`), there.watch([a, b], `${a}-N`)];
    const same = await Promise.all([
      here.replaceAll([a, b], `${a}-N`),
      there.replaceAll([b, a], `${a}-N`),
      here.replaceAll([a, b], `${a}-N`),
    ]);
    for (const watcher of watchers) await watcher.stop();
    expect(watchers.flatMap(({ halves }) => halves)).toEqual([]);
    expect(same.map(({ status }) => status)).toEqual([200, 200, 200]);
    expect(same.filter(({ headers }) => !headers.has('idempotent-replayed'))).toHaveLength(1);

    const [d, e] = [`R${round}-D`, `R${round}-E`];
    await there.activate(d, e);
    const rivals = await Promise.all([here.replaceAll([c, d], `${c}-N`), there.replaceAll([e, d], `${e}-N`)]);
    expect(rivals.map(({ status }) => status).sort()).toEqual([200, 409]);
    const won = rivals[0].status === 200;
    const [gone, kept] = won ? [c, e] : [e, c];
    for (const client of clients) {
      expect(await statusesAt(client, [gone, d, kept, `${kept}-N`])).toEqual([
        ...['renegotiated', 'renegotiated', 'active', 'none'],
      ]);
      expect(await client.statusOf(`${gone}-N`)).not.toBe('none');
    }
  }
}, 240_000);

/** Sends them all at once, some to each process, and resolves with who was told of success once one process is dead. */
const killedAmong = async (
  pairs: readonly (readonly [string, string])[],
  dying: 0 | 1,
): Promise<readonly boolean[]> => {
  let answered = 0;
  const enough = Promise.withResolvers<void>();
  const sent = pairs.map(async (pair, i) => {
    const answer: ApiResponse | undefined = await clients[i % 2 === 0 ? 0 : 1]
      .replaceAll(pair, `${pair[0]}-N`)
      .catch(() => undefined);
    if (++answered === 1) enough.resolve();
    return answer?.status === 200;
  });
  await enough.promise;
  await cluster.nodes[dying]!.end('SIGKILL');
  return Promise.all(sent);
};

test('a process that is killed leaves no half, loses nothing acknowledged, and the other one clears up', async () => {
  const all: (readonly [string, string])[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const dying = round % 2 === 0 ? 0 : 1;
    const survivor = clients[1 - dying]!;
    const pairs = Array.from({ length: PAIRS }, (_, i) => [`K${round}-${i}`, `L${round}-${i}`] as const);
    await survivor.activate(...pairs.flat());
    const watchers = pairs.map((pair) => survivor.watch(pair, `${pair[0]}-N`));
    const acknowledged = await killedAmong(pairs, dying);
    for (const [i, pair] of pairs.entries()) {
      const statuses = await statusesAt(survivor, [...pair, `${pair[0]}-N`]);
      if (acknowledged[i]) expect(statuses.slice(0, 2)).toEqual(['renegotiated', 'renegotiated']);
    }
    for (const pair of pairs)
      await within(`${pair[0]} is renegotiated`, SETTLED_MS, async () => {
        const { status } = await survivor.replaceAll(pair, `${pair[0]}-N`);
        return status === 200;
      });
    for (const watcher of watchers) await watcher.stop();
    expect(watchers.flatMap(({ halves }) => halves)).toEqual([]);
    await cluster.nodes[dying]!.start();
    all.push(...pairs);
  }
  const { receiver } = cluster;
  for (const [first, second] of all) {
    for (const client of clients) await client.api.untilStatus(`${first}-N`, 'active');
    expect(await statusesAt(clients[0], [first, second])).toEqual(['renegotiated', 'renegotiated']);
    const told = (): readonly string[] => receiver.eventsOf(`${first}-N`);
    await receiver.until(() => told().length >= 4, `webhooks of ${first}-N`, 90_000);
    expect(told()).toEqual(['loan_received', 'loan_approved', 'loan_term_signed', 'disbursement_completed']);
  }
}, 360_000);
