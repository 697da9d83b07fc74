import { spawn } from 'node:child_process';
import { randomBytes, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { ApiClient, loanRequest } from '../support/api-client.ts';
import { ServiceProcess, freePort } from '../support/service-process.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));

let dataDir: string;
let service: ServiceProcess | undefined;

beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'service-'));
});

afterEach(async () => {
  await service?.end('SIGKILL');
  service = undefined;
  rmSync(dataDir, { recursive: true, force: true });
});

const start = async (environment: NodeJS.ProcessEnv): Promise<ServiceProcess> =>
  (service = await ServiceProcess.start(dataDir, environment));
const masterKey = (): string => randomBytes(32).toString('base64');

/** Takes over the directory, which a kill has left; hands a signal on, and ends with the service. */
const throughNpm = async (): Promise<void> => {
  const { NODE_OPTIONS: _, ...environment } = process.env;
  const npm = spawn('npm', ['start'], {
    cwd: root,
    env: { ...environment, DATA_DIR: dataDir, PORT: String(await freePort()), METRICS_PORT: 'off' },
  });
  const lines = createInterface(npm.stdout)[Symbol.asyncIterator]();
  const ended = once(npm, 'exit');
  for (let line = ''; !line.includes('"ready"');) line = String((await lines.next()).value);
  npm.kill('SIGTERM');
  expect(await ended).toEqual([0, null]);
  // The output is closed once nobody can write into it any more, the service included.
  while (!(await lines.next()).done);
};

describe('the service as a process', () => {
  test('through a life in the sandbox', async () => {
    // The first start of an empty sandbox prints a client and a call.
    const running = await start({ SANDBOX_STEP: '400ms' });
    const api = new ApiClient(running.baseUrl, await running.printedClient());
    await running.printed('curl -s');
    await api.assign(loanRequest(api.fund, 'A-1'));
    await api.untilStatus('A-1', 'approved');
    // In the middle of a cession it stops with 0; the next start goes on where it was, and prints no client.
    expect(await running.end('SIGTERM')).toBe(0);
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
    // A port that is taken is said in one line.
    const onItsPort = ServiceProcess.start(join(dataDir, 'second'), { PORT: new URL(running.baseUrl).port });
    await expect(onItsPort).rejects.toThrow(/^the service ended with 1: [^\n]*PORT[^\n]*EADDRINUSE[^\n]*\n$/);
    // A second service on the same directory is refused, at once.
    const beganAt = Date.now();
    await expect(ServiceProcess.start(dataDir)).rejects.toThrow(
      new RegExp(
        `^the service ended with 1: DATA_DIR [^\\n]* in use by another service: process ${running.pid} on [^\\n]*\\n$`,
      ),
    );
    expect(Date.now() - beganAt).toBeLessThan(20_000);
    await running.end('SIGKILL');
    await throughNpm();
  }, 120_000);

  test('in production nothing moves by itself, files are really parsed, and no client is printed', async () => {
    const running = await start({ ENVIRONMENT: 'production', MASTER_KEY: masterKey(), SANDBOX_STEP: '0ms' });
    expect(running.output).not.toContain('client_secret');
    // A command, which is a process of its own, works beside the service.
    const api = new ApiClient(running.baseUrl, await running.createClient(randomUUID()));
    const signatureOnly = Buffer.from('%PDF-1.4\nand nothing that a reader could open');
    const refused = await api.assign(loanRequest(api.fund, 'P-1'), signatureOnly);
    expect([refused.status, refused.body.error_code]).toEqual([400, 'invalid_file']);
    expect((await api.assign(loanRequest(api.fund, 'P-2'))).status).toBe(201);
    expect((await api.assign(loanRequest(api.fund, 'P-3'))).status).toBe(201);
    expect((await api.loan('P-2')).body.status).toBe('received');
    expect(await running.end('SIGTERM')).toBe(0);
  }, 60_000);
});
