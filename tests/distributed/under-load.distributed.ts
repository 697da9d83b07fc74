import { readFileSync } from 'node:fs';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { pause } from '../../infrastructure/support/time.ts';
import { loanRequest } from '../support/api-client.ts';
import type { ApiClient, ApiResponse } from '../support/api-client.ts';
import { Cluster } from '../support/distributed/cluster.ts';
import { Engines } from '../support/distributed/engines.ts';
import type { Engine, EngineName } from '../support/distributed/engines.ts';
import { InsistentWriters, eventsOfWholeLife } from '../support/insistent-writers.ts';
import { within } from '../support/within.ts';

const WRITERS = 4;
const INSTALLMENTS = 3;
const LIFE = eventsOfWholeLife(INSTALLMENTS);
const ROUNDS = 2;
const BURST = 60;
/** Of one process, while requests come and an engine does not answer. */
const MEMORY_GROWTH_BYTES = 150 * 1024 * 1024;

interface Try {
  readonly api: ApiClient;
  readonly begun: number;
  readonly at: number;
  /** None: the connection failed. */
  readonly status: number | undefined;
  readonly retryAfter: boolean;
}

let engines: Engines;
let cluster: Cluster;
let apis: readonly ApiClient[];
let tries: Try[];
let writers: InsistentWriters | undefined;

beforeAll(async () => {
  engines = await Engines.start();
}, 240_000);
afterAll(() => engines?.close());

beforeEach(async () => {
  cluster = await Cluster.prepare(engines);
  const nodes = [await cluster.add(), await cluster.add()];
  const credentials = await cluster.createClient();
  apis = nodes.map((node) => cluster.clientAt(credentials, node));
  const hook = await apis[0]!.call('POST', '/webhook', { url: cluster.receiver.url, events: ['*'] });
  expect(hook.status).toBe(200);
  tries = [];
}, 300_000);
afterEach(async () => {
  writers?.abandon();
  await cluster?.close();
}, 300_000);

const note = (api: ApiClient, response: ApiResponse | undefined, begun: number): void => {
  const retryAfter = response?.headers.has('retry-after') ?? false;
  tries.push({ api, begun, at: performance.now(), status: response?.status, retryAfter });
};
const startWriters = (prefix: string): InsistentWriters =>
  (writers = new InsistentWriters(apis, {
    writers: WRITERS,
    installments: INSTALLMENTS,
    prefix,
    onTry: note,
  }));

const expectWholeLives = async (codes: readonly string[]): Promise<void> => {
  const { receiver } = cluster;
  const all = (): boolean => codes.every((code) => receiver.eventsOf(code).length >= LIFE.length);
  await receiver.until(all, 'webhooks of every finished operation', 120_000);
  for (const code of codes) expect([code, receiver.eventsOf(code)]).toEqual([code, LIFE]);
  for (const code of codes) {
    const { body } = await apis[0]!.readable(code);
    expect([code, body.status, body.balances.received_value]).toEqual([code, 'settled', 950 * INSTALLMENTS]);
  }
};

const isReady = async (node: { readonly baseUrl: string }): Promise<boolean> =>
  (await fetch(`${node.baseUrl}/health/ready`)).ok;

test('a rolling restart is felt at the process that stops and nowhere else', async () => {
  const writing = startWriters('ROLL');
  const away: { readonly api: ApiClient; readonly from: number; readonly to: number }[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    for (const [i, node] of cluster.nodes.entries()) {
      await writing.untilAcknowledged(20);
      const from = performance.now();
      expect(await node.end('SIGTERM')).toBe(0);
      await writing.untilAcknowledged(5);
      await node.start();
      away.push({ api: apis[i]!, from, to: performance.now() });
    }
  }
  await writing.untilAcknowledged(20);
  await writing.stop();
  const failed = tries.filter(({ status }) => status === undefined || status >= 300);
  const elsewhere = failed.filter(
    ({ api, begun, at }) => !away.some((one) => one.api === api && one.from <= at && begun <= one.to),
  );
  expect(elsewhere.map(({ status }) => status)).toEqual([]);
  expect(failed.filter(({ status }) => status !== undefined && status !== 503)).toEqual([]);
  await expectWholeLives(writing.finished);
  const { arrivals } = cluster.receiver;
  const repetitions = arrivals.length - new Set(arrivals.map(({ eventId }) => eventId)).size;
  process.stdout.write(
    `rolling restart: ${writing.acknowledged} acknowledged writes, ${failed.length} of ${tries.length} tries failed at the ` +
      `process that stopped, ${repetitions} webhooks sent again\n`,
  );
}, 300_000);

