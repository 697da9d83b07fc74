import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { within } from '../support/within.ts';
import { randomUUID } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { ApiClient, loanRequest } from '../support/api-client.ts';
import { authority } from '../support/certificates.ts';
import { Engines } from '../support/distributed/engines.ts';
import { ServiceProcess } from '../support/service-process.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { WebhookReceiver, signatureHolds } from '../support/webhook-receiver.ts';
import { trusting } from '../support/trusted-receiver.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const CLI = ['--disable-warning=ExperimentalWarning', 'infrastructure/composition/receivables.ts'];
const LOANS = 16;
/** It is killed so long after its start, or after it has begun; every time it gets further, by a share of what it had. */
const FIRST_KILL_MS = 20;
const NEXT_KILL = 1.5;

let engines: Engines;
const directory = temporaryDirectory();
let receiver: WebhookReceiver;
let settings: Readonly<Record<string, string>>;
let dataDir: string;
const started: ServiceProcess[] = [];

const start = async (extra: Readonly<Record<string, string>> = {}): Promise<ServiceProcess> => {
  const service = await ServiceProcess.start(dataDir, { ...settings, ...extra });
  started.push(service);
  return service;
};

beforeAll(async () => {
  engines = await Engines.start();
  dataDir = join(directory, 'data');
  const ca = await authority();
  receiver = await WebhookReceiver.start(ca);
  settings = {
    MASTER_KEY: engines.environment['MASTER_KEY']!,
    SANDBOX_STEP: '10ms',
    WEBHOOK_RETRY_SCHEDULE: '100ms,200ms,500ms,1s,2s,5s,10s,10s,10s,10s,10s,10s',
    ...trusting(ca),
  };
}, 300_000);

afterAll(async () => {
  for (const service of started) await service.end('SIGKILL');
  await receiver?.close();
  await engines?.close();
});

