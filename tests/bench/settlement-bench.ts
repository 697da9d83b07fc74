import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { cpus, loadavg } from 'node:os';
import { join } from 'node:path';
import { ServiceProcess, freePort } from '../support/service-process.ts';
import { Arrivals } from './arrivals.ts';
import { followerLag } from './followers.ts';
import { generator } from './generator.ts';
import type { Bodies } from './generator.ts';
import { row, together } from './load.ts';
import type { Load } from './load.ts';
import { measurePostAssignment } from './post-assignment.ts';
import { processorSeconds, threadSeconds } from './processor-time.ts';
import { SettlementWorld } from './settlement-world.ts';
import { pause, startReceiver } from './webhook-bench-world.ts';
import type { Receiver } from './webhook-bench-world.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { trusting } from '../support/trusted-receiver.ts';

/**
 * Settlements and a bare Express echo of the same body in turns: rates, their ratio, processor time by thread in requests of the echo,
 * and how far the followers are behind when the load ends; without and with one webhook subscriber. Then assignments.
 */
const SECONDS = Number(process.env['BENCH_SECONDS'] ?? 4);
const ROUNDS = Number(process.env['BENCH_ROUNDS'] ?? 3);
const CONNECTIONS = Number(process.env['BENCH_CONNECTIONS'] ?? 32);
/** More than any machine that this was run on settles in a second. */
const MOST_PER_SECOND = Number(process.env['BENCH_MOST_PER_SECOND'] ?? 8_000);

const directory = temporaryDirectory();
const dataDir = join(directory, 'data');
const echoPort = await freePort();
const echo = spawn(process.execPath, [new URL('./echo-server.ts', import.meta.url).pathname], {
  env: { ...process.env, PORT: String(echoPort) },
  stdio: ['ignore', 'pipe', 'inherit'],
});
await once(echo.stdout, 'data');

const startService = (receiver: Receiver): Promise<ServiceProcess> => {
  return ServiceProcess.start(dataDir, {
    SANDBOX_STEP: '1ms',
    LOG_LEVEL: 'error',
    ...trusting(receiver),
  });
};

interface Round {
  readonly bare: Load;
  readonly settled: Load;
  /** Processor time of one request of the echo, in seconds. */
  readonly echo: number;
  /** Processor time for one settlement by thread, followers included, in seconds. */
  readonly threads: ReadonlyMap<string, number>;
  readonly lag: Awaited<ReturnType<typeof followerLag>>;
  /** Settlements a second from the first request to the last follower or delivery. */
  readonly endToEnd: number;
}

const oneRound = async (
  service: ServiceProcess,
  world: SettlementWorld,
  everythingArrived: (count: number) => Promise<number>,
): Promise<Round> => {
  const bodies = await world.take(MOST_PER_SECOND * SECONDS);
  const sample: Bodies = {
    baseUrl: `http://127.0.0.1:${echoPort}`,
    path: '/echo',
    headers: { 'content-type': 'application/json' },
    bodies: bodies.bodies.slice(0, 1),
  };
  const echoFrom = processorSeconds(echo.pid!);
  const bare = await generator.run(sample, CONNECTIONS, SECONDS);
  const echoed = (processorSeconds(echo.pid!) - echoFrom) / bare.count;
  const from = threadSeconds(service.pid!);
  const startedAt = performance.now();
  const settled = await generator.run(bodies, CONNECTIONS, SECONDS);
  const answered = performance.now();
  const lag = await followerLag(dataDir);
  const deliveredAt = await everythingArrived(settled.count);
  const followed = answered + Math.max(...lag.map(({ ms }) => ms));
  const seconds = (Math.max(followed, deliveredAt) - startedAt) / 1_000;
  world.giveBack(bodies, settled.used ?? settled.count);
  const threads = new Map(
    [...threadSeconds(service.pid!)].map(([name, to]) => [
      name,
      (to - (from.get(name) ?? 0)) / settled.count,
    ]),
  );
  return { bare, settled, echo: echoed, threads, lag, endToEnd: settled.count / seconds };
};

const mean = (values: readonly number[]): number => values.reduce((sum, one) => sum + one, 0) / values.length;

