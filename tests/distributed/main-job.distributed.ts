import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { loanRequest } from '../support/api-client.ts';
import type { ApiClient } from '../support/api-client.ts';
import { Cluster } from '../support/distributed/cluster.ts';
import { Engines } from '../support/distributed/engines.ts';
import { signatureHolds } from '../support/webhook-receiver.ts';
import { within } from '../support/within.ts';

/** A lease ends after six seconds; what a busy machine needs on top is printed. */
const FAIL_OVER_MS = 60_000;
const FOLLOWERS = 'projector,relay,scheduler';

let engines: Engines;
let cluster: Cluster;

beforeAll(async () => {
  engines = await Engines.start();
}, 300_000);
afterAll(() => engines?.close());

const prepare = async (): Promise<void> => {
  cluster = await Cluster.prepare(engines);
};
afterEach(() => cluster.close());

const subscribe = async (api: ApiClient): Promise<string> => {
  const hook = await api.call('POST', '/webhook', { url: cluster.receiver.url, events: ['*'] });
  expect(hook.status).toBe(200);
  return hook.body.signing_secret as string;
};

const distinctEvents = (code: string): readonly string[] => [
  ...new Map(
    cluster.receiver.arrivals
      .filter(
        ({ body }) => body.originator_proposal_code === code || body.data?.originator_proposal_code === code,
      )
      .map(({ eventId, event }) => [eventId, event]),
  ).values(),
];

/** From the assignment to the last installment; every read sees the write before it. */
const wholeLife = async (api: ApiClient, code: string): Promise<void> => {
  expect((await api.assign(loanRequest(api.fund, code, 2))).status).toBe(201);
  expect((await api.readable(code)).status).toBe(200);
  await api.untilStatus(code, 'active');
  for (const installment of ['001', '002']) {
    expect((await api.settle(code, installment, 950)).status).toBe(200);
    const { body } = await api.readable(code);
    const shown = body.installments.find((one: { code: string }) => one.code === installment);
    expect(shown.status).toBe('settled');
  }
  const { receiver } = cluster;
  await receiver.until(() => receiver.eventsOf(code).includes('loan_fully_settled'), `${code} is settled`);
};

