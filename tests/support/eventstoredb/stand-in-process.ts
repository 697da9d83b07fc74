import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { freePort } from '../service-process.ts';
import { temporaryDirectory } from '../temporary-directory.ts';

const main = fileURLToPath(new URL('./main.ts', import.meta.url));

/** The stand-in as a process of its own, to be killed and started again on the same port and directory. */
export class StandInProcess {
  readonly port: number;
  readonly #dataDir: string;
  #child: ChildProcess | undefined;

  private constructor(port: number, dataDir: string) {
    this.port = port;
    this.#dataDir = dataDir;
  }

  static async start(dataDir = temporaryDirectory()): Promise<StandInProcess> {
    const standIn = new StandInProcess(await freePort(), dataDir);
    await standIn.restart();
    return standIn;
  }

  get url(): string {
    return this.urlAt(this.port);
  }

  /** For whoever reaches it over another port, such as a proxy's. */
  urlAt(port: number): string {
    return `esdb://127.0.0.1:${port}?tls=false`;
  }

  /** Resolves when it takes calls. */
  async restart(): Promise<void> {
    const args = [main, '--port', String(this.port), '--data-dir', this.#dataDir];
    const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
    this.#child = child;
    const lines = createInterface({ input: child.stdout });
    const died = once(child, 'exit').then(([code]) => {
      throw new Error(`the stand-in ended with code ${String(code)} before it was ready`);
    });
    await Promise.race([once(lines, 'line'), died]);
    died.catch(() => undefined);
  }

  /** At once, in the middle of whatever it does. */
  async kill(): Promise<void> {
    const child = this.#child;
    this.#child = undefined;
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const gone = once(child, 'exit');
    child.kill('SIGKILL');
    await gone;
  }
}
