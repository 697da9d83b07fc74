import { once } from 'node:events';
import { createInterface } from 'node:readline/promises';
import type { Writable } from 'node:stream';
import { OutputClosedError } from '../cli/cli-services.ts';

/** Standard output that waits for a slow reader and notices one that has left, as `head` does. */
export class CommandOutput {
  readonly #stream: Writable;
  readonly #closed = new AbortController();

  constructor(stream: Writable) {
    this.#stream = stream;
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EPIPE') throw error;
      this.#closed.abort();
    });
  }

  /** Aborts when nobody reads any more. */
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
}

/** Ends with SIGINT, SIGTERM or the reader of the output, so that the command can finish in order. A second signal kills. */
export const untilInterrupted = ({ closed }: CommandOutput): AbortSignal => {
  const interrupted = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => interrupted.abort());
  return AbortSignal.any([interrupted.signal, closed]);
};

/** Asks on the terminal; undefined where nobody sits at one. */
export const ask = async (question: string): Promise<string | undefined> => {
  if (!process.stdin.isTTY || !process.stderr.isTTY) return undefined;
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  try {
    return await terminal.question(question);
  } finally {
    terminal.close();
  }
};
