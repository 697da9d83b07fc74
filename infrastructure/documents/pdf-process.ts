import { spawn } from 'node:child_process';
import type { ChildProcessByStdio } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { InspectorAwayError } from '../../application/ports/busy-error.ts';
import type { ReceivedFile } from '../../application/ports/document-store.ts';
import { messageOf } from '../../application/support/failures.ts';

interface ProcessUse {
  /** Processor time of all its threads. */
  readonly milliseconds: number;
  /** Resident memory. */
  readonly megabytes: number;
}

/** /proc counts in hundredths of a second, whatever the frequency of the kernel. */
const MS_A_TICK = 10;
const USER_TIME = 11;
const SYSTEM_TIME = 12;

/**
 * Read from /proc, in some twenty microseconds and without libuv's threads, which may all be busy. Undefined when the process is
 * gone, or where there is no /proc.
 */
export const useOf = (pid: number): ProcessUse | undefined => {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    // The name, in parentheses, may hold blanks itself.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    const resident = /^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'latin1'))?.[1];
    return {
      milliseconds: (Number(fields[USER_TIME]) + Number(fields[SYSTEM_TIME])) * MS_A_TICK,
      megabytes: Number(resident ?? 0) / 1024,
    };
  } catch {
    return undefined;
  }
};

const PROGRAM = fileURLToPath(new URL('./pdf-parser-main.ts', import.meta.url));

export type PdfVerdict = 'readable' | 'unreadable' | 'password' | 'too_costly';

export interface PdfLimits {
  /** Processor time for one file. */
  readonly milliseconds: number;
  /** Resident memory. */
  readonly megabytes: number;
  /** Wall-clock time that it may pass with next to no processor time: it hangs then; one that a busy machine keeps waiting does not. */
  readonly patienceMs: number;
  /** Files checked at once. One application may have one fewer; so may all applications together that sent too costly files lately. */
  readonly processes: number;
  /** Files of one application that may wait, and for how long. */
  readonly waiting: number;
  readonly waitingMs: number;
}

/**
 * The result for a file. `too_large`: it needed more memory than was left; earlier files may have taken some.
 * `given_up`: its caller had gone, and it had not proven costly by then.
 */
type ProcessVerdict = PdfVerdict | 'too_large' | 'given_up';

const WATCH_EVERY_MS = 20;
const LONGEST_LINE = 64;
/** Processor time for a file whose caller has gone: enough for an ordinary file, so that its process need not be killed. */
const LEFT_MS = 250;
/** What is left to a process of its priority where twenty others want each processor. */
const LEAST_SHARE = 0.005;
const NO_USE: ProcessUse = { milliseconds: 0, megabytes: 0 };
/** Seconds of processor time after which the kernel ends the process, even when the service has ended. */
const LIFETIME_SECONDS = 30;
/** A process is replaced early enough that the kernel's limit never ends it during an ordinary file. */
const RETIRED_AFTER_MS = 20_000;

const COMMAND = `ulimit -t ${LIFETIME_SECONDS}; ulimit -c 0; exec nice -n 10 "$0" "$@"`;

/** Lines of the process: this one once it has read its code, then one of the others for each file. */
const READY = 'ready';
const VERDICTS: ReadonlySet<string> = new Set<PdfVerdict>(['readable', 'unreadable', 'password']);

const pathOf = (specifier: string): string => fileURLToPath(import.meta.resolve(specifier));

/**
 * The process may read its own code and nothing else: no other file, no writing, no process, no thread, no code from strings.
 * Files come to it over its standard input. The network stays open, because Node's permission model does not cover it.
 */
export const parserArguments = (program: string, megabytes: number): string[] => {
  const parser = pathOf('unpdf/pdfjs');
  // Node reads the type of the modules from package.json.
  const packages = [join(dirname(parser), '../package.json'), pathOf('../../package.json')];
  return [
    '--permission',
    ...[program, parser, ...packages].map((path) => `--allow-fs-read=${path}`),
    '--disallow-code-generation-from-strings',
    '--disable-warning=ExperimentalWarning',
    `--max-old-space-size=${megabytes}`,
    program,
  ];
};

/**
 * A process that parses one file at a time. It is no worker thread, because the parser can make V8 run out of memory in a single step,
 * and V8 then ends the whole process in spite of a thread's limits. It runs with a lower priority than the service.
 */
export class PdfProcess {
  readonly #child: ChildProcessByStdio<Writable, Readable, null>;
  readonly #limits: PdfLimits;
  readonly #started: Promise<boolean>;
  #alive = true;
  #ready = false;
  #served = 0;
  #line = '';
  #onLine: (line: string) => void = () => undefined;

  /**
   * @param program a test may run another program with the parser's rights
   * @throws InspectorAwayError the system has no room for a process or its pipes
   */
  constructor(limits: PdfLimits, program = PROGRAM) {
    this.#limits = limits;
    this.#child = start(program, limits.megabytes);
    this.#child.on('error', () => (this.#alive = false)).on('exit', () => (this.#alive = false));
    // A failed write means that the process died, which its exit tells.
    this.#child.stdin.on('error', () => undefined);
    this.#child.stdout.setEncoding('latin1').on('data', (text: string) => this.#onText(text));
    this.#started = this.#answer().then((line) => (this.#ready = line === READY));
    this.#rest();
  }

  get alive(): boolean {
    return this.#alive;
  }

