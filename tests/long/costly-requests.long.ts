import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { ApiClient } from '../support/api-client.ts';
import { Neighbour } from '../support/neighbour.ts';
import { ServiceProcess } from '../support/service-process.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

let service: ServiceProcess;
let attacker: ApiClient;
let token: string;
let neighbour: Neighbour;

beforeAll(async () => {
  service = await ServiceProcess.start(temporaryDirectory());
  attacker = await service.client();
  token = await attacker.token();
  neighbour = await Neighbour.of(service);
}, 300_000);
afterAll(async () => {
  await neighbour?.leave();
  await service?.end('SIGKILL');
});

const json = (method: string, path: string, body: string): Promise<number> =>
  answered(path, {
    method,
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body,
  });
const answered = async (path: string, init: RequestInit = {}): Promise<number> => {
  const response = await fetch(service.baseUrl + path, init);
  await response.arrayBuffer();
  return response.status;
};
const many = (size: number, one: (index: number) => string): string =>
  Array.from({ length: size }, (_, index) => one(index)).join(',');

/** One request each, sent again and again, eight at a time, until the caller's own limit says stop. */
const attacks: Readonly<Record<string, () => Promise<number>>> = {
  'a header of spaces': () =>
    answered('/openapi.json', { headers: { 'accept-encoding': `gzip${' '.repeat(15_600)}x` } }),
  'thousands of names that no field has': () =>
    json('PATCH', '/loan/renegotiate', `{${many(20_000, (index) => `"k${index}":1`)}}`),
  'thousands of amounts with too many decimals': () =>
    json('PATCH', '/loan/renegotiate', `{"new_proposal":{"installments":[${many(40_000, () => '1.005')}]}}`),
  'thousands of installments that hold nothing': () =>
    json('PATCH', '/loan/renegotiate', `{"new_proposal":{"installments":[${many(80_000, () => '{}')}]}}`),
  'as many levels as fit': () => json('PATCH', '/loan/renegotiate', '['.repeat(262_000)),
  'a webhook with thousands of events': () =>
    json('POST', '/webhook', `{"url":"https://example.com","events":[${many(10_000, () => '"x"')}]}`),
  'wrong client secrets': () =>
    answered('/token', {
      method: 'POST',
      body: new URLSearchParams({
        grant_type: 'client_credentials',
        client_id: 'client_of_nobody',
        client_secret: randomUUID(),
      }),
    }),
};

test.each(Object.entries(attacks))(
  'a neighbour does not notice %s, sent as often as the limits allow and beyond',
  async (_, request) => {
    const statuses: number[] = [];
    await neighbour.livesThrough(async () => {
      const sender = async (): Promise<void> => {
        for (let sent = 0; sent < 20; sent++) statuses.push(await request());
      };
      await Promise.all(Array.from({ length: 8 }, sender));
    });
    expect(statuses).toHaveLength(160);
    expect(statuses.filter((status) => status >= 500)).toEqual([]);
  },
  300_000,
);
