import type { RecentEvents } from './recent-events.ts';

/** A foreign append is certain at the second look, so it is noticed within twice this time. */
const LOOK_INTERVAL_MS = 80;

/**
 * Notices an end of the log that this process has not written: another process's work, or that of a writer that died before it
 * could answer. One look is not enough, because the answer to an append of our own may just be on its way.
 */
export class ForeignAppends {
  readonly #recent: RecentEvents;
  readonly #readEnd: () => Promise<number>;
  #timer: NodeJS.Timeout | undefined;
  #looking = false;
  #seen = 0;

  constructor(recent: RecentEvents, readEnd: () => Promise<number>) {
    this.#recent = recent;
    this.#readEnd = readEnd;
  }

  watch(): void {
    this.#timer ??= setInterval(() => void this.#look(), LOOK_INTERVAL_MS);
  }

  rest(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  async #look(): Promise<void> {
    if (this.#looking) return;
    this.#looking = true;
    try {
      const end = await this.#readEnd();
      this.#recent.advanceTo(this.#seen);
      this.#seen = end;
    } catch {
      // The reader is being started again, or the store is closing: there will be another look, or need not be.
    } finally {
      this.#looking = false;
    }
  }
}