const memoryOf = (pid: number): number =>
  Number(/VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))![1]) * 1024;

/** One settlement of each installment, all at once, some at each process. */
const burst = (code: string): Promise<readonly ApiResponse[]> =>
  Promise.all(
    Array.from({ length: BURST }, (_, i) =>
      apis[i % apis.length]!.settle(code, String(i + 1).padStart(3, '0'), 950),
    ),
  );

interface Outage {
  begin(engine: Engine): Promise<void>;
  end(engine: Engine): Promise<void>;
}
const OUTAGES: Readonly<Record<string, Outage>> = {
  dead: { begin: (engine) => engine.kill(), end: (engine) => engine.start() },
  silent: { begin: async (engine) => engine.proxy.blackhole(), end: (engine) => engine.proxy.pass() },
};

/** What is to be seen of an outage from outside. */
interface Felt {
  readonly answers: readonly ApiResponse[];
  readonly answeredMs: number;
  readonly notReadyMs: number;
  /** Per process, in bytes. */
  readonly memoryGrowth: readonly number[];
}

/** @param reported whether the processes notice while a test can wait: commands do not need Kafka, and a request to it may take long */
const feel = async (code: string, reported: boolean): Promise<Felt> => {
  const { nodes } = cluster;
  const begun = performance.now();
  const before = nodes.map(({ pid }) => memoryOf(pid!));
  const answers = await burst(code);
  const answeredMs = performance.now() - begun;
  if (reported)
    for (const node of nodes) await within('not ready', 60_000, async () => !(await isReady(node)));
  const notReadyMs = performance.now() - begun;
  for (const node of nodes) expect((await fetch(`${node.baseUrl}/health/live`)).status).toBe(200);
  await pause(1_000);
  const memoryGrowth = nodes.map(({ pid }, i) => memoryOf(pid!) - before[i]!);
  return { answers, answeredMs, notReadyMs, memoryGrowth };
};

const expectRightAnswers = ({ answers }: Felt): void => {
  const answered = [
    ...answers.map(({ status, headers }) => ({ status, retryAfter: headers.has('retry-after') })),
    ...tries,
  ];
  const right = ({ status, retryAfter }: (typeof answered)[number]): boolean =>
    status !== undefined && (status < 300 || (status === 503 && retryAfter));
  expect(answered.filter((answer) => !right(answer))).toEqual([]);
};

const report = (what: string, felt: Felt, backMs: number): void => {
  const refused = felt.answers.filter(({ status }) => status === 503).length;
  const [answered, notReady, back] = [felt.answeredMs, felt.notReadyMs, backMs].map(Math.round);
  const memory = felt.memoryGrowth.map((bytes) => Math.round(bytes / 1_048_576)).join(' and ');
  process.stdout.write(
    `${what}: ${refused} of ${BURST} answered 503, all after ${answered} ms; not ready after ${notReady} ms, ` +
      `ready ${back} ms after the end; memory grew by ${memory} MiB\n`,
  );
};

describe.each(['eventStore', 'database', 'kafka'] as const)('while the %s is away', (name: EngineName) => {
  test.each(Object.keys(OUTAGES))(
    '(%s), no answer is wrong, and all goes on by itself',
    async (kind) => {
      const [engine, outage] = [engines.engine(name), OUTAGES[kind]!];
      const code = `BURST-${name}-${kind}`;
      expect((await apis[0]!.assign(loanRequest(apis[0]!.fund, code, BURST))).status).toBe(201);
      await apis[0]!.untilStatus(code, 'active');
      const writing = startWriters(`${name}-${kind}`);
      await writing.untilAcknowledged(20);

      await outage.begin(engine);
      const felt = await feel(code, name !== 'kafka' || kind === 'dead').finally(() => outage.end(engine));
      const over = performance.now();
      for (const node of cluster.nodes) await within('ready again', 60_000, () => isReady(node));
      report(`${name} ${kind}`, felt, performance.now() - over);

      const taken = async (): Promise<boolean> => (await burst(code)).every(({ status }) => status === 200);
      await within('the burst is taken', 90_000, taken);
      await writing.untilAcknowledged(20);
      await writing.stop();
      expectRightAnswers(felt);
      expect((await apis[1]!.readable(code)).body.balances.received_value).toBe(950 * BURST);
      await expectWholeLives(writing.finished);
      expect(Math.max(...felt.memoryGrowth)).toBeLessThan(MEMORY_GROWTH_BYTES);
    },
    360_000,
  );
});
