import { execFile, fork } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readdir, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { temporaryDirectory } from '../temporary-directory.ts';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const MAIN = fileURLToPath(new URL('process-main.ts', import.meta.url));
const RELEASES = join(ROOT, 'tests/fixtures/releases');

/** The packages of today beside those that only the earlier release needs. */
const linkPackages = async (from: string, to: string): Promise<void> => {
  const own = new Set(await readdir(to));
  const names = (await readdir(from)).filter((name) => !name.startsWith('.') && !own.has(name));
  await Promise.all(names.map((name) => symlink(join(from, name), join(to, name))));
};

/** A service of an earlier release, in a process of its own, on a clock that tests move. */
export class EarlierRelease {
  readonly address: string;
  /** Its errors. */
  output = '';
  readonly #child: ChildProcess;
  #calls = 0;

  private constructor(child: ChildProcess, address: string) {
    this.#child = child;
    this.address = address;
    for (const stream of [child.stdout!, child.stderr!])
      stream.on('data', (chunk: Buffer) => void (this.output += chunk.toString()));
  }

  /** @param environment variables of the service; it listens on their HOST and PORT */
  static async start(
    version: string,
    environment: Readonly<Record<string, string>>,
    now: string,
  ): Promise<EarlierRelease> {
    const path = temporaryDirectory();
    await promisify(execFile)('tar', ['-C', path, '-xzf', join(RELEASES, `${version}.tar.gz`)]);
    await linkPackages(join(ROOT, 'node_modules'), join(path, 'node_modules'));
    const options = { cwd: path, silent: true, execArgv: ['--no-warnings'] };
    const address = `http://${environment['HOST']}:${environment['PORT']}`;
    const release = new EarlierRelease(fork(MAIN, options), address);
    await release.#call('start', { environment, now });
    return release;
  }

  setTime(now: string): Promise<void> {
    return this.#call('setTime', now);
  }

  /** Outcomes in the order of the decisions. */
  decide(texts: readonly string[]): Promise<readonly string[]> {
    return this.#call('decide', texts);
  }

  /** A token by its own clock. */
  issue(client: object): Promise<string> {
    return this.#call('issue', client);
  }

  async close(): Promise<void> {
    if (this.#child.connected) {
      const exited = once(this.#child, 'exit');
      await this.#call('stop').finally(() => this.#child.kill('SIGKILL'));
      await exited;
    }
  }

  async #call<Result>(name: string, argument?: unknown): Promise<Result> {
    const id = (this.#calls += 1);
    const ended = new AbortController();
    try {
      return await new Promise<Result>((resolve, reject) => {
        const heard = (answer: { id: number; result: Result; error?: string }): void => {
          if (answer.id !== id) return;
          if (answer.error === undefined) resolve(answer.result);
          else reject(new Error(`${name} of the earlier release: ${answer.error}`));
        };
        const died = (): void => reject(new Error(`the earlier release ended: ${this.output}`));
        this.#child.on('message', heard).on('exit', died);
        ended.signal.addEventListener('abort', () => this.#child.off('message', heard).off('exit', died));
        this.#child.send({ id, name, argument });
      });
    } finally {
      ended.abort();
    }
  }
}
