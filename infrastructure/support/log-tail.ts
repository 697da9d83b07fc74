const MAX_ITEMS = 8_192;
const MAX_CHARACTERS = 32_000_000;

/** Reads the end of the log into the tail while somebody follows it there. */
interface TailReading {
  begin(): void;
  rest(): void;
}

/**
 * The end of the log, read once by a process for all that follow it there: the newest items, numbered without a hole, up to a bound.
 * Reading never waits for a follower; one that falls behind what is kept reads by itself until it has caught up.
 */
export class LogTail<Item> {
  readonly #reading: TailReading;
  readonly #charactersOf: (item: Item) => number;
  #items: Item[] = [];
  #characters = 0;
  #low = 0;
  #followers = 0;
  readonly #waiters = new Set<() => void>();

  constructor(reading: TailReading, charactersOf: (item: Item) => number) {
    this.#reading = reading;
    this.#charactersOf = charactersOf;
  }

  get high(): number {
    return this.#low + this.#items.length;
  }

  /** At most so many items behind that number; undefined when they are not kept. */
  after(number: number, limit: number): readonly Item[] | undefined {
    if (number < this.#low) return undefined;
    return this.#items.slice(number - this.#low, number - this.#low + limit);
  }

  /** Number of the newest item for which this holds; where there is none, of the one before all that are kept. */
  newest(holds: (item: Item) => boolean): number {
    return this.#low + this.#items.findLastIndex(holds) + 1;
  }

  /** The answer is what had to leave, oldest first. */
  push(items: readonly Item[]): readonly Item[] {
    for (const item of items) {
      this.#items.push(item);
      this.#characters += this.#charactersOf(item);
    }
    const isFull = this.#items.length > MAX_ITEMS || this.#characters > MAX_CHARACTERS;
    const left = isFull ? this.#items.splice(0, Math.ceil(this.#items.length / 2)) : [];
    this.#low += left.length;
    for (const item of left) this.#characters -= this.#charactersOf(item);
    this.#wake();
    return left;
  }

  /** Nothing is kept any more; the next item comes behind this number. */
  restart(number: number): void {
    this.#items = [];
    this.#characters = 0;
    this.#low = number;
    this.#wake();
  }

  /** Waits for what comes behind the number. False when the time was up; true when there may be more or the signal has aborted. */
  news(number: number, signal: AbortSignal, ms?: number): Promise<boolean> {
    return new Promise((resolve) => {
      if (signal.aborted || this.high > number) {
        resolve(true);
        return;
      }
      const finish = (came: boolean): void => {
        clearTimeout(timer);
        this.#waiters.delete(goOn);
        signal.removeEventListener('abort', goOn);
        resolve(came);
      };
      const goOn = (): void => finish(true);
      const timer = ms === undefined ? undefined : setTimeout(() => finish(false), ms);
      this.#waiters.add(goOn);
      signal.addEventListener('abort', goOn);
    });
  }

  /** Hands on what one follower is told, until the signal aborts, and has the log read for as long as there is one. */
  async *follow<Message>(
    messages: AsyncIterable<Message>,
    signal: AbortSignal,
  ): AsyncGenerator<Message, void, undefined> {
    if (signal.aborted) return;
    let follows = true;
    const leave = (): void => {
      if (follows && --this.#followers === 0) this.#reading.rest();
      follows = false;
    };
    if (++this.#followers === 1) this.#reading.begin();
    // A consumer that aborts may never ask for another message, so `finally` alone would not do.
    signal.addEventListener('abort', leave);
    try {
      for await (const message of messages) {
        if (signal.aborted) return;
        yield message;
      }
    } finally {
      signal.removeEventListener('abort', leave);
      leave();
    }
  }

  #wake(): void {
    const waiters = [...this.#waiters];
    this.#waiters.clear();
    for (const waiter of waiters) waiter();
  }
}