interface Ended {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

interface Where {
  readonly environment?: Readonly<Record<string, string>>;
  readonly killAfterMs?: number | undefined;
}

/** A command as an operator gives it; where a time is given, killed so long after the move has begun. */
const command = async (
  words: readonly string[],
  { environment = engines.environment, killAfterMs }: Where = {},
): Promise<Ended> => {
  const env: NodeJS.ProcessEnv = { ...process.env, ...environment, ...settings, DATA_DIR: dataDir };
  delete env['NODE_OPTIONS'];
  const child = spawn(process.execPath, [...CLI, ...words], { cwd: ROOT, env });
  let [out, err] = ['', ''];
  child.stdout.on('data', (bytes: Buffer) => void (out += bytes.toString()));
  child.stderr.on('data', (bytes: Buffer) => void (err += bytes.toString()));
  const ended = once(child, 'close') as Promise<[number | null]>;
  if (killAfterMs !== undefined) {
    const begun = (): boolean => existsSync(join(dataDir, 'moved.json'));
    while (!begun() && child.exitCode === null) await delay(5);
    await Promise.race([delay(killAfterMs), ended]);
    child.kill('SIGKILL');
  }
  const [code] = await ended;
  return { code, out, err };
};

const migrate = (killAfterMs?: number): Promise<Ended> => command(['migrate'], { killAfterMs });

const codes = Array.from({ length: LOANS }, (_, i) => `MOVE-${i}`);
/** Nothing of it becomes overdue between two readings. */
const loanOf = (fund: string, code: string): object =>
  loanRequest(fund, code, 2, {
    installments: ['2096-02-15', '2096-03-15'].map((due_date, i) => ({
      code: `00${i + 1}`,
      due_date,
      face_value: 950,
    })),
  });
const settledTwice = codes.slice(0, LOANS / 2);

describe('a service that outgrew one machine', () => {
  test('is moved while killed again and again, and goes on where it stopped', async () => {
    const embedded = await start();
    const credentials = await embedded.createClient(randomUUID());
    const api = new ApiClient(embedded.baseUrl, credentials);
    const hook = await api.call('POST', '/webhook', { url: receiver.url, events: ['*'] });
    const secret = hook.body.signing_secret as string;
    for (const code of codes) expect((await api.assign(loanOf(api.fund, code))).status).toBe(201);
    for (const code of codes) await api.untilStatus(code, 'active');
    for (const code of codes) expect((await api.settle(code, '001', 950)).status).toBe(200);
    const firstPart = (code: string): number => receiver.eventsOf(code).length;
    await receiver.until(() => codes.every((code) => firstPart(code) === 5), 'the first part is delivered');
    const waiting = async (): Promise<number> => {
      const lists = ['pending', 'retrying'].map((status) =>
        api.call('GET', `/webhook/${hook.body.webhook_id}/deliveries?status=${status}`),
      );
      return (await Promise.all(lists)).reduce((sum, { body }) => sum + body.data.length, 0);
    };
    await within('all outcomes are stored', 60_000, async () => (await waiting()) === 0);
    const delivered = new Set(receiver.arrivals.map(({ eventId }) => eventId));
    expect((await migrate()).err).toContain('is in use');

    receiver.respond = () => 503;
    for (const code of settledTwice) expect((await api.settle(code, '002', 950)).status).toBe(200);
    const before = new Map<string, unknown>();
    for (const code of codes) before.set(code, (await api.loan(code)).body);
    await embedded.end('SIGKILL');

    const heads = join(directory, 'heads.jsonl');
    const audited = await command(['audit', 'verify', '--write-anchor', heads], { environment: {} });
    expect([audited.code, audited.err]).toEqual([0, expect.any(String)]);

    // Each gets a little further than the one before, until one comes to its end before it is killed.
    let interrupted = 0;
    for (let ms = FIRST_KILL_MS; ; ms *= NEXT_KILL) {
      const { code, err } = await migrate(ms);
      if (code === 0) break;
      expect([code, err]).toEqual([null, expect.any(String)]);
      interrupted += 1;
    }
    expect(interrupted).toBeGreaterThan(0);
    const moved = await migrate();
    expect([moved.code, JSON.parse(moved.out)]).toEqual([0, { already_moved: expect.any(String) }]);
    process.stdout.write(`interrupted ${interrupted} times\n`);
    await expect(start()).rejects.toThrow('set EVENTSTORE_URL, DATABASE_URL');

    const seen = receiver.arrivals.length;
    receiver.respond = () => 200;
    const service = await start(engines.environment);
    const there = new ApiClient(service.baseUrl, credentials);
    for (const code of codes) {
      const status = settledTwice.includes(code) ? 'settled' : 'active';
      expect((await there.untilStatus(code, status)).body).toEqual(before.get(code));
    }
    await receiver.until(
      () => settledTwice.every((code) => receiver.eventsOf(code).at(-1) === 'loan_fully_settled'),
      'what waited is delivered',
      120_000,
    );
    const replayed = await there.settle(codes[0]!, '002', 950);
    expect([replayed.status, replayed.headers.get('idempotent-replayed')]).toEqual([200, 'true']);
    const assigned = await there.assign(loanOf(there.fund, codes[1]!));
    expect([assigned.status, assigned.headers.get('idempotent-replayed')]).toEqual([201, 'true']);
    for (const code of codes.slice(LOANS / 2))
      expect((await there.settle(code, '002', 950)).status).toBe(200);
    await receiver.until(
      () => codes.every((code) => receiver.eventsOf(code).at(-1) === 'loan_fully_settled'),
      'what was settled here is delivered',
      120_000,
    );
    for (const code of codes) {
      expect(receiver.eventsOf(code)).toEqual([
        ...['loan_received', 'loan_approved', 'loan_term_signed', 'disbursement_completed'],
        ...['installment_settled', 'installment_settled', 'loan_fully_settled'],
      ]);
    }
    const since = receiver.arrivals.slice(seen);
    expect(since.filter(({ eventId }) => delivered.has(eventId))).toEqual([]);
    expect(since.every((arrival) => signatureHolds(arrival, secret))).toBe(true);
    // Every stream holds what it held in the files, and everything that is derived agrees with it.
    const proven = await command(['audit', 'verify', '--anchor', heads]);
    expect([proven.code, proven.err]).toEqual([0, expect.any(String)]);
    expect(await service.end('SIGTERM')).toBe(0);
  }, 900_000);
});
