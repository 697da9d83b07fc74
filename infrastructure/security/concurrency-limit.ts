import { BusyError } from '../../application/ports/busy-error.ts';

/** Runs at most `running` tasks at once; at most `waiting` more queue, first come first served. */
export class ConcurrencyLimit {
  readonly #running: number;
  readonly #waiting: number;
  readonly #queue: (() => void)[] = [];
  #active = 0;

  constructor(running: number, waiting: number) {
    this.#running = running;
    this.#waiting = waiting;
  }

  /** @throws BusyError when the queue is full */
  async run<Result>(task: () => Promise<Result>): Promise<Result> {
    await this.#enter();
    try {
      return await task();
    } finally {
      this.#leave();
    }
  }

  async #enter(): Promise<void> {
    if (this.#active < this.#running) {
      this.#active += 1;
      return;
    }
    if (this.#queue.length >= this.#waiting) throw new BusyError('too many are waiting already');
    await new Promise<void>((resolve) => this.#queue.push(resolve));
  }

  /** A place is handed over, not freed, so that nobody overtakes the queue. */
  #leave(): void {
    const next = this.#queue.shift();
    if (next === undefined) this.#active -= 1;
    else next();
  }
}
