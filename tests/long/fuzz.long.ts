import { Agent, request } from 'node:http';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { ApiClient, loanRequest } from '../support/api-client.ts';
import { ServedDescription } from '../support/http-description.ts';
import { ServiceProcess } from '../support/service-process.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { Random } from '../support/random.ts';
import { RequestMaker } from './fuzz/requests.ts';
import type { FuzzRequest, Known } from './fuzz/requests.ts';

const REQUESTS = Number(process.env['FUZZ_REQUESTS'] ?? 20_000);
/** The same requests on every run; FUZZ_SEED asks for others. */
const SEED = Number(process.env['FUZZ_SEED'] ?? 286_957);
const AT_ONCE = 8;
const HANG_MS = 15_000;
const FUND = '6f1c2f0e-8f57-4f0e-9d5e-3a8a0f6f2b11';

interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

const agent = new Agent({ keepAlive: true, maxSockets: AT_ONCE });
let directory: Awaited<ReturnType<typeof temporaryDirectory>>;
let service: ServiceProcess;
let description: ServedDescription;
let known: Known;

beforeAll(async () => {
  directory = await temporaryDirectory();
  service = await ServiceProcess.start(directory.path, { SANDBOX_STEP: '0ms', TRUST_PROXY: '1' });
  const served = await fetch(`${service.baseUrl}/openapi.json`);
  description = new ServedDescription((await served.json()) as Record<string, unknown>);
  const api = new ApiClient(service.baseUrl, await service.createClient(FUND));
  const codes = Array.from({ length: 40 }, (_, i) => `KNOWN-${i}`);
  for (const code of codes) await api.assign(loanRequest(FUND, code, 3));
  const webhook = await api.call('POST', '/webhook', { url: 'https://hooks.example.com/x', events: ['*'] });
  const id = String(webhook.body.webhook_id);
  const { body } = await api.call('GET', `/webhook/${id}/deliveries`);
  const events = body.data.map((delivery: { event_id: string }) => delivery.event_id);
  known = {
    token: await api.token(),
    fund: FUND,
    codes,
    webhooks: [id, 'unknown'],
    events: [...events, 'unknown'],
  };
}, 120_000);
afterAll(async () => {
  agent.destroy();
  await service?.end('SIGTERM');
  await directory?.remove();
});

/** Each request comes from an address of its own, so that what has no token is looked at rather than turned away. */
const send = ({ method, path, headers, body }: FuzzRequest, address: string): Promise<Answer> =>
  new Promise((resolve, reject) => {
    const { port } = new URL(service.baseUrl);
    const length = body === undefined ? {} : { 'content-length': String(body.length) };
    const sent = { 'x-forwarded-for': address, ...headers, ...length };
    const outgoing = request({
      port,
      host: '127.0.0.1',
      method,
      path,
      headers: sent,
      agent,
      timeout: HANG_MS,
    });
    outgoing.on('timeout', () => outgoing.destroy(new Error('no answer in time')));
    outgoing.on('error', reject);
    outgoing.on('response', (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
      response.on('error', reject);
      response.on('end', () => {
        const received = new Headers();
        for (const [name, value] of Object.entries(response.headers)) received.set(name, String(value));
        resolve({ status: response.statusCode ?? 0, headers: received, text });
      });
    });
    outgoing.end(body);
  });

const findingsOf = (made: FuzzRequest, answer: Answer): readonly string[] => {
  const { status, text } = answer;
  if (status >= 500) return [`status ${status}`];
  const path = made.path.split('?', 1)[0] ?? '';
  // A path that cannot be decoded belongs to no operation.
  if (status === 400 && !isDecodable(path)) return [];
  if (made.method === 'OPTIONS') return [204, 404].includes(status) ? [] : [`status ${status}`];
  return description.discrepancies({ method: made.method, path, ...answer, text });
};

const isDecodable = (path: string): boolean => {
  try {
    decodeURIComponent(path);
    return true;
  } catch {
    return false;
  }
};

const shown = ({ method, path, headers, body }: FuzzRequest): string =>
  `${method} ${path.slice(0, 200)} ${JSON.stringify({ ...headers, authorization: headers['authorization'] && 'Bearer ...' })} ` +
  `${body?.toString('latin1').slice(0, 600) ?? ''}`;

describe(`${REQUESTS} requests made from the description, most of them with something wrong (seed ${SEED})`, () => {
  test('every answer is described, none is a failure of the service', async () => {
    const maker = new RequestMaker(description.document, known, new Random(SEED));
    const findings: string[] = [];
    const statuses = new Map<number, number>();
    let made = 0;
    const work = async (): Promise<void> => {
      while (made < REQUESTS && findings.length < 20) {
        const index = (made += 1);
        const one = maker.next();
        const address = `10.${(index >> 16) & 255}.${(index >> 8) & 255}.${index & 255}`;
        try {
          const answer = await send(one, address);
          statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1);
          const found = findingsOf(one, answer);
          if (found.length > 0)
            findings.push(
              `${found.join('; ')}\n  ${shown(one)}\n  ${answer.status} ${answer.text.slice(0, 300)}`,
            );
        } catch (error) {
          findings.push(`${String(error)}\n  ${shown(one)}`);
        }
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, work));
    process.stdout.write(`${JSON.stringify(Object.fromEntries([...statuses].sort(([a], [b]) => a - b)))}\n`);
    expect(findings).toEqual([]);
    // Not everything bounces at the door: the deeper refusals and successes are met, too.
    for (const status of [200, 201, 400, 401, 404, 405, 409, 422])
      expect([...statuses.keys()]).toContain(status);
    expect((await fetch(`${service.baseUrl}/health/ready`)).status).toBe(200);
  });
});