  /** True while no file has used its memory. */
  get fresh(): boolean {
    return this.#served === 0;
  }

  /**
   * @param left aborted once the caller has gone: an ordinary file is finished, a costly one given up soon
   * @throws InspectorAwayError the process did not start in time @throws Error the content could not be read
   */
  async check(file: ReceivedFile, left: AbortSignal | undefined): Promise<ProcessVerdict> {
    this.#hold();
    try {
      if (!this.#ready && !(await this.#started)) {
        this.kill();
        throw new InspectorAwayError(
          `the process that parses PDFs did not start: it ended, or had next to no processor for ${this.#limits.patienceMs} ms`,
        );
      }
      this.#served += 1;
      return await this.#judge(file, left);
    } finally {
      this.#rest();
      if (this.#alive && this.#use().milliseconds > RETIRED_AFTER_MS) this.kill();
    }
  }

  async #judge(file: ReceivedFile, left: AbortSignal | undefined): Promise<ProcessVerdict> {
    const before = this.#use().milliseconds;
    // A process that ends by itself has reached V8's memory limit.
    let cause: ProcessVerdict = 'too_large';
    const watch = setInterval(() => {
      const { milliseconds, megabytes } = this.#use();
      const spent = milliseconds - before;
      const limit = left?.aborted === true ? LEFT_MS : this.#limits.milliseconds;
      if (spent <= limit && megabytes <= this.#limits.megabytes) return;
      if (spent > limit) cause = spent > this.#limits.milliseconds / 2 ? 'too_costly' : 'given_up';
      this.kill();
    }, WATCH_EVERY_MS);
    try {
      const answer = this.#answer();
      // A content that cannot be read to its end leaves the process waiting for the rest of it.
      const fed = this.#feed(file).catch((error: unknown) => {
        this.kill();
        throw error;
      });
      const [line] = await Promise.all([answer, fed]);
      if (line !== undefined && VERDICTS.has(line)) return line as PdfVerdict;
      // A file that makes the parser answer something else, or nothing for too long, is refused.
      if (this.#alive) cause = 'too_costly';
      this.kill();
      return cause;
    } finally {
      clearInterval(watch);
    }
  }

  async #feed(file: ReceivedFile): Promise<void> {
    const { stdin } = this.#child;
    const length = Buffer.alloc(4);
    length.writeUInt32BE(file.size);
    stdin.write(length);
    for await (const piece of file.read()) {
      if (!this.#alive || !stdin.writable) return;
      if (!stdin.write(piece)) await drained(stdin);
    }
  }

  /** The next line; undefined when the process ends, or neither answers nor works. */
  async #answer(): Promise<string | undefined> {
    const { promise, resolve } = Promise.withResolvers<string | undefined>();
    const end = (): void => resolve(undefined);
    const { patienceMs } = this.#limits;
    let before = this.#use().milliseconds;
    const watch = setInterval(() => {
      const { milliseconds } = this.#use();
      if (milliseconds - before <= patienceMs * LEAST_SHARE) end();
      before = milliseconds;
    }, patienceMs);
    this.#onLine = resolve;
    this.#child.once('exit', end).once('error', end);
    if (!this.#alive) end();
    try {
      return await promise;
    } finally {
      clearInterval(watch);
      this.#onLine = () => undefined;
      this.#child.off('exit', end).off('error', end);
    }
  }

  #onText(text: string): void {
    this.#line += text;
    const end = this.#line.indexOf('\n');
    if (end < 0 && this.#line.length <= LONGEST_LINE) return;
    const line = this.#line.slice(0, Math.max(0, end));
    this.#line = '';
    this.#onLine(line);
  }

  #use(): ProcessUse {
    return (this.#child.pid === undefined ? undefined : useOf(this.#child.pid)) ?? NO_USE;
  }

  kill(): void {
    this.#alive = false;
    this.#child.kill('SIGKILL');
  }

  #hold(): void {
    this.#child.ref();
    for (const stream of [this.#child.stdin, this.#child.stdout]) (stream as unknown as Refable).ref();
  }

  /** An idle process does not keep the service from ending. */
  #rest(): void {
    this.#child.unref();
    for (const stream of [this.#child.stdin, this.#child.stdout]) (stream as unknown as Refable).unref();
  }
}

const start = (program: string, megabytes: number): ChildProcessByStdio<Writable, Readable, null> => {
  const options = { env: { PATH: '/usr/bin:/bin' } };
  try {
    const args = ['-c', COMMAND, process.execPath, ...parserArguments(program, megabytes)];
    const child = spawn('/bin/sh', args, { ...options, stdio: ['pipe', 'pipe', 'ignore'] });
    // Without room for its pipes it has none, whatever its type says, and tells why as an event.
    if ((child.stdin as Writable | undefined) !== undefined) return child;
    child.on('error', () => undefined);
  } catch (error) {
    throw new InspectorAwayError(`no process that parses PDFs: ${messageOf(error)}`, { cause: error });
  }
  throw new InspectorAwayError('no process that parses PDFs: too many files are open');
};

/** Resolves when there is room to write, or when the process has died. */
const drained = (stream: Writable): Promise<void> =>
  new Promise((resolve) => {
    const done = (): void => {
      stream.off('drain', done).off('close', done);
      resolve();
    };
    stream.on('drain', done).on('close', done);
  });

/** Pipes of child processes are sockets, which their types do not say. */
interface Refable {
  ref(): void;
  unref(): void;
}
