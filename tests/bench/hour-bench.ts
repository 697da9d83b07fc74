import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { settlement } from '../support/api-client.ts';
import { ServiceProcess } from '../support/service-process.ts';
import { residentMiB, send } from './cost-round.ts';
import { SettlementWorld } from './settlement-world.ts';
import { pause } from './webhook-bench-world.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

/**
 * What a process holds while operations come in at a steady pace for an hour, each settled whole a while later: the number of
 * operations and of keys grows all the time, what is remembered must not. `npm run bench -- hour 10` for ten minutes.
 */
const MINUTES = Number(process.argv[2] ?? 60);
const A_SECOND = Number(process.env['BENCH_A_SECOND'] ?? 16);
const INSTALLMENTS = 24;
/** Time for a cession, in seconds of the pace. */
const LATER = 30;
const SHOWN_EVERY = 300;

const dataDir = join(temporaryDirectory(), 'data');
const service = await ServiceProcess.start(dataDir, { SANDBOX_STEP: '1ms', LOG_LEVEL: 'error' });
const codesOf = (second: number): string[] => Array.from({ length: A_SECOND }, (_, i) => `H-${second}-${i}`);

try {
  const world = await SettlementWorld.open(service, randomUUID());
  let authorization = world.authorization;
  const settlements = (second: number) =>
    codesOf(second).flatMap((code) =>
      Array.from({ length: INSTALLMENTS }, (_, i) => ({
        path: '/installment/settle',
        headers: { authorization, 'content-type': 'application/json' },
        body: JSON.stringify(settlement(code, String(i + 1).padStart(3, '0'), 950)),
      })),
    );
  const start = performance.now();
  let settled = 0;
  for (let second = 0; second < MINUTES * 60; second++) {
    const assigned = codesOf(second).map((code) => {
      const request = world.assignment(code, INSTALLMENTS);
      return { ...request, headers: { ...request.headers, authorization } };
    });
    await send(service.baseUrl, assigned, 201);
    if (second >= LATER) settled += (await send(service.baseUrl, settlements(second - LATER), 200)).count;
    if ((second + 1) % SHOWN_EVERY === 0) {
      const { now, most } = residentMiB(service.pid!);
      console.log(
        `${((performance.now() - start) / 60_000).toFixed(0)} min: ${(second + 1) * A_SECOND} operations, ${settled} settlements, resident ${now.toFixed(0)} MiB, at most ${most.toFixed(0)} MiB`,
      );
      world.api.forgetToken();
      authorization = `Bearer ${await world.api.token()}`;
    }
    await pause(Math.max(0, (second + 1) * 1_000 - (performance.now() - start)));
  }
} finally {
  await service.end('SIGTERM');
}
