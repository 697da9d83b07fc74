import { randomUUID } from 'node:crypto';
import { loadavg } from 'node:os';
import { join } from 'node:path';
import { settlement } from '../support/api-client.ts';
import { ServiceProcess } from '../support/service-process.ts';
import { Echo, LONGEST_SECONDS, echoesOf, oneRound, print, residentMiB, send } from './cost-round.ts';
import type { Round } from './cost-round.ts';
import { followerLag } from './followers.ts';
import type { Request } from './load.ts';
import { SettlementWorld } from './settlement-world.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

/**
 * What a settlement costs among many operations, and what the process holds then: `npm run bench -- portfolio 6000` for fewer. Cold is
 * the first settlement of an operation since the service was started, warm the next one of the same operation; both in turns.
 */
const OPERATIONS = Number(process.argv[2] ?? process.env['BENCH_OPERATIONS'] ?? 60_000);
const INSTALLMENTS = Number(process.env['BENCH_INSTALLMENTS'] ?? 24);
const ROUNDS = Number(process.env['BENCH_ROUNDS'] ?? 3);
/** Settlements of any operation, one after another over the portfolio, after which memory is read again. */
const LOAD = Number(process.env['BENCH_LOAD'] ?? 2 * OPERATIONS);
const MOST_IN_ROUND = 5_000;
const AT_ONCE = 5_000;
/** Of the last so many operations one may still be on its way when the others are active. */
const CESSIONS_UNDER_WAY = 200;

const directory = temporaryDirectory();
const dataDir = join(directory, 'data');
const echo = await Echo.start();
const service = await ServiceProcess.start(dataDir, { SANDBOX_STEP: '1ms', LOG_LEVEL: 'error' });

const codeOf = (number: number): string => `P-${number}`;

const fill = async (world: SettlementWorld): Promise<void> => {
  for (let from = 0; from < OPERATIONS; from += AT_ONCE) {
    const count = Math.min(AT_ONCE, OPERATIONS - from);
    const requests = Array.from({ length: count }, (_, i) =>
      world.assignment(codeOf(from + i), INSTALLMENTS),
    );
    await send(service.baseUrl, requests, 201);
    for (let i = Math.max(0, count - CESSIONS_UNDER_WAY); i < count; i++)
      await world.api.untilStatus(codeOf(from + i), 'active', LONGEST_SECONDS * 1_000);
  }
};

const showMemory = (when: string): void => {
  const { now, most } = residentMiB(service.pid!);
  console.log(`   resident ${now.toFixed(0)} MiB, at most ${most.toFixed(0)} MiB, ${when}\n`);
};

const settlements = ({ authorization }: SettlementWorld, from: number, count: number, which: number) => {
  const headers = { authorization, 'content-type': 'application/json' };
  return Array.from({ length: count }, (_, i): Request => {
    const installment = String(which + Math.floor((from + i) / OPERATIONS)).padStart(3, '0');
    const body = JSON.stringify(settlement(codeOf((from + i) % OPERATIONS), installment, 950));
    return { path: '/installment/settle', headers, body };
  });
};

const inTurns = async (world: SettlementWorld): Promise<void> => {
  const count = Math.min(MOST_IN_ROUND, Math.floor(OPERATIONS / (ROUNDS + 1)));
  const settled = (): Promise<unknown> => followerLag(dataDir);
  const measured = async (requests: readonly Request[]): Promise<Round> => {
    const one = await echo.cost(String(requests[0]!.body), count);
    return oneRound(requests, { service, dataDir, status: 200, one, settled });
  };
  for (const which of [1, 2])
    await send(service.baseUrl, settlements(world, ROUNDS * count, count, which), 200);
  const [cold, warm]: [Round[], Round[]] = [[], []];
  for (let round = 0; round < ROUNDS; round++) {
    cold.push(await measured(settlements(world, round * count, count, 1)));
    warm.push(await measured(settlements(world, round * count, count, 2)));
  }
  print(`one settlement of a cold operation, ${ROUNDS} rounds of ${count}`, cold);
  print('one settlement of a warm operation', warm);
  console.log(`   cold is ${(echoesOf(cold) / echoesOf(warm)).toFixed(2)} of warm, in echoes`);
};

/** Each operation in turn, so that none is met again before all others were. */
const underLoad = async (world: SettlementWorld): Promise<void> => {
  let [perSecond, p99, done] = [0, 0, 0];
  for (let from = 0; from < LOAD; from += AT_ONCE) {
    const count = Math.min(AT_ONCE, LOAD - from);
    const one = await send(service.baseUrl, settlements(world, from, count, 3), 200);
    [perSecond, p99, done] = [perSecond + one.perSecond * count, Math.max(p99, one.p99), done + count];
  }
  await followerLag(dataDir);
  console.log(`-- ${done} settlements over all operations`);
  console.log(`   ${(perSecond / done).toFixed(0)}/s, p99 ${p99.toFixed(1)} ms at most`);
};

try {
  const world = await SettlementWorld.open(service, randomUUID());
  console.log(`node ${process.version}, ${OPERATIONS} operations of ${INSTALLMENTS} installments\n`);
  await fill(world);
  showMemory('after all were assigned');
  await service.end('SIGTERM');
  await service.start();
  showMemory('after a new start');
  await inTurns(world);
  showMemory('after the rounds');
  await underLoad(world);
  showMemory('after the load');
  console.log(`(load average ${loadavg()[0]!.toFixed(1)})`);
} finally {
  echo.stop();
  await service.end('SIGTERM');
}
