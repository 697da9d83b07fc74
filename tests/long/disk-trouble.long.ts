import { execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdirSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { ApiClient, loanRequest, settlement } from '../support/api-client.ts';
import { ServiceProcess } from '../support/service-process.ts';

let directory: string;
let dataDir: string;
let service: ServiceProcess | undefined;
let mounted: boolean;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'disk-trouble-'));
  dataDir = join(directory, 'data');
  mkdirSync(dataDir, { mode: 0o700 });
  mounted = false;
});
afterEach(async () => {
  await service?.end('SIGKILL');
  service = undefined;
  if (mounted) execFileSync('umount', [dataDir]);
  rmSync(directory, { recursive: true, force: true });
});

const start = async (): Promise<ServiceProcess> =>
  (service = await ServiceProcess.start(dataDir, { SANDBOX_STEP: '1ms', LOG_LEVEL: 'error' }));

const clientOf = async (running: ServiceProcess): Promise<ApiClient> =>
  new ApiClient(running.baseUrl, await running.createClient(randomUUID(), 1_000));

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

const untilReady = async ({ baseUrl }: ServiceProcess): Promise<void> => {
  for (const deadline = Date.now() + 60_000; Date.now() < deadline; await pause(100))
    if ((await fetch(`${baseUrl}/health/ready`)).ok) return;
  throw new Error('not ready again');
};

describe('a full disk', () => {
  test('is answered by 503, costs nothing that was acknowledged, and is over when there is room', async () => {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=24m,mode=700', 'tmpfs', dataDir]);
    mounted = true;
    const ballast = join(dataDir, 'ballast');
    writeFileSync(ballast, Buffer.alloc(6_000_000));
    const running = await start();
    const api = await clientOf(running);
    const acknowledged: string[] = [];
    for (let refused = 0, n = 0; refused < 20; n++) {
      const { status } = await api.assign(loanRequest(api.fund, `F-${n}`, 120));
      if (status === 201) acknowledged.push(`F-${n}`);
      else {
        expect([500, 503]).toContain(status);
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
    const api = await clientOf(running);
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
  const prepared = async (): Promise<{ api: ApiClient; running: ServiceProcess }> => {
    const running = await start();
    const api = await clientOf(running);
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
    const started = await running.start().then(
      () => true,
      () => false,
    );
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
    expect(failed).toBeGreaterThan(0);
  });

  test('a file that cannot be written is a start that fails, or writes that are refused', async () => {
    const { api, running } = await prepared();
    const events = join(dataDir, 'events.db');
    execFileSync('mount', ['--bind', events, events]);
    execFileSync('mount', ['-o', 'remount,bind,ro', events]);
    try {
      const started = await running.start().then(
        () => true,
        () => false,
      );
      if (!started) return expect(running.output).toMatch(/readonly|read-only/i);
      const { status } = await api.call('POST', '/installment/settle', settlement('D-1', '001', 950));
      expect(status).toBe(503);
      expect((await api.loan('D-1')).status).toBe(200);
    } finally {
      await running.end('SIGKILL');
      execFileSync('umount', [events]);
    }
  });
});
