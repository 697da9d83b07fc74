import { execFile, spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { randomInt, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { MAIN_HEAP_FLAGS } from '../../infrastructure/support/threads.ts';
import { ApiClient } from './api-client.ts';
import type { ClientCredentials } from './api-client.ts';
import { commandLineBeside } from './command-line-beside.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const flags = [
  '--disable-warning=ExperimentalWarning',
  '--disable-warning=TimeoutNegativeWarning',
  ...['--import', './infrastructure/composition/compile-cache.ts'],
];
const main = 'infrastructure/composition/main.ts';
const cli = 'infrastructure/composition/receivables.ts';

/**
 * Below the ports that the system gives to outgoing connections, so that no connection takes it between this answer and its use. Each
 * worker has its own, so that no other is given it meanwhile.
 */
const PORTS = { from: 12_000, each: 4_000, shares: 5 } as const;
const ownFrom = PORTS.from + (Number(process.env['JEST_WORKER_ID'] ?? 1) % PORTS.shares) * PORTS.each;

const canListen = async (port: number): Promise<boolean> => {
  const server = createServer();
  const listening = once(server, 'listening');
  server.listen(port, '127.0.0.1');
  try {
    await listening;
  } catch {
    return false;
  }
  server.close();
  await once(server, 'close');
  return true;
};

const given = new Set<number>();

/** Never the same one twice in one process: what was given may not listen on it yet. */
export const freePort = async (): Promise<number> => {
  for (;;) {
    const port = ownFrom + randomInt(PORTS.each);
    if (given.has(port)) continue;
    given.add(port);
    if (await canListen(port)) return port;
  }
};

/** The service as a process of its own, as an operator runs it. */
export class ServiceProcess {
  readonly baseUrl: string;
  readonly dataDir: string;
  readonly #environment: NodeJS.ProcessEnv;
  readonly #flags: readonly string[];
  #child: ChildProcess | undefined;
  #output = '';

  private constructor(port: number, dataDir: string, extra: NodeJS.ProcessEnv, nodeFlags: readonly string[]) {
    this.#flags = [...flags, ...nodeFlags];
    this.dataDir = dataDir;
    this.baseUrl = `http://127.0.0.1:${port}`;
    this.#environment = {
      ...process.env,
      HOST: '127.0.0.1',
      PORT: String(port),
      PUBLIC_URL: this.baseUrl,
      AUTH_URL: this.baseUrl,
      DATA_DIR: dataDir,
      LOG_LEVEL: 'warn',
      METRICS_PORT: 'off',
      ...extra,
    };
    delete this.#environment['NODE_OPTIONS'];
  }

  static async start(
    dataDir: string,
    extra: NodeJS.ProcessEnv = {},
    nodeFlags: readonly string[] = [],
  ): Promise<ServiceProcess> {
    const service = new ServiceProcess(await freePort(), dataDir, extra, nodeFlags);
    await service.start();
    return service;
  }

  get output(): string {
    return this.#output;
  }

  /** null while it runs, and after a signal ended it. */
  get exitCode(): number | null {
    return this.#child?.exitCode ?? null;
  }

  get pid(): number | undefined {
    return this.#child?.pid;
  }

  /** Memory that it holds now. */
  get residentMiB(): number {
    const status = readFileSync(`/proc/${this.pid}/status`, 'utf8');
    return Number(/VmRSS:\s+(\d+)/.exec(status)![1]) / 1024;
  }

  /** Starts it (again) on the same port and data directory; resolves when it is ready. */
  async start(): Promise<void> {
    try {
      await this.#untilReady(this.#spawn());
    } catch (error) {
      await this.end('SIGKILL');
      throw error;
    }
  }

  #spawn(): ChildProcess {
    const child = spawn(process.execPath, [...MAIN_HEAP_FLAGS, ...this.#flags, main], {
      cwd: root,
      env: this.#environment,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.#child = child;
    const collect = (chunk: Buffer): void =>
      void (this.#output = (this.#output + chunk.toString()).slice(-1_000_000));
    child.stdout.on('data', collect);
    child.stderr.on('data', collect);
    return child;
  }

  async #untilReady(child: ChildProcess): Promise<void> {
    const deadline = Date.now() + 120_000;
    while (!(await this.#ready())) {
      if (child.exitCode !== null)
        throw new Error(`the service ended with ${child.exitCode}: ${this.#output}`);
      if (Date.now() > deadline) throw new Error(`the service was not ready in time: ${this.#output}`);
      await new Promise((resolve) => setTimeout(resolve, 25));
    }
  }

  async #ready(): Promise<boolean> {
    try {
      return (await fetch(`${this.baseUrl}/health/ready`)).ok;
    } catch {
      return false;
    }
  }

  /** Resolves once the service has printed this; fails after the deadline. */
  async printed(text: string, ms = 60_000): Promise<void> {
    const deadline = Date.now() + ms;
    while (!this.#output.includes(text)) {
      if (Date.now() > deadline) throw new Error(`not printed within ${ms} ms: ${text}`);
      await new Promise((resolve) => setTimeout(resolve, 25));
    }
  }

  /** Sends the signal and waits for the end; answers the exit code, null when the signal ended it. */
  async end(signal: NodeJS.Signals): Promise<number | null> {
    const child = this.#child;
    if (!child || child.exitCode !== null || child.signalCode !== null) return child?.exitCode ?? null;
    const exited = once(child, 'exit');
    child.kill(signal);
    const [code] = (await exited) as [number | null];
    return code;
  }

  /** Runs the command line beside the service. */
  async receivables(...args: readonly string[]): Promise<string> {
    const { stdout } = await promisify(execFile)(process.execPath, [...flags, cli, ...args], {
      cwd: root,
      env: this.#environment,
    });
    return stdout;
  }

  /** The client that the first start of an empty sandbox prints. */
  async printedClient(): Promise<ClientCredentials> {
    await this.printed('client_secret');
    const said = (name: string): string => new RegExp(`${name} +(\\S+)`).exec(this.#output)?.[1] ?? '';
    const [client_id, client_secret] = [said('client_id'), said('client_secret')];
    return { client_id, client_secret, application_id: '', fund_ids: [said('fund_id')] };
  }

  async createClient(fund: string, multiplier = 1_000): Promise<ClientCredentials> {
    const options = ['--name', 'test', '--fund', fund, '--rate-limit-multiplier', String(multiplier)];
    const { out, err } = await commandLineBeside(this.#environment)('client', 'create', ...options);
    if (out === '') throw new Error(err);
    return JSON.parse(out) as ClientCredentials;
  }

  async client(fund: string = randomUUID()): Promise<ApiClient> {
    return new ApiClient(this.baseUrl, await this.createClient(fund));
  }
}