describe('the service over EventStoreDB, Kafka and PostgreSQL', () => {
  test('does its main job with all roles in one process', async () => {
    await prepare();
    const node = await cluster.add();
    const api = cluster.clientAt(await cluster.createClient(), node);
    const secret = await subscribe(api);
    await wholeLife(api, 'ONE-1');
    expect(distinctEvents('ONE-1')).toEqual([
      'loan_received',
      'loan_approved',
      'loan_term_signed',
      'disbursement_completed',
      'installment_settled',
      'installment_settled',
      'loan_fully_settled',
    ]);
    expect(cluster.receiver.arrivals.every((arrival) => signatureHolds(arrival, secret))).toBe(true);
    const { roles } = JSON.parse(await node.receivables('status', '-o', 'json')) as {
      readonly roles: readonly { readonly role: string; readonly state: string }[];
    };
    // The interface is asked at PUBLIC_URL, where nothing listens here.
    const played = roles.filter(({ state }) => state === 'running').map(({ role }) => role);
    expect(played).toEqual(['projector', 'relay', 'scheduler']);
    expect(await node.end('SIGTERM')).toBe(0);
  }, 240_000);

  test('does it with split roles, and somebody takes over from whoever dies or stops', async () => {
    await prepare();
    const front = await cluster.add('api,webhooks');
    const first = await cluster.add(FOLLOWERS);
    await first.printed('lease obtained');
    const second = await cluster.add(FOLLOWERS);
    const api = cluster.clientAt(await cluster.createClient(), front);
    await subscribe(api);
    await wholeLife(api, 'SPLIT-1');

    await first.end('SIGKILL');
    const assigned = await api.assign(loanRequest(api.fund, 'SPLIT-2', 2));
    expect(assigned.status).toBe(201);
    const { receiver } = cluster;
    const failOver = await within('another process goes on', FAIL_OVER_MS, async () => {
      const read = await api.loan('SPLIT-2');
      return read.body?.status === 'active' && receiver.eventsOf('SPLIT-2').includes('loan_received');
    });

    const before = first.output.length;
    await first.start();
    await within('it stands by', FAIL_OVER_MS, () => first.output.slice(before).includes('standing by'));
    const obtained = (): number => {
      const lines = first.output.slice(before).matchAll(/"lease":"([^"]+)".*lease obtained, starting/g);
      return new Set([...lines].map(([, name]) => name)).size;
    };
    const stopping = performance.now();
    const ended = second.end('SIGTERM');
    await within('the role is handed over', FAIL_OVER_MS, () => obtained() === 3);
    const handOver = performance.now() - stopping;
    expect(await ended).toBe(0);
    await wholeLife(api, 'SPLIT-3');
    process.stdout.write(`fail-over ${Math.round(failOver)} ms, hand-over ${Math.round(handOver)} ms\n`);
    // It does not let the leases end by themselves; one that a busy machine cost it before is none to give back.
    const ends = (): number => second.output.match(/lease given back|lease lost/g)?.length ?? 0;
    await within('its leases are given back', FAIL_OVER_MS, () => ends() >= 3);
  }, 300_000);

  test('answers the same through every process of the interface, and limits once for all of them', async () => {
    await prepare();
    const nodes = [await cluster.add(), await cluster.add('api')];
    const credentials = await cluster.createClient();
    const [here, there] = nodes.map((node) => cluster.clientAt(credentials, node)) as [ApiClient, ApiClient];
    expect((await here.assign(loanRequest(here.fund, 'MANY-1', 6))).status).toBe(201);
    // A token of one process is good at the other.
    const read = await fetch(`${nodes[1]!.baseUrl}/loan/MANY-1`, {
      headers: { authorization: `Bearer ${await here.token()}` },
    });
    expect(read.status).toBe(200);
    await there.untilStatus('MANY-1', 'active');
    for (const [i, api] of [here, there, here, there].entries()) {
      const code = `00${i + 1}`;
      expect((await api.settle('MANY-1', code, 950)).status).toBe(200);
      const other = api === here ? there : here;
      const again = await other.settle('MANY-1', code, 950);
      expect([again.status, again.headers.get('idempotent-replayed')]).toEqual([200, 'true']);
      const { body } = await other.readable('MANY-1');
      expect(body.installments[i].status).toBe('settled');
    }
    const replayed = await here.assign(loanRequest(here.fund, 'MANY-1', 6));
    expect([replayed.status, replayed.headers.get('idempotent-replayed')]).toEqual([201, 'true']);
    expect(replayed.body.status).toBe('active');

    // A process that does not get the shared limits in time, as on a busy machine, limits by itself for a moment and says so.
    const alone = (): number =>
      nodes.reduce((times, { output }) => times + output.split('shared rate limits are').length, 0);
    let statuses: readonly number[];
    let before: number;
    do {
      const slow = await nodes[0]!.createClient(here.fund, 0.1);
      const clients = nodes.map((node) => cluster.clientAt(slow, node));
      for (const client of clients) await client.token();
      before = alone();
      const calls = Array.from({ length: 30 }, (_, i) =>
        clients[i % 2]!.call('POST', '/webhook/unknown/pause'),
      );
      statuses = (await Promise.all(calls)).map(({ status }) => status);
    } while (alone() > before);
    // A tenth of the burst of 60, and nothing that refills so quickly.
    expect(statuses.filter((status) => status !== 429)).toHaveLength(6);
  }, 240_000);

  test('takes commands while Kafka is away, says that events wait, and sends them when it is back', async () => {
    await prepare();
    const node = await cluster.add();
    const api = cluster.clientAt(await cluster.createClient(), node);
    await subscribe(api);
    await engines.engine('kafka').kill();
    expect((await api.assign(loanRequest(api.fund, 'AWAY-kafka', 2))).status).toBe(201);
    await api.untilStatus('AWAY-kafka', 'active');
    await within('it is not ready', 60_000, async () => {
      const ready = await fetch(`${node.baseUrl}/health/ready`);
      return ready.status === 503 && (await ready.text()).includes('relay: failing');
    });
    await engines.engine('kafka').start();
    const { receiver } = cluster;
    await receiver.until(
      () => receiver.eventsOf('AWAY-kafka').includes('disbursement_completed'),
      'what waited arrives',
      90_000,
    );
    expect(receiver.eventsOf('AWAY-kafka').slice(0, 1)).toEqual(['loan_received']);
    await within('ready again', 60_000, async () => (await fetch(`${node.baseUrl}/health/ready`)).ok);
  }, 300_000);

  test.each(['eventStore', 'database'] as const)(
    'refuses commands while the %s is away, says so, and goes on by itself',
    async (name) => {
      await prepare();
      const node = await cluster.add();
      const api = cluster.clientAt(await cluster.createClient(), node);
      const code = `AWAY-${name}`;
      expect((await api.assign(loanRequest(api.fund, code, 3))).status).toBe(201);
      await api.untilStatus(code, 'active');
      const engine = engines.engine(name);
      await engine.kill();
      const refused = await api.assign(loanRequest(api.fund, `${code}-2`, 2));
      expect([refused.status, refused.headers.get('retry-after') !== null]).toEqual([503, true]);
      const check = name === 'eventStore' ? 'event_store' : 'service_store';
      await within('it is not ready', 60_000, async () => {
        const ready = await fetch(`${node.baseUrl}/health/ready`);
        return ready.status === 503 && (await ready.text()).includes(check);
      });
      expect((await fetch(`${node.baseUrl}/health/live`)).status).toBe(200);
      await engine.start();
      const back = await within(
        'ready again',
        60_000,
        async () => (await fetch(`${node.baseUrl}/health/ready`)).ok,
      );
      process.stdout.write(`ready again ${Math.round(back)} ms after the ${name} came back\n`);
      await within('the same request succeeds', 60_000, async () => {
        return (await api.assign(loanRequest(api.fund, `${code}-2`, 2))).status < 300;
      });
      await api.untilStatus(`${code}-2`, 'active');
      expect((await api.settle(code, '001', 950)).status).toBe(200);
    },
    300_000,
  );
});
