import { setImmediate as everythingElse } from 'node:timers/promises';
import type { Pause } from '../../application/support/retry.ts';

/** Time that passes only when a test lets it: from one moment that something waits for to the next. */
export class PassingTime {
  #now = 0;
  readonly #waiting = new Set<{ readonly at: number; readonly wake: () => void }>();

  readonly now = (): number => this.#now;

  readonly pause: Pause = (ms, signal) =>
    new Promise((resolve) => {
      const wake = (): void => {
        this.#waiting.delete(one);
        signal.removeEventListener('abort', wake);
        resolve();
      };
      const one = { at: this.#now + ms, wake };
      this.#waiting.add(one);
      if (signal.aborted) wake();
      else signal.addEventListener('abort', wake);
    });

  /** How many milliseconds passed until then. */
  async until(what: string, condition: () => boolean, withinMs = 5_000): Promise<number> {
    const begun = this.#now;
    for (;;) {
      await everythingElse();
      if (condition()) return this.#now - begun;
      const [first] = [...this.#waiting].sort((one, other) => one.at - other.at);
      if (first === undefined || first.at - begun > withinMs)
        throw new Error(`not within ${withinMs} ms: ${what}`);
      this.#now = Math.max(this.#now, first.at);
      first.wake();
    }
  }
}
