import { fork } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const PROGRAM = fileURLToPath(new URL('./pdf-parser-main.ts', import.meta.url));

/** What keeps a file from being a PDF that can be read. */
export type PdfFlaw = 'unreadable' | 'password' | 'too_costly';
export type PdfVerdict = 'readable' | PdfFlaw;

/**
 * A process that parses one file at a time. Not a worker thread: the parser can make V8 run out of memory in a single step, and
 * then it ends the whole process, whatever limits a thread was given.
 */
export class PdfProcess {
  readonly #child: ChildProcess;
  #alive = true;

  /** @param megabytes resident memory beyond which the process kills itself */
  constructor(megabytes: number) {
    this.#child = fork(PROGRAM, [String(megabytes)], {
      env: {},
      execArgv: [`--max-old-space-size=${megabytes}`, '--disable-warning=ExperimentalWarning'],
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    });
    this.#child.on('error', () => (this.#alive = false)).on('exit', () => (this.#alive = false));
    this.#rest();
  }

  get alive(): boolean {
    return this.#alive;
  }

  /** @throws Error when the process could not be started */
  async check(path: string, milliseconds: number): Promise<PdfVerdict> {
    const child = this.#child;
    child.ref();
    child.channel?.ref();
    try {
      return await new Promise<PdfVerdict>((resolve, reject) => {
        const timer = setTimeout(() => this.kill(), milliseconds);
        // A file that kills its process is a file that we do not want.
        const onExit = (): void => settle(() => resolve('too_costly'));
        const onError = (error: Error): void => settle(() => reject(error));
        const onMessage = (verdict: unknown): void => settle(() => resolve(verdict as PdfVerdict));
        const settle = (outcome: () => void): void => {
          clearTimeout(timer);
          child.off('message', onMessage).off('exit', onExit).off('error', onError);
          outcome();
        };
        child.on('message', onMessage).on('exit', onExit).on('error', onError);
        // A failed send is followed by one of the events above.
        child.send(path, () => undefined);
      });
    } finally {
      this.#rest();
    }
  }

  kill(): void {
    this.#alive = false;
    this.#child.kill('SIGKILL');
  }

  /** An idle process does not keep the service from ending. */
  #rest(): void {
    this.#child.unref();
    this.#child.channel?.unref();
  }
}
