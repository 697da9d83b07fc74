import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { loanRequest, settlement } from '../support/api-client.ts';
import type { ApiClient } from '../support/api-client.ts';
import { Neighbour } from '../support/neighbour.ts';
import { ServiceProcess } from '../support/service-process.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

const OPERATIONS = 40;
const INSTALLMENTS = 250;
const BATCHES = 20;
const LINES = 500;

let service: ServiceProcess;
let api: ApiClient;
let neighbour: Neighbour;

beforeAll(async () => {
  service = await ServiceProcess.start(temporaryDirectory(), { SANDBOX_STEP: '1ms' });
  api = await service.client();
  for (let n = 0; n < OPERATIONS; n++) await api.assign(loanRequest(api.fund, `B-${n}`, INSTALLMENTS));
  for (let n = 0; n < OPERATIONS; n++) await api.untilStatus(`B-${n}`, 'active');
  neighbour = await Neighbour.of(service);
}, 300_000);
afterAll(async () => {
  await neighbour?.leave();
  await service?.end('SIGKILL');
});

/** The settlements that are the number-th of all, each operation in the order of its installments. */
const paying = (number: number): object => {
  const part = String(Math.floor(number / OPERATIONS) + 1).padStart(3, '0');
  return settlement(`B-${number % OPERATIONS}`, part, 950);
};
/** As many names that look like a known one as a line of a full batch may have. */
const misspelt = (): object =>
  Object.fromEntries(Array.from({ length: 38 }, (_, i) => [`settled_val${String.fromCharCode(97 + i)}e`, 1]));

describe.each([
  ['settlements', paying, 200],
  ['the same settlements, as replays', paying, 200],
  ['settlements of one operation that is not there', () => settlement('NOWHERE', '001', 950), 404],
  ['lines of misspelt fields', misspelt, 400],
])('twenty batches of five hundred %s at once', (_what, line, status) => {
  test('are all answered, in bounded memory, and a neighbour does not notice', async () => {
    const before = service.residentMiB;
    let most = before;
    const watch = setInterval(() => (most = Math.max(most, service.residentMiB)), 20);
    const statuses: number[] = [];
    const send = async (batch: number): Promise<void> => {
      const settlements = Array.from({ length: LINES }, (_, i) => line(batch * LINES + i));
      const { body } = await api.call('POST', '/installment/settle/batch', { settlements });
      statuses.push(...body.results.map((one: { status: number }) => one.status));
    };
    const all = () => Promise.all(Array.from({ length: BATCHES }, (_, batch) => send(batch)));
    await neighbour.livesThrough(all).finally(() => clearInterval(watch));
    expect(statuses).toHaveLength(BATCHES * LINES);
    expect(new Set(statuses)).toEqual(new Set([status]));
    expect(most - before).toBeLessThan(200);
  }, 300_000);
});
