import { execFileSync } from 'node:child_process';
import {
  closeSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { pause } from '../../infrastructure/support/time.ts';
import { loanRequest, settlement } from '../support/api-client.ts';
import type { ApiClient, ApiResponse } from '../support/api-client.ts';
import { ServiceProcess } from '../support/service-process.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

let directory: string;
let dataDir: string;
let service: ServiceProcess | undefined;
let mounted: boolean;

beforeEach(() => {
  directory = temporaryDirectory();
  dataDir = join(directory, 'data');
  mkdirSync(dataDir, { mode: 0o700 });
  mounted = false;
});
afterEach(async () => {
  await service?.end('SIGKILL');
  service = undefined;
  if (mounted) unmount(dataDir);
});

const start = async (): Promise<ServiceProcess> =>
  (service = await ServiceProcess.start(dataDir, { SANDBOX_STEP: '1ms', LOG_LEVEL: 'warn' }));

const untilReady = async ({ baseUrl }: ServiceProcess): Promise<void> => {
  for (const deadline = Date.now() + 60_000; Date.now() < deadline; await pause(100))
    if ((await fetch(`${baseUrl}/health/ready`)).ok) return;
  throw new Error('not ready again');
};

const mountSmall = (): void => {
  execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=24m,mode=700', 'tmpfs', dataDir]);
  mounted = true;
};

const makeReadOnly = (path: string): void => {
  execFileSync('mount', ['--bind', path, path]);
  execFileSync('mount', ['-o', 'remount,bind,ro', path]);
};
const unmount = (path: string): void => void execFileSync('umount', [path]);

const expectRefused = ({ status, headers, body }: ApiResponse): void => {
  expect([status, body.error_code, body.retryable]).toEqual([503, 'service_unavailable', true]);
  expect(Number(headers.get('retry-after'))).toBeGreaterThan(0);
};

/** Leaves no room at all: what is written next meets a full disk. */
const fill = (path: string): void => {
  const file = openSync(path, 'w');
  try {
    for (;;) writeSync(file, Buffer.alloc(4_096));
  } catch (error) {
    expect((error as NodeJS.ErrnoException).code).toBe('ENOSPC');
  } finally {
    closeSync(file);
  }
};

/** About requests that failed, whatever their number. */
const expectFewLines = ({ output }: ServiceProcess): void => {
  const lines = output.split('\n').filter((line) => line.includes('request failed'));
  expect(lines.length).toBeLessThan(10);
  expect(lines.join()).not.toContain('unexpectedly');
};

describe('a full disk', () => {
  test('refuses settlements, loses none that was answered, and takes them all once there is room', async () => {
    mountSmall();
    const running = await start();
    const api = await running.client();
    expect((await api.assign(loanRequest(api.fund, 'P-1', 480))).status).toBe(201);
    await api.untilStatus('P-1', 'active');
    const ballast = join(dataDir, 'ballast');
    const settled: string[] = [];
    const refused: string[] = [];
    for (let n = 1; n <= 480; n++) {
      if (n === 20) fill(ballast);
      const code = String(n).padStart(3, '0');
      const answer = await api.settle('P-1', code, 950);
      if (answer.status === 200) settled.push(code);
      else {
        expectRefused(answer);
        refused.push(code);
      }
    }
    expect(refused.length).toBeGreaterThan(20);
    expectFewLines(running);
    const health = await fetch(`${running.baseUrl}/health/ready`);
    expect([health.status, await health.text()]).toEqual([503, expect.stringContaining('disk: failing')]);
    await running.printed(`no room left for ${dataDir}: make room on its disk`);
    rmSync(ballast);
    await untilReady(running);
    for (const code of refused) expect((await api.settle('P-1', code, 950)).status).toBe(200);
    for (const code of settled) {
      const { status, headers } = await api.settle('P-1', code, 950);
      expect([status, headers.get('idempotent-replayed')]).toEqual([200, 'true']);
    }
    const { body } = await api.untilStatus('P-1', 'settled');
    expect(body.balances.received_value).toBe(480 * 950);
    expect(await running.receivables('audit', 'verify', '-o', 'table')).toContain('no difference');
    expect(await running.end('SIGTERM')).toBe(0);
  });

  test('refuses documents, in one line of the log a minute', async () => {
    mountSmall();
    const running = await start();
    const api = await running.client();
    const ballast = join(dataDir, 'ballast');
    await api.token();
    fill(ballast);
    // Each waits for the database, which is tried again after up to 5 s.
    for (let n = 0; n < 20; n++) expectRefused(await api.assign(loanRequest(api.fund, `D-${n}`, 12)));
    expectFewLines(running);
    rmSync(ballast);
    await untilReady(running);
    for (let n = 0; n < 20; n++)
      expect((await api.assign(loanRequest(api.fund, `D-${n}`, 12))).status).toBe(201);
  });

  test('is answered by 503, costs nothing that was acknowledged, and is over when there is room', async () => {
    mountSmall();
    const ballast = join(dataDir, 'ballast');
    writeFileSync(ballast, Buffer.alloc(6_000_000));
    const running = await start();
    const api = await running.client();
    const acknowledged: string[] = [];
    for (let refused = 0, n = 0; refused < 20; n++) {
      const answer = await api.assign(loanRequest(api.fund, `F-${n}`, 120));
      if (answer.status === 201) acknowledged.push(`F-${n}`);
      else {
        expectRefused(answer);
        refused += 1;
      }
    }
    expect(acknowledged.length).toBeGreaterThan(3);
    for (const code of acknowledged.slice(-5)) {
      const { status, body } = await api.loan(code);
      expect([200, 503]).toContain(status);
      if (status === 200) expect(body.installments).toHaveLength(120);
    }
    rmSync(ballast);
    // On a busy machine most rows are still to be written: how much room they need depends on how far the projectors had come.
    execFileSync('mount', ['-o', 'remount,size=96m', dataDir]);
    await untilReady(running);
    for (const code of acknowledged)
      expect((await api.untilStatus(code, 'active', 60_000)).body.installments).toHaveLength(120);
    expect(await running.receivables('audit', 'verify', '-o', 'table')).toContain('no difference');
    expect(await running.end('SIGTERM')).toBe(0);
  });
});

describe('a disk that does not answer for seconds', () => {
  test('holds up writes, and nothing that needs no flush', async () => {
    const running = await start();
    const api = await running.client();
    expect((await api.assign(loanRequest(api.fund, 'S-1', 12))).status).toBe(201);
    await api.untilStatus('S-1', 'active');
    const files = ['events.db', 'service.db'].map(
      (name) => new DatabaseSync(join(dataDir, name), { timeout: 5_000 }),
    );
    // Whoever wants to write waits for this lock, as it would wait for the disk.
    for (const file of files) file.exec('BEGIN IMMEDIATE');
    const settled = api.call('POST', '/installment/settle', settlement('S-1', '001', 950));
    let slowest = 0;
    for (const end = Date.now() + 3_500; Date.now() < end;) {
      const startedAt = performance.now();
      expect((await api.loan('S-1')).status).toBe(200);
      expect((await api.call('GET', '/loan?limit=20')).status).toBe(200);
      slowest = Math.max(slowest, performance.now() - startedAt);
      await pause(20);
    }
    for (const file of files) {
      file.exec('ROLLBACK');
      file.close();
    }
    expect((await settled).status).toBe(200);
    expect(slowest).toBeLessThan(2_500);
  });
});

describe('a damaged file', () => {
  const starts = async (running: ServiceProcess): Promise<boolean> => {
    const [{ status }] = await Promise.allSettled([running.start()]);
    return status === 'fulfilled';
  };
  const prepared = async (): Promise<{ api: ApiClient; running: ServiceProcess }> => {
    const running = await start();
    const api = await running.client();
    for (let n = 0; n < 20; n++)
      expect((await api.assign(loanRequest(api.fund, `D-${n}`, 120))).status).toBe(201);
    for (let n = 0; n < 20; n++) await api.untilStatus(`D-${n}`, 'active');
    await running.end('SIGTERM');
    return { api, running };
  };

  /** Overwrites whole pages in the middle of the file, past its schema. */
  const damage = (name: string): void => {
    const path = join(dataDir, name);
    const pages = Math.floor(readFileSync(path).length / 4_096);
    const file = openSync(path, 'r+');
    for (let page = Math.floor(pages / 3); page < Math.floor(pages / 2); page++)
      writeSync(file, Buffer.alloc(4_096, 0xa5), 0, 4_096, page * 4_096);
  };

  test.each([
    ['events.db', (api: ApiClient, code: string) => api.settle(code, '001', 950)],
    ['read-model-1.db', (api: ApiClient, code: string) => api.loan(code)],
  ])('is an error and never a wrong answer: %s', async (name, use) => {
    const { api, running } = await prepared();
    damage(name);
    const started = await starts(running);
    if (!started) return expect(running.output).toMatch(/malformed|corrupt|damaged|not a database/i);
    let failed = 0;
    for (let n = 0; n < 20; n++) {
      const { status } = await use(api, `D-${n}`);
      expect([200, 500, 503]).toContain(status);
      if (status !== 200) failed += 1;
      const shown = await api.loan(`D-${n}`);
      expect([200, 500, 503]).toContain(shown.status);
      if (shown.status !== 200) continue;
      expect(shown.body.installments).toHaveLength(120);
      expect(shown.body.status).toBe('active');
    }
    // Read models are built anew; of the log there is nothing to build it from.
    if (name === 'events.db') return expect(failed).toBeGreaterThan(0);
    await untilReady(running);
    for (let n = 0; n < 20; n++) expect((await use(api, `D-${n}`)).status).toBe(200);
  });

  test('a file that cannot be written is a start that fails, or writes that are refused', async () => {
    const { api, running } = await prepared();
    const events = join(dataDir, 'events.db');
    makeReadOnly(events);
    try {
      const started = await starts(running);
      if (!started) return expect(running.output).toMatch(/readonly|read-only/i);
      const { status } = await api.call('POST', '/installment/settle', settlement('D-1', '001', 950));
      expect(status).toBe(503);
      expect((await api.loan('D-1')).status).toBe(200);
    } finally {
      await running.end('SIGKILL');
      unmount(events);
    }
  });
});

describe('documents that cannot be written', () => {
  const folder = (): string => join(dataDir, 'documents');
  const away = (): void => renameSync(folder(), `${folder()}.away`);
  const back = (): void => (rmSync(folder(), { recursive: true }), renameSync(`${folder()}.away`, folder()));
  const files = (most: string) => (): void =>
    void execFileSync('prlimit', ['--pid', String(service?.pid), `--nofile=${most}:`]);

  test.each<[string, string, () => void, () => void]>([
    ['because their folder is gone', 'ENOENT', away, back],
    ['because a file is in its place', 'ENOTDIR', () => (away(), writeFileSync(folder(), '')), back],
    ['because their disk became read-only', 'EROFS', () => makeReadOnly(folder()), () => unmount(folder())],
    // No number above it is given out again, whichever files and connections are closed meanwhile; those below belong to Node.js itself.
    ['because no open file is left', 'EMFILE', files('10'), files('1024')],
  ])('%s are refused with 503 and few lines, which is over by itself', async (_, code, begin, end) => {
    const running = await start();
    const api = await running.client();
    expect((await api.assign(loanRequest(api.fund, 'E-1', 12))).status).toBe(201);
    await api.untilStatus('E-1', 'active');
    begin();
    try {
      for (let n = 0; n < 30; n++) expectRefused(await api.assign(loanRequest(api.fund, `N-${n}`, 12)));
      expect((await api.loan('E-1')).status).toBe(200);
      expect((await api.settle('E-1', '001', 950)).status).toBe(200);
    } finally {
      end();
    }
    expectFewLines(running);
    expect(running.output).toContain(`"reason":"${code}: `);
    for (let n = 0; n < 30; n++)
      expect((await api.assign(loanRequest(api.fund, `N-${n}`, 12))).status).toBe(201);
  });
});
