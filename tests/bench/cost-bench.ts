import { randomUUID } from 'node:crypto';
import { loadavg } from 'node:os';
import { join } from 'node:path';
import { ServiceProcess } from '../support/service-process.ts';
import { Arrivals } from './arrivals.ts';
import { Echo, LONGEST_SECONDS, oneRound, print, send } from './cost-round.ts';
import type { Round } from './cost-round.ts';
import { followerLag } from './followers.ts';
import type { Request } from './load.ts';
import { SettlementWorld } from './settlement-world.ts';
import { pause, startReceiver } from './webhook-bench-world.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { trusting } from '../support/trusted-receiver.ts';

/**
 * What one settlement and one assignment cost, in counts that other work on the machine hardly moves: processor time by thread in
 * requests of a bare Express echo, measured in turns with it; bytes and calls that the process wrote (proc_pid_io(5): to files and to
 * sockets); pages appended to the logs of its databases. Every round sends as many requests.
 */
const SETTLEMENTS = Number(process.env['BENCH_SETTLEMENTS'] ?? 10_000);
const ROUNDS = Number(process.env['BENCH_ROUNDS'] ?? 3);
const ASSIGNMENTS = [
  [12, 800],
  [480, 200],
] as const;
const WARM_UP = 2_000;

const directory = temporaryDirectory();
const dataDir = join(directory, 'data');
const echo = await Echo.start();

/** Until everything that follows the log has come to its end. */
const followed = (): Promise<unknown> => followerLag(dataDir);

const settlements = async (
  title: string,
  {
    service,
    world,
    arrived,
  }: { service: ServiceProcess; world: SettlementWorld; arrived: (n: number) => Promise<unknown> },
): Promise<void> => {
  const requests = async (count: number): Promise<readonly Request[]> => {
    const { path, headers, bodies } = await world.take(count);
    return bodies.map((body) => ({ path, headers, body }));
  };
  const settled = async (count: number): Promise<void> => {
    await followed();
    await arrived(count);
  };
  await send(service.baseUrl, await requests(WARM_UP), 200);
  await settled(WARM_UP);
  const rounds: Round[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const taken = await requests(SETTLEMENTS);
    const one = await echo.cost(String(taken[0]!.body), SETTLEMENTS);
    const settledAll = (): Promise<void> => settled(SETTLEMENTS);
    rounds.push(await oneRound(taken, { service, dataDir, status: 200, one, settled: settledAll }));
  }
  print(title, rounds);
};

/** With everything that follows it: approval, signature, disbursement, and their rows. */
const assignments = async (service: ServiceProcess, world: SettlementWorld): Promise<void> => {
  for (const [installments, count] of ASSIGNMENTS) {
    const one = await echo.cost('{"originator_proposal_code":"OP-1","settled_value":950.00}', SETTLEMENTS);
    const requests = Array.from({ length: count }, (_, i) =>
      world.assignment(`COST-${installments}-${i}`, installments),
    );
    const settled = async (): Promise<void> => {
      await world.api.untilStatus(`COST-${installments}-${count - 1}`, 'active', LONGEST_SECONDS * 1_000);
      await followed();
    };
    print(`POST /loan, ${installments} installments, with its cession`, [
      await oneRound(requests, { service, dataDir, status: 201, one, settled }),
    ]);
  }
};

const receiver = await startReceiver();
const service = await ServiceProcess.start(dataDir, {
  SANDBOX_STEP: '1ms',
  LOG_LEVEL: 'error',
  ...trusting(receiver),
});
try {
  const world = await SettlementWorld.open(service, randomUUID());
  console.log(`node ${process.version}, ${ROUNDS} rounds of ${SETTLEMENTS}, each after as many echoes\n`);
  const nothing = (): Promise<void> => Promise.resolve();
  await settlements('one settlement', { service, world, arrived: nothing });
  await world.subscribe(`${receiver.origin}/arrivals`);
  const arrivals = new Arrivals(receiver);
  const arrived = (count: number): Promise<number> => arrivals.until(count);
  await settlements('one settlement with a subscriber', { service, world, arrived });
  await world.unsubscribe();
  await pause(1_000);
  await assignments(service, world);
  console.log(`(load average ${loadavg()[0]!.toFixed(1)})`);
} finally {
  echo.stop();
  receiver.stop();
  await service.end('SIGTERM');
}
