import { spawn } from 'node:child_process';
import type { ChildProcessWithoutNullStreams } from 'node:child_process';
import { randomBytes, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { ApiClient, assignmentForm, loanRequest } from '../support/api-client.ts';
import { ServiceProcess } from '../support/service-process.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const production = { ENVIRONMENT: 'production', MASTER_KEY: randomBytes(32).toString('base64') };

const directory = temporaryDirectory();
let service: ServiceProcess;
let api: ApiClient;
let application: string;
const commands: Command[] = [];

/** The command line as a process of its own whose input and output stay open. */
class Command {
  readonly child: ChildProcessWithoutNullStreams;
  readonly #exited: Promise<unknown[]>;
  #out = '';
  err = '';

  constructor(args: readonly string[], variables: NodeJS.ProcessEnv = production, dataDir = directory) {
    const { NODE_OPTIONS: _, ...environment } = process.env;
    this.child = spawn(
      process.execPath,
      ['--disable-warning=ExperimentalWarning', 'infrastructure/composition/receivables.ts', ...args],
      {
        cwd: root,
        env: { ...environment, ...variables, DATA_DIR: dataDir, LOG_LEVEL: 'error' },
      },
    );
    this.#exited = once(this.child, 'exit');
    this.child.stdout.on('data', (chunk: Buffer) => (this.#out += chunk.toString()));
    this.child.stderr.on('data', (chunk: Buffer) => (this.err += chunk.toString()));
    commands.push(this);
  }

  get raw(): string {
    return this.#out;
  }

  get lines() {
    return this.#out
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line));
  }

  async printed(count: number): Promise<void> {
    const deadline = Date.now() + 60_000;
    while (this.lines.length < count) {
      if (Date.now() > deadline) throw new Error(`${this.lines.length} of ${count} lines: ${this.err}`);
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  }

  async exit(): Promise<unknown> {
    return (await this.#exited)[0];
  }
}

beforeAll(async () => {
  service = await ServiceProcess.start(directory, production);
  const client = await service.createClient(randomUUID());
  application = client.application_id;
  api = new ApiClient(service.baseUrl, client);
}, 300_000);
afterAll(async () => {
  for (const { child } of commands) if (child.exitCode === null) child.kill('SIGKILL');
  await service?.end('SIGTERM');
});

const line = (id: string, decision: string, more: object = {}, of = application): string =>
  `${JSON.stringify({
    decision_id: id,
    application_id: of,
    originator_proposal_code: 'OP-1',
    decision,
    ...more,
  })}\n`;

describe('beside a running service', () => {
  test('decisions go in through a pipe, events come out of another, and both end in order', async () => {
    expect((await api.assign(loanRequest(api.fund, 'OP-1', 2))).status).toBe(201);
    const [following, left] = [new Command(['events', '--follow']), new Command(['events', '--follow'])];
    const deciding = new Command(['administrator', 'apply', '--file', '-']);

    deciding.child.stdin.write(line('D-1', 'approve'));
    await deciding.printed(1);
    deciding.child.stdin.write(line('D-2', 'process_repurchase') + line('D-3', 'sign_term'));
    await deciding.printed(3);
    expect((await api.loan('OP-1')).body.status).toBe('term_signed');
    await left.printed(1);
    left.child.stdout.destroy();
    deciding.child.stdin.end(
      line('D-4', 'disburse', { disbursement_date: '2026-01-16', disbursed_value: 1672 }),
    );
    expect([await deciding.exit(), deciding.err]).toEqual([
      3,
      expect.stringContaining('1 of 4 decisions were refused'),
    ]);
    expect(deciding.lines.map(({ outcome }) => outcome)).toEqual([
      'applied',
      'refused',
      'applied',
      'applied',
    ]);

    const file = join(directory, 'administrator-decisions.dead-letter.jsonl');
    const letter = JSON.parse(await readFile(file, 'utf8'));
    expect([letter.decision_id, letter.origin, `${letter.text}\n`]).toEqual([
      'D-2',
      'line 2 of -',
      line('D-2', 'process_repurchase'),
    ]);

    await following.printed(4);
    following.child.kill('SIGINT');
    expect([await following.exit(), following.err]).toEqual([0, '']);
    expect(following.lines.map(({ event }) => event)).toEqual([
      ...['loan_received', 'loan_approved', 'loan_term_signed', 'disbursement_completed'],
    ]);
    expect(await left.exit()).toBe(0);

    expect(following.raw).toMatch(
      /"position":"\d+","application_id":"[^"]+","event":"disbursement_completed".*"disbursed_value":1672\.00/,
    );
  }, 300_000);
});

describe('in a sandbox whose clock others move', () => {
  test('each decision has the time at which it is carried out', async () => {
    const own = temporaryDirectory();
    const sandbox = await ServiceProcess.start(own, {});
    try {
      const client = await sandbox.createClient(randomUUID());
      const there = new ApiClient(sandbox.baseUrl, client);
      const deciding = new Command(['administrator', 'apply', '--file', '-', '--operator', 'Ana'], {}, own);
      const assigned = await there.call('POST', '/loan', assignmentForm(loanRequest(there.fund, 'OP-1', 2)), {
        'X-Sandbox-Outcome': 'hold',
      });
      expect(assigned.status).toBe(201);
      deciding.child.stdin.write(line('S-1', 'approve', {}, client.application_id));
      await deciding.printed(1);
      const moved = await there.call('POST', '/sandbox/clock', { advance: '30d' });
      expect(moved.status).toBe(200);
      deciding.child.stdin.end(line('S-2', 'sign_term', {}, client.application_id));
      expect([await deciding.exit(), deciding.err]).toEqual([0, '']);
      const { status_history: history } = (await there.loan('OP-1')).body;
      const [, approved, signed] = history.map(({ at }: { at: string }) => Date.parse(at));
      expect((signed - approved) / 86_400_000).toBeGreaterThan(29.9);
    } finally {
      await sandbox.end('SIGTERM');
    }
  }, 300_000);
});
