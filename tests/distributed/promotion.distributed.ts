import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { Cluster } from '../support/distributed/cluster.ts';
import { Engines } from '../support/distributed/engines.ts';
import { InsistentWriters, eventsOfWholeLife } from '../support/insistent-writers.ts';
import { PostgresServer } from '../support/postgres/postgres-server.ts';
import { severalServers } from '../support/postgres/test-postgres.ts';

const INSTALLMENTS = 3;
const LIFE = eventsOfWholeLife(INSTALLMENTS);

let engines: Engines;
let primary: PostgresServer;
let standby: PostgresServer;
let cluster: Cluster;

beforeAll(async () => {
  [engines, primary] = await Promise.all([Engines.start(), PostgresServer.start({ durable: true })]);
  standby = await primary.synchronousStandby();
  // A sending lane of the process that lost its lease passes on after a time-out and a half.
  const settings = { DATABASE_URL: severalServers(primary, standby), WEBHOOK_TIMEOUT: '2s' };
  cluster = await Cluster.prepare(engines, settings);
  await cluster.add();
  await cluster.add();
}, 240_000);
afterAll(async () => {
  await cluster?.close();
  await standby?.crash();
  await primary?.crash();
  await engines?.close();
}, 300_000);

test('settlements go on when the primary dies and its standby is promoted: nothing lost, doubled or out of order', async () => {
  const credentials = await cluster.createClient();
  const apis = cluster.nodes.map((node) => cluster.clientAt(credentials, node));
  const hook = await apis[0]!.call('POST', '/webhook', { url: cluster.receiver.url, events: ['*'] });
  expect(hook.status).toBe(200);
  let longest = 0;
  let last = performance.now();
  const onTry = (_: unknown, response: { readonly status: number } | undefined): void => {
    if (response === undefined || response.status >= 300) return;
    longest = Math.max(longest, performance.now() - last);
    last = performance.now();
  };
  const options = { writers: 4, installments: INSTALLMENTS, prefix: 'PROMOTED', onTry };
  const writing = new InsistentWriters(apis, options);
  await writing.untilAcknowledged(30);
  await primary.crash();
  await standby.promote();
  await writing.untilAcknowledged(60);
  await writing.stop();
  const codes = writing.finished;
  expect(codes.length).toBeGreaterThan(5);
  const { receiver } = cluster;
  const all = (): boolean => codes.every((code) => receiver.eventsOf(code).length >= LIFE.length);
  await receiver.until(all, 'webhooks of every finished operation', 180_000);
  for (const code of codes) {
    expect([code, receiver.eventsOf(code)]).toEqual([code, LIFE]);
    const { body } = await apis[0]!.readable(code);
    expect([code, body.status, body.balances.received_value]).toEqual([code, 'settled', 950 * INSTALLMENTS]);
    // Its key came along.
    expect((body as unknown as { readonly borrower: unknown }).borrower).not.toBeNull();
  }
  const repeated = receiver.arrivals.length - new Set(receiver.arrivals.map(({ eventId }) => eventId)).size;
  process.stdout.write(
    `promotion: ${writing.acknowledged} acknowledged writes in ${codes.length} operations, longest wait for one ` +
      `${Math.round(longest)} ms, ${repeated} webhooks sent again\n`,
  );
}, 360_000);
