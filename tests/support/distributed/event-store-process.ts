import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { freePort } from '../service-process.ts';
import { temporaryDirectory } from '../temporary-directory.ts';

const MAIN = fileURLToPath(new URL('../eventstoredb/main.ts', import.meta.url));
const START_MS = 20_000;

/** The stand-in for EventStoreDB as a process of its own with a durable log: it can be killed and started again. */
export class EventStoreProcess {
  readonly port: number;
  readonly #directory: { readonly path: string; remove(): Promise<void> };
  readonly #onExit = (): void => void this.#child?.kill('SIGKILL');
  #child: ChildProcess | undefined;
  #output = '';

  private constructor(port: number, directory: { readonly path: string; remove(): Promise<void> }) {
    this.port = port;
    this.#directory = directory;
    process.on('exit', this.#onExit);
  }

  static async start(): Promise<EventStoreProcess> {
    const store = new EventStoreProcess(await freePort(), await temporaryDirectory());
    await store.start();
    return store;
  }

  /** Connection string for whoever reaches it on this port: its own, or a proxy's. */
  static url(port: number): string {
    return `esdb://127.0.0.1:${port}?tls=false`;
  }

  /** Starts it (again) on the same port and log; resolves when it listens. */
  async start(): Promise<void> {
    this.#output = '';
    const options = ['--port', String(this.port), '--data-dir', this.#directory.path];
    const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', MAIN, ...options], {
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.#child = child;
    const collect = (bytes: Buffer): void =>
      void (this.#output = (this.#output + bytes.toString()).slice(-20_000));
    child.stdout.on('data', collect);
    child.stderr.on('data', collect);
    const deadline = Date.now() + START_MS;
    while (!this.#output.includes('"url"')) {
      if (child.exitCode !== null || Date.now() > deadline)
        throw new Error(`the stand-in did not start: ${this.#output}`);
      await delay(25);
    }
  }

  /** As a power cut would. */
  async kill(): Promise<void> {
    const child = this.#child;
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const exited = once(child, 'exit');
    child.kill('SIGKILL');
    await exited;
  }

  async close(): Promise<void> {
    await this.kill();
    process.off('exit', this.#onExit);
    await this.#directory.remove();
  }
}
