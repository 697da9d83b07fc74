import { Agent, request } from 'node:http';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { loanRequest } from '../support/api-client.ts';
import { ServedDescription } from '../support/http-description.ts';
import { ServiceProcess } from '../support/service-process.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { Random } from '../support/random.ts';
import { MOST_MS, MOST_TRIES, slowness, mainThreadMs } from '../support/main-thread-cost.ts';
import { costlyRequests } from './fuzz/costly.ts';
import { RequestMaker } from './fuzz/requests.ts';
import type { FuzzRequest, Known } from './fuzz/requests.ts';

const REQUESTS = Number(process.env['FUZZ_REQUESTS'] ?? 20_000);
/** The same requests on every run; FUZZ_SEED asks for others. */
const SEED = Number(process.env['FUZZ_SEED'] ?? 286_957);
/** So many of them are sent one by one, to see what each costs. */
const MEASURED = Number(process.env['FUZZ_MEASURED'] ?? 4_000);
const AT_ONCE = 8;
const HANG_MS = 15_000;
const FUND = '6f1c2f0e-8f57-4f0e-9d5e-3a8a0f6f2b11';

interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
}

const agent = new Agent({ keepAlive: true, maxSockets: AT_ONCE });
let service: ServiceProcess;
let description: ServedDescription;
let known: Known;

beforeAll(async () => {
  service = await ServiceProcess.start(temporaryDirectory(), { SANDBOX_STEP: '0ms', TRUST_PROXY: '1' });
  const served = await fetch(`${service.baseUrl}/openapi.json`);
  description = new ServedDescription((await served.json()) as Record<string, unknown>);
  const api = await service.client(FUND);
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
}, 300_000);
afterAll(async () => {
  agent.destroy();
  await service?.end('SIGTERM');
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

const inOrder = (statuses: ReadonlyMap<number, number>): string =>
  JSON.stringify(Object.fromEntries([...statuses].sort(([a], [b]) => a - b)));

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
    process.stdout.write(`${inOrder(statuses)}\n`);
    expect(findings).toEqual([]);
    // Not everything bounces at the door: the deeper refusals and successes are met, too.
    for (const status of [200, 201, 400, 401, 404, 405, 409, 422])
      expect([...statuses.keys()]).toContain(status);
    expect((await fetch(`${service.baseUrl}/health/ready`)).status).toBe(200);
  });
});

let addresses = 0;
const nextAddress = (): string => {
  addresses += 1;
  return `11.${(addresses >> 16) & 255}.${(addresses >> 8) & 255}.${addresses & 255}`;
};

/** The same request once more, about an operation that does not exist yet and under a key that was not used. */
const anew = (made: FuzzRequest, attempt: number): FuzzRequest => {
  if (attempt === 0 || made.body === undefined) return made;
  const text = made.body
    .toString('latin1')
    .replaceAll('FUZZ-', `FUZ${attempt.toString(36)}-`)
    .replaceAll('"key-', `"ke${attempt.toString(36)}-`);
  return { ...made, body: Buffer.from(text, 'latin1') };
};

/** Processor milliseconds that the service's main thread spends while this is answered, the first try below the bound, or the least. */
const costOf = async (made: FuzzRequest): Promise<{ readonly ms: number; readonly status: number }> => {
  let least = { ms: Infinity, status: 0 };
  for (let attempt = 0; attempt < MOST_TRIES && least.ms >= MOST_MS; attempt += 1) {
    const before = await mainThreadMs(service.pid!);
    // A request that is refused before it is read may end its connection: the answer counts where there is one.
    const status = await send(anew(made, attempt), nextAddress()).then(
      (answer) => answer.status,
      (error: NodeJS.ErrnoException) => (['ECONNRESET', 'EPIPE'].includes(error.code ?? '') ? 0 : -1),
    );
    const spent = (await mainThreadMs(service.pid!)) - before;
    const ms = spent < MOST_MS ? spent : spent / slowness();
    if (ms < least.ms) least = { ms, status };
  }
  return least;
};

describe(`no request costs the main thread ${MOST_MS} ms or more`, () => {
  const expectCheap = async (requests: Iterable<FuzzRequest & { readonly what?: string }>): Promise<void> => {
    const [findings, costs] = [[] as string[], [] as number[]];
    const statuses = new Map<number, number>();
    for (const one of requests) {
      const { ms, status } = await costOf(one);
      costs.push(ms);
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
      const wrong =
        status >= 500 || status < 0 ? `status ${status}` : ms >= MOST_MS ? `${ms.toFixed(1)} ms` : '';
      if (wrong !== '') findings.push(`${wrong}: ${one.what ?? ''} ${shown(one)}`);
    }
    costs.sort((a, b) => b - a);
    const [most = 0, median = 0] = [costs[0], costs[costs.length >> 1]];
    process.stdout.write(
      `${costs.length} requests, ms: most ${most.toFixed(1)}, median ${median.toFixed(1)}; ${inOrder(statuses)}\n`,
    );
    expect(findings).toEqual([]);
    expect((await fetch(`${service.baseUrl}/health/ready`)).status).toBe(200);
  };

  test('as far as this measure goes, which sees what a thread does', async () => {
    const before = await mainThreadMs(process.pid);
    for (const end = performance.now() + 500; performance.now() < end;) Math.sqrt(end);
    expect((await mainThreadMs(process.pid)) - before).toBeGreaterThan(MOST_MS);
  });

  test('of those that are made to be expensive', () => expectCheap(costlyRequests(known)));

  test(`of ${MEASURED} made from the description (seed ${SEED + 1})`, async () => {
    const maker = new RequestMaker(description.document, known, new Random(SEED + 1));
    await expectCheap(
      (function* () {
        for (let i = 0; i < MEASURED; i += 1) yield maker.next();
      })(),
    );
  });
});
