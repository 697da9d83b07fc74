import { once } from 'node:events';
import { connect } from 'node:net';
import type { Socket } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { loanRequest } from '../support/api-client.ts';
import type { ApiClient } from '../support/api-client.ts';
import { Neighbour } from '../support/neighbour.ts';
import { ServiceProcess } from '../support/service-process.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

const LISTED = 200;
const CONNECTIONS = 20;
const REQUESTS = 1_200;

let service: ServiceProcess;
let reader: ApiClient;
let neighbour: Neighbour;

beforeAll(async () => {
  service = await ServiceProcess.start(temporaryDirectory(), { SANDBOX_STEP: '1ms' });
  reader = await service.client();
  for (let n = 0; n < LISTED; n++) {
    const { status } = await reader.assign(loanRequest(reader.fund, `L-${n}`, n === 0 ? 480 : 12));
    expect(status).toBe(201);
  }
  for (let n = 0; n < LISTED; n++) await reader.untilStatus(`L-${n}`, 'active');
  neighbour = await Neighbour.of(service);
}, 300_000);
afterAll(async () => {
  await neighbour?.leave();
  await service?.end('SIGKILL');
});

/** All requests of one connection, sent at once; answers their statuses. */
const sentAhead = async (path: string, count: number): Promise<readonly string[]> => {
  const socket = connect(Number(new URL(service.baseUrl).port), '127.0.0.1');
  const head = `GET ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${await reader.token()}\r\n`;
  socket.write(`${head}\r\n`.repeat(count - 1) + `${head}Connection: close\r\n\r\n`);
  let text = '';
  socket.on('data', (chunk) => (text += chunk.toString('latin1')));
  await once(socket, 'close');
  return [...text.matchAll(/HTTP\/1\.1 (\d+) /g)].map(([, status]) => status!);
};

describe.each([
  ['lists', `/loan?limit=${LISTED}`],
  ['operations of 480 installments', '/loan/L-0'],
])('twelve hundred %s, sent ahead over twenty connections', (_what, path) => {
  test('are answered, in bounded memory, and a neighbour does not notice', async () => {
    const before = service.residentMiB;
    let most = before;
    const watch = setInterval(() => (most = Math.max(most, service.residentMiB)), 20);
    const statuses: string[] = [];
    await neighbour.livesThrough(async () => {
      const senders = Array.from({ length: CONNECTIONS }, () => sentAhead(path, REQUESTS / CONNECTIONS));
      statuses.push(...(await Promise.all(senders)).flat());
    });
    clearInterval(watch);
    expect(statuses).toHaveLength(REQUESTS);
    expect(new Set(statuses)).toEqual(new Set(['200']));
    expect(most - before).toBeLessThan(200);
  }, 300_000);
});

test('clients that never read their answers hold the places of their application for half a minute at most', async () => {
  const token = await reader.token();
  const silent: readonly Socket[] = Array.from({ length: 8 }, () => {
    const socket = connect(Number(new URL(service.baseUrl).port), '127.0.0.1');
    const request = `GET /loan?limit=${LISTED} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token}\r\n\r\n`;
    socket.on('error', () => undefined).pause();
    socket.write(request.repeat(400));
    return socket;
  });
  const statuses: number[] = [];
  const { attacked } = await neighbour.during(async () => {
    // Each of these waits for its turn for ten seconds at most; the first ones may come before the others are stuck.
    const isOver = (): boolean => statuses.includes(503) && statuses.at(-1) === 200;
    for (const deadline = Date.now() + 100_000; !isOver() && Date.now() < deadline;) {
      statuses.push((await reader.call('GET', `/loan?limit=${LISTED}`)).status);
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  });
  expect([...new Set(statuses)].sort()).toEqual([200, 503]);
  expect(statuses.at(-1)).toBe(200);
  expect(attacked.failures).toEqual([]);
  for (const socket of silent) socket.destroy();
}, 200_000);
