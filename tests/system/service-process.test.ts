import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { ApiClient, loanRequest } from '../support/api-client.ts';
import { Renegotiator } from '../support/renegotiator.ts';
import { ServiceProcess } from '../support/service-process.ts';
import { within } from '../support/within.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

type Json = ReturnType<typeof JSON.parse>;

const root = fileURLToPath(new URL('../../', import.meta.url));

let dataDir: string;
let service: ServiceProcess | undefined;

beforeEach(() => {
  dataDir = temporaryDirectory();
});

afterEach(async () => {
  await service?.end('SIGKILL');
  service = undefined;
});

const start = async (
  environment: NodeJS.ProcessEnv,
  nodeFlags?: readonly string[],
): Promise<ServiceProcess> => (service = await ServiceProcess.start(dataDir, environment, nodeFlags));
const masterKey = (): string => randomBytes(32).toString('base64');

/** Takes over the directory, which a kill has left, on this port; hands a signal on, and ends with the service. */
const throughNpm = async (port: string, inBetween: () => Promise<void>): Promise<void> => {
  const { NODE_OPTIONS: _, ...environment } = process.env;
  const urls = { PUBLIC_URL: `http://127.0.0.1:${port}`, AUTH_URL: `http://127.0.0.1:${port}` };
  const npm = spawn('npm', ['start'], {
    cwd: root,
    env: { ...environment, ...urls, ...{ DATA_DIR: dataDir, PORT: port, METRICS_PORT: 'off', SANDBOX_STEP } },
  });
  const lines = createInterface(npm.stdout)[Symbol.asyncIterator]();
  const ended = once(npm, 'exit');
  for (let line = ''; !line.includes('"ready"');) line = String((await lines.next()).value);
  try {
    await inBetween();
  } finally {
    npm.kill('SIGTERM');
  }
  expect(await ended).toEqual([0, null]);
  // The output is closed once nobody can write into it any more, the service included.
  while (!(await lines.next()).done);
};

/** So that a signal finds an operation between two of its steps. */
const SANDBOX_STEP = '400ms';
const LINES = 150;

/** The settlements of all installments of one operation, which go one after the other. */
class Batch {
  readonly #api: ApiClient;
  readonly code: string;

  constructor(api: ApiClient, code: string) {
    this.#api = api;
    this.code = code;
  }

  async assign(): Promise<void> {
    await this.#api.assign(loanRequest(this.#api.fund, this.code, LINES));
    await this.#api.untilStatus(this.code, 'active');
  }

  send() {
    return this.#api.call('POST', '/installment/settle/batch', {
      settlements: Array.from({ length: LINES }, (_, i) => ({
        originator_proposal_code: this.code,
        installment_code: String(i + 1).padStart(3, '0'),
        settled_at: '2026-06-15',
        settled_value: 950,
        payment_method: 'pix',
        idempotency_key: `${this.code}-${i}`,
      })),
    });
  }

  async settled(): Promise<number> {
    const { body } = await this.#api.loan(this.code);
    return body.installments.filter(({ status }: Json) => status === 'settled').length;
  }

  /** The answer, or undefined where the connection ends without one; resolves once the batch is in its middle. */
  async begin(): Promise<{ readonly answer: Promise<Json> }> {
    const answer = this.send().catch(() => undefined);
    await within('some lines are recorded', 60_000, async () => (await this.settled()) > 0);
    return { answer };
  }

  /** Sent again after a cut: what was recorded is a replay, the rest is done now. */
  async again(): Promise<number> {
    const recorded = await this.settled();
    expect(recorded).toBeGreaterThan(0);
    const { status, body } = await this.send();
    expect([status, new Set(body.results.map((one: Json) => one.status))]).toEqual([200, new Set([200])]);
    expect(body.results.map(({ replayed }: Json) => replayed)).toEqual(
      Array.from({ length: LINES }, (_, i) => i < recorded),
    );
    const { body: loan } = await this.#api.untilStatus(this.code, 'settled');
    expect(loan.installments.every((one: Json) => one.status === 'settled')).toBe(true);
    return recorded;
  }
}

const PAIRS = Array.from({ length: 6 }, (_, i) => [`K${i}`, `L${i}`, `M${i}`] as const);

/** Renegotiations of two originals each, of which two are answered and the others under way. */
const renegotiating = async (client: Renegotiator) => {
  const enough = Promise.withResolvers<void>();
  let answered = 0;
  const sent = PAIRS.map(async ([first, second, next]) => {
    const answer = await client.replaceAll([first, second], next).catch(() => undefined);
    if (++answered === 2) enough.resolve();
    return answer?.status === 200;
  });
  await enough.promise;
  return sent;
};

