import { once } from 'node:events';
import { createInterface } from 'node:readline/promises';
import type { Writable } from 'node:stream';
import { Presets, SingleBar } from 'cli-progress';
import { onInterruption } from '../support/interruptions.ts';
import { OutputClosedError } from './command-line.ts';
import type { CliDependencies, Progress } from './command-line.ts';

/** Standard output that waits for a slow reader and notices one that has left, as `head` does, or a disk that is full. */
export class CommandOutput {
  readonly #stream: Writable;
  readonly #closed = new AbortController();
  #failure: Error | undefined;

  /** @param others streams that nothing depends on, such as standard error */
  constructor(stream: Writable, others: readonly Writable[] = []) {
    this.#stream = stream;
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EPIPE') this.#failure ??= error;
      this.#closed.abort();
    });
    for (const other of others) other.on('error', () => undefined);
  }

  /** Aborts when nothing can be written any more. */
  get closed(): AbortSignal {
    return this.#closed.signal;
  }

  /** Resolves when there is room for more. @throws OutputClosedError */
  async write(text: string): Promise<void> {
    const signal = this.closed;
    if (!signal.aborted && this.#stream.write(text)) return;
    if (!signal.aborted) await once(this.#stream, 'drain', { signal }).catch(() => undefined);
    if (signal.aborted) throw new OutputClosedError();
  }

  /** Why not all that was written has arrived; a reader that left wanted no more. */
  async failure(): Promise<Error | undefined> {
    if (!this.closed.aborted) await new Promise((written) => this.#stream.write('', written));
    return this.#failure;
  }
}

/** Ends with SIGINT, SIGTERM or the reader of the output, so that the command can finish in order. A second signal kills. */
export const untilInterrupted = ({ closed }: CommandOutput): AbortSignal => {
  const interrupted = new AbortController();
  onInterruption({
    first: () => interrupted.abort(),
    again: (signal) => process.removeAllListeners(signal).kill(process.pid, signal),
  });
  return AbortSignal.any([interrupted.signal, closed]);
};

const INTERRUPT = '\u0003';

/** Keys as they are typed on a terminal; where there is none, the first letter of each line of standard input. */
export const onKey = (listener: (key: string) => void, signal: AbortSignal): void => {
  const { stdin } = process;
  const raw = stdin.isTTY;
  if (raw) stdin.setRawMode(true);
  const onData = (chunk: Buffer): void => {
    const text = chunk.toString('utf8');
    if (!raw) return text.split('\n').forEach((line) => line !== '' && listener(line[0]!));
    // A terminal that hands over every key leaves interruptions to the program.
    for (const key of text)
      if (key === INTERRUPT) process.kill(process.pid, 'SIGINT');
      else listener(key);
  };
  stdin.on('data', onData);
  signal.addEventListener('abort', () => {
    stdin.off('data', onData);
    if (raw) stdin.setRawMode(false);
    stdin.pause();
  });
};

/** Whether a table may be coloured: on a terminal, unless NO_COLOR says otherwise (https://no-color.org). */
export const showsColours = (stream: NodeJS.WriteStream, environment: NodeJS.ProcessEnv): boolean =>
  stream.isTTY && (environment['NO_COLOR'] ?? '') === '' && environment['TERM'] !== 'dumb';

/** Asks on the terminal; undefined where there is none. */
export const ask = async (question: string): Promise<string | undefined> => {
  if (!process.stdin.isTTY || !process.stderr.isTTY) return undefined;
  using terminal = createInterface({ input: process.stdin, output: process.stderr });
  return await terminal.question(question);
};

const SILENT: Progress = { advance: () => undefined, [Symbol.dispose]: () => undefined };

/** A bar on a terminal; nothing at all in a pipe or a file, where it would be noise. */
export const progressOn =
  (stream: NodeJS.WriteStream): CliDependencies['startProgress'] =>
  (total) => {
    if (!stream.isTTY || total === 0) return SILENT;
    const bar = new SingleBar(
      { stream, format: '{bar} {percentage}% | {value}/{total} | {eta_formatted} left', hideCursor: true },
      Presets.shades_classic,
    );
    bar.start(total, 0);
    return { advance: (steps = 1) => bar.increment(steps), [Symbol.dispose]: () => bar.stop() };
  };
