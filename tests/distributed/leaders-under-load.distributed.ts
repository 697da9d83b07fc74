import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { ApiClient, loanRequest } from '../support/api-client.ts';
import { StandInCluster } from '../support/eventstoredb/cluster.ts';
import { EventStoreDbStandIn } from '../support/eventstoredb/stand-in.ts';
import { ServiceProcess } from '../support/service-process.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { until } from '../support/within.ts';

/** Times that a leader is lost, in each of three ways in turn. */
const LOSSES = Number(process.env['LEADER_LOSSES'] ?? 6);
const CALLERS = 12;
const INSTALLMENTS = 240;
const ELECTION_MS = 1_500;
const SETTLED_BETWEEN = 60;

let directory: string;
let service: ServiceProcess | undefined;
beforeEach(async () => {
  directory = temporaryDirectory();
});
afterEach(async () => {
  await service?.end('SIGKILL');
  service = undefined;
});

const start = async (url: string): Promise<ApiClient> => {
  const environment = { EVENTSTORE_URL: url, SANDBOX_STEP: '1ms', LOG_LEVEL: 'error' };
  service = await ServiceProcess.start(directory, environment);
  return new ApiClient(service.baseUrl, await service.createClient(randomUUID()));
};

interface Load {
  readonly settled: string[];
  readonly refused: string[];
  slowestMs: number;
  stopping: boolean;
}

/** One caller after another settles its operation, installment by installment, and sends nothing a second time. */
const settleOn = async (api: ApiClient, code: string, load: Load): Promise<void> => {
  for (let number = 1; number <= INSTALLMENTS && !load.stopping; number++) {
    const installment = String(number).padStart(3, '0');
    const begun = performance.now();
    const { status, body } = await api.settle(code, installment, 950);
    load.slowestMs = Math.max(load.slowestMs, performance.now() - begun);
    if (status === 200) load.settled.push(`${code}-${installment}`);
    else load.refused.push(`${code}-${installment}: ${status} ${JSON.stringify(body)}`);
  }
};

const WAYS: readonly (readonly [
  name: string,
  lose: (cluster: StandInCluster, leader: number) => Promise<void> | void,
  back: (cluster: StandInCluster, node: number) => Promise<void>,
])[] = [
  ['killed', (cluster, leader) => cluster.kill(leader), (cluster, node) => cluster.restart(node)],
  ['frozen', (cluster, leader) => cluster.freeze(leader), (cluster, node) => cluster.thaw(node)],
  ['stopped', (cluster, leader) => cluster.stop(leader), (cluster, node) => cluster.restart(node)],
];

test(
  `no caller of the API sees any of ${LOSSES} changes of leader, and nothing is lost or doubled`,
  async () => {
    const cluster = await StandInCluster.start({ electionMs: ELECTION_MS });
    try {
      const api = await start(cluster.url);
      const codes = Array.from({ length: CALLERS }, (_, i) => `C-${i}`);
      for (const code of codes)
        expect((await api.assign(loanRequest(api.fund, code, INSTALLMENTS))).status).toBe(201);
      for (const code of codes) await api.untilStatus(code, 'active');

      const load: Load = { settled: [], refused: [], slowestMs: 0, stopping: false };
      const calling = codes.map((code) => settleOn(api, code, load));
      for (let loss = 0; loss < LOSSES; loss++) {
        const before = load.settled.length;
        await until(() => load.settled.length >= before + SETTLED_BETWEEN, 'callers to be served', 60_000);
        const [, lose, back] = WAYS[loss % WAYS.length]!;
        const leader = cluster.leader!;
        const losing = lose(cluster, leader);
        const next = (): boolean => cluster.leader !== undefined && cluster.leader !== leader;
        await until(next, 'another leader', 60_000);
        await losing;
        const after = load.settled.length;
        await until(() => load.settled.length > after + CALLERS, 'callers to be served again', 60_000);
        await back(cluster, leader);
      }
      load.stopping = true;
      await Promise.all(calling);

      expect(load.refused).toEqual([]);
      const keys = cluster.log.events
        .filter(({ type }) => type === 'installment.settled.v1')
        .map(({ metadata }) => {
          const { idempotency } = JSON.parse(metadata.toString()) as { idempotency: { key: string } };
          return idempotency.key;
        });
      expect(keys.toSorted()).toEqual(load.settled.toSorted());
      expect(await service!.receivables('audit', 'verify')).toContain('"differences":0');
      process.stdout.write(
        `${LOSSES} leaders lost, ${load.settled.length} settlements, the slowest ${Math.round(load.slowestMs)} ms\n`,
      );
    } finally {
      await service?.end('SIGKILL');
      await cluster.close();
    }
  },
  120_000 + LOSSES * 120_000,
);

test('without the right to follow the log, status and doctor say so and name the way out', async () => {
  const server = await EventStoreDbStandIn.start();
  try {
    await start(server.url);
    server.faults.mayReadAll = false;
    const status = JSON.parse(await service!.receivables('status', '-o', 'json')) as {
      readonly lag: readonly { readonly problem?: string }[];
    };
    expect(status.lag.length).toBeGreaterThan(0);
    for (const { problem } of status.lag) expect(problem).toContain('may not read $all');
    const refusal = service!.receivables('doctor');
    await expect(refusal).rejects.toMatchObject({
      code: 1,
      stdout: expect.stringMatching(
        /"event_store_rights","state":"failed","detail":"read \$all: .*docs\/eventstoredb\.md/,
      ),
    });
  } finally {
    await service?.end('SIGKILL');
    await server.kill();
  }
}, 300_000);
