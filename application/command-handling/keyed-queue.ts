import { BusyError } from '../ports/busy-error.ts';

export class KeyedQueue {
  readonly #tails = new Map<string, Promise<unknown>>();
  readonly #patienceMs: number;

  /** @param patienceMs the longest time in the queue after which a task is still begun */
  constructor(patienceMs = Infinity) {
    this.#patienceMs = patienceMs;
  }

  /** @throws BusyError it waited too long behind others of its key; it was not begun, and never will be */
  async run<T>(key: string, task: () => Promise<T>): Promise<T> {
    const before = this.#tails.get(key);
    const queuedAt = performance.now();
    const begin = (): Promise<T> => {
      if (performance.now() - queuedAt <= this.#patienceMs) return task();
      throw new BusyError(`waited too long behind others for ${key}`);
    };
    const mine = before === undefined ? task() : before.then(begin);
    // The tail never rejects: a failure is its own caller's, not the next one's.
    const tail = mine.then(ignore, ignore);
    this.#tails.set(key, tail);
    try {
      return await mine;
    } finally {
      if (this.#tails.get(key) === tail) this.#tails.delete(key);
    }
  }
}

const ignore = (): void => undefined;
