import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { objectStreamBomb, xrefBomb } from '../infrastructure/documents/support/sample-pdfs.ts';
import { loanRequest } from '../support/api-client.ts';
import { Neighbour } from '../support/neighbour.ts';
import { ServiceProcess } from '../support/service-process.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

/* Files of some kilobytes that take seconds to read, sent by one application as fast as its limits allow. */

const ATTACKERS = 6;
const FILES = 20;
/** Behind the attacker's files it would be the time of all of them; the machine that runs this is busy with the attack itself. */
const LATEST_MS = 10_000;

let service: ServiceProcess;
beforeAll(async () => {
  const masterKey = randomBytes(32).toString('base64');
  service = await ServiceProcess.start(temporaryDirectory(), {
    ENVIRONMENT: 'production',
    MASTER_KEY: masterKey,
  });
}, 300_000);
afterAll(() => service?.end('SIGTERM'));

test('one application’s costly files are refused, and the neighbour’s honest ones are stored as if they were not there', async () => {
  const [attacker, honest] = [await service.client(), await service.client()];
  const neighbour = await Neighbour.of(service);
  expect((await honest.assign(loanRequest(honest.fund, 'WARM'))).status).toBe(201);
  const startedAt = performance.now();
  const costly = [objectStreamBomb(100), xrefBomb(40)];
  const refusals: string[] = [];
  let sent = 0;
  // Not every refusal is one: on a quick machine pdf.js may come to the end of such a file, which is none that can be read.
  let tooCostly = 0;
  const attack = async (): Promise<void> => {
    while (sent < FILES) {
      const n = sent++;
      const { status, body } = await attacker.assignOnce(loanRequest(attacker.fund, `C-${n}`), costly[n % 2]);
      refusals.push(`${status} ${body.error_code}`);
      if (/too much time or memory/.test(body.message)) tooCostly += 1;
    }
  };
  const took: number[] = [];
  const disturbance = await neighbour.livesThrough(async () => {
    let attacked = false;
    const attacks = Promise.all(Array.from({ length: ATTACKERS }, attack)).then(() => (attacked = true));
    for (let n = 0; !attacked || n < 5; n++) {
      const postedAt = performance.now();
      const { status } = await honest.assignOnce(loanRequest(honest.fund, `H-${n}`));
      took.push(performance.now() - postedAt);
      expect(status).toBe(201);
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    await attacks;
  });
  const count = (refusal: string): number => refusals.filter((one) => one === refusal).length;
  console.log(
    JSON.stringify({
      slowest: Math.max(...took),
      posts: took.length,
      disturbance,
      refusals: [...new Set(refusals)],
    }),
  );
  await neighbour.leave();
  // Five at once, and one for each minute that it takes.
  const most = 5 + Math.ceil((performance.now() - startedAt) / 60_000);
  expect(tooCostly).toBeGreaterThan(0);
  expect(tooCostly).toBeLessThanOrEqual(most);
  expect(count('400 invalid_file') + count('429 rate_limited')).toBe(FILES);
  expect(Math.max(...took)).toBeLessThan(LATEST_MS);
}, 300_000);