/** Nothing is half done or lost that was acknowledged; sent again, all of them are done. */
const renegotiated = async (client: Renegotiator, acknowledged: readonly boolean[]): Promise<void> => {
  expect(acknowledged.filter(Boolean).length).toBeGreaterThan(0);
  for (const [i, codes] of PAIRS.entries()) {
    const found = await Promise.all(codes.map((code) => client.statusOf(code)));
    const done = found[0] === 'renegotiated';
    expect(found).toEqual(
      done
        ? ['renegotiated', 'renegotiated', expect.not.stringMatching('none')]
        : ['active', 'active', 'none'],
    );
    if (acknowledged[i]) expect(done).toBe(true);
  }
  for (const [first, second, next] of PAIRS)
    expect((await client.replaceAll([first, second], next)).status).toBe(200);
  for (const [first, , next] of PAIRS) {
    await client.api.untilStatus(next, 'active');
    expect(await client.statusOf(first)).toBe('renegotiated');
  }
};

/** Fails as nothing in the product should, on a signal: outside of every request, where nothing catches it. */
const FAILING = [
  '--import',
  `data:text/javascript,process.on('SIGUSR2',()=>{${encodeURIComponent(`Promise.reject(new Error('out of nowhere'))`)}})`,
];

describe('the service as a process', () => {
  test('through a life in the sandbox', async () => {
    // The first start of an empty sandbox prints a client and a call.
    const running = await start({ SANDBOX_STEP });
    const api = new ApiClient(running.baseUrl, await running.printedClient());
    await running.printed('curl -s');
    const stopped = new Batch(api, 'STOPPED');
    await stopped.assign();
    await api.assign(loanRequest(api.fund, 'A-1'));
    await api.untilStatus('A-1', 'approved');
    // In the middle of a cession and of a batch it stops with 0; the next start goes on where it was, and prints no client.
    const { answer } = await stopped.begin();
    expect(await running.end('SIGTERM')).toBe(0);
    expect(running.output).not.toContain('failed unexpectedly');
    const before = running.output.length;
    await running.start();
    const { body } = await api.untilStatus('A-1', 'active');
    expect(body.status_history.map(({ status }: { status: string }) => status)).toEqual([
      'received',
      'approved',
      'term_signed',
      'active',
    ]);
    expect(running.output.slice(before)).not.toContain('client_secret');
    // Batches end before the process does; of one that takes too long no line is lost.
    const [answered, recorded] = [await answer, await stopped.again()];
    if (answered) expect([answered.status, recorded]).toEqual([200, LINES]);
    // A port that is taken is said in one line.
    const { port } = new URL(running.baseUrl);
    const onItsPort = ServiceProcess.start(join(dataDir, 'second'), { PORT: port });
    await expect(onItsPort).rejects.toThrow(/^the service ended with 1: [^\n]*PORT[^\n]*EADDRINUSE[^\n]*\n$/);
    // It is killed in the middle of a batch and of renegotiations.
    const killed = new Batch(api, 'KILLED');
    const client = new Renegotiator(api);
    await Promise.all([
      killed.assign(),
      client.activate(...PAIRS.flatMap(([first, second]) => [first, second])),
    ]);
    await killed.begin();
    const sent = await renegotiating(client);
    await running.end('SIGKILL');
    const acknowledged = await Promise.all(sent);
    await throughNpm(new URL(running.baseUrl).port, async () => {
      await killed.again();
      const { body: replayed } = await killed.send();
      expect(replayed.results.every((one: Json) => one.replayed)).toBe(true);
      await renegotiated(client, acknowledged);
    });
    // Four services, one after another.
  }, 300_000);

  // Node raises a rejection that nothing handles as an error that nothing catches: this is one way for both.
  test('in production nothing moves by itself, files are really parsed, and no client is printed; a rejection that nothing handles is logged, what it has begun is answered, and it ends with 1', async () => {
    const environment = { ENVIRONMENT: 'production', MASTER_KEY: masterKey(), SANDBOX_STEP: '0ms' };
    const running = await start(environment, FAILING);
    expect(running.output).not.toContain('client_secret');
    // A command, which is a process of its own, works beside the service.
    const api = await running.client();
    const signatureOnly = Buffer.from('%PDF-1.4\nand nothing that a reader could open');
    const refused = await api.assign(loanRequest(api.fund, 'P-1'), signatureOnly);
    expect([refused.status, refused.body.error_code]).toEqual([400, 'invalid_file']);
    expect((await api.assign(loanRequest(api.fund, 'P-2'))).status).toBe(201);
    expect((await api.assign(loanRequest(api.fund, 'P-3'))).status).toBe(201);
    expect((await api.loan('P-2')).body.status).toBe('received');
    const begun = Array.from({ length: 10 }, (_each, i) => api.assign(loanRequest(api.fund, `L${i}`)));
    await begun[0];
    process.kill(running.pid!, 'SIGUSR2');
    const answers = await Promise.allSettled(begun);
    await within('the process has ended', 60_000, () => running.exitCode !== null);
    expect(running.exitCode).toBe(1);
    expect(running.output).toContain('out of nowhere');
    expect(running.output).toContain('an error that nothing caught');
    const statuses = answers.flatMap((one) => (one.status === 'fulfilled' ? [one.value.status] : []));
    expect(new Set(statuses)).toEqual(new Set([201]));
  });
});