const print = (rounds: readonly Round[]): void => {
  const [bare, settled] = [together(rounds.map((r) => r.bare)), together(rounds.map((r) => r.settled))];
  console.log(row('bare Express echo', bare));
  console.log(row('POST /installment/settle', settled));
  const each = rounds.map((r) => (r.settled.perSecond / r.bare.perSecond).toFixed(2)).join(', ');
  console.log(`ratio ${(settled.perSecond / bare.perSecond).toFixed(2)}   (${each})`);
  console.log(`end to end ${mean(rounds.map((r) => r.endToEnd)).toFixed(0)}/s`);
  const echoCost = mean(rounds.map((r) => r.echo));
  const names = new Set(rounds.flatMap((r) => [...r.threads.keys()]));
  const costs = [...names]
    .map((name) => [name, mean(rounds.map((r) => r.threads.get(name) ?? 0)) / echoCost] as const)
    .sort(([, a], [, b]) => b - a);
  const total = costs.reduce((sum, [, cost]) => sum + cost, 0);
  console.log(
    `processor time for one settlement, in requests of the echo (${(echoCost * 1e6).toFixed(0)} us each):`,
  );
  for (const [name, cost] of costs) if (cost >= 0.005) console.log(`  ${name.padEnd(16)} ${cost.toFixed(2)}`);
  console.log(`  ${'all'.padEnd(16)} ${total.toFixed(2)}`);
  console.log('followers when the load ends:');
  for (const { follower } of rounds[0]!.lag) {
    const of = rounds.flatMap((r) => r.lag.filter((one) => one.follower === follower));
    const [ms, events] = [Math.max(...of.map((one) => one.ms)), Math.max(...of.map((one) => one.events))];
    console.log(`  ${follower.padEnd(28)} ${events} events, there after ${ms.toFixed(0)} ms`);
  }
  console.log(`(load average ${loadavg()[0]!.toFixed(1)})\n`);
};

const measureRounds = async (
  title: string,
  service: ServiceProcess,
  world: SettlementWorld,
  everythingArrived: (count: number) => Promise<number>,
): Promise<void> => {
  console.log(`-- ${title}\n`);
  const warm = await world.take(MOST_PER_SECOND);
  const { used = 0, count } = await generator.run(warm, CONNECTIONS, 1);
  world.giveBack(warm, used);
  await everythingArrived(count);
  const rounds: Round[] = [];
  for (let round = 0; round < ROUNDS; round++) rounds.push(await oneRound(service, world, everythingArrived));
  print(rounds);
};

const idle = async (service: ServiceProcess): Promise<void> => {
  await pause(2_000);
  const from = processorSeconds(service.pid!);
  await pause(5_000);
  const share = (processorSeconds(service.pid!) - from) / 5;
  console.log(`idle: ${(share * 100).toFixed(2)} % of a core\n`);
};

/** With what follows it: four events, their rows, and the schedule. */
const assignments = async (service: ServiceProcess, world: SettlementWorld, count: number): Promise<void> => {
  const from = threadSeconds(service.pid!);
  const assigned = await world.assign(count, SECONDS);
  await pause(2_000);
  console.log(row(`POST /loan, ${count} installments`, assigned));
  const each = [...threadSeconds(service.pid!)]
    .map(([name, to]) => [name, ((to - (from.get(name) ?? 0)) / assigned.count) * 1_000] as const)
    .sort(([, a], [, b]) => b - a)
    .filter(([, ms]) => ms >= 0.05);
  const total = each.reduce((sum, [, ms]) => sum + ms, 0);
  const parts = each.map(([name, ms]) => `${name} ${ms.toFixed(2)}`).join(', ');
  console.log(`  processor time of one: ${total.toFixed(2)} ms (${parts})`);
};

const receiver = await startReceiver();
const service = await startService(receiver);
try {
  console.log(
    `node ${process.version}, ${cpus().length} cores, ${generator.name}, ${CONNECTIONS} connections, ${ROUNDS} rounds of ${SECONDS} s in turns, at most ${MOST_PER_SECOND} settlements/s\n`,
  );
  const world = await SettlementWorld.open(service, randomUUID());
  await measureRounds('without a subscriber', service, world, () => Promise.resolve(0));
  await idle(service);
  await world.subscribe(`${receiver.origin}/arrivals`);
  const arrivals = new Arrivals(receiver);
  await measureRounds('with one webhook subscriber', service, world, (count) => arrivals.until(count));
  await world.unsubscribe();
  for (const count of [12, 480]) await assignments(service, world, count);
  console.log('\none request after another:');
  const { api, authorization, assignment } = world;
  await measurePostAssignment({ baseUrl: service.baseUrl, api, authorization, assignment });
} finally {
  echo.kill();
  receiver.stop();
  await service.end('SIGTERM');
}
