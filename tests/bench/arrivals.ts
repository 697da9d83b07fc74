import { pause } from './webhook-bench-world.ts';
import type { Receiver } from './webhook-bench-world.ts';

/** Counts what has arrived; more may be under way than was answered in time. */
export class Arrivals {
  readonly #receiver: Receiver;
  #seen = 0;
  #wanted = 0;

  constructor(receiver: Receiver) {
    this.#receiver = receiver;
  }

  /** Waits for so many more; answers when the last one came, by the clock of this process. */
  async until(count: number): Promise<number> {
    this.#wanted += count;
    let last = 0;
    while (this.#seen < this.#wanted) {
      const arrivals = await this.#receiver.arrivals();
      this.#seen += arrivals.length;
      last = arrivals.reduce((latest, { at }) => Math.max(latest, at), last);
      await pause(20);
    }
    return last - performance.timeOrigin;
  }
}
