import type { LogPosition } from '../../application/ports/event-store.ts';
import { messageOf } from '../../application/support/failures.ts';
import { pause, unlessAborted } from '../support/time.ts';
import { UnreadableLogError, endOf, readLog } from './log-reading.ts';
import type { SubscriptionSource } from './log-reading.ts';
import { isLater } from './event-wire.ts';
import type { FeedItem } from './subscription-feed.ts';

const MAX_ITEMS = 8_192;
const MAX_CHARACTERS = 32_000_000;
const BATCH = 500;
const PAUSE_MS = 1_000;
/** Kept for so long without a follower: a follower that failed comes back. */
const LINGER_MS = 1_000;

const placeOf = (item: FeedItem): LogPosition | undefined => {
  if (item.kind === 'event') return item.event.position;
  return item.kind === 'checkpoint' ? item.checkpoint : undefined;
};

const charactersOf = (item: FeedItem): number => (item.kind === 'event' ? item.event.data.length : 0);

/**
 * The end of the log, read once by a process for all that follow it there: the newest items, without a hole, up to a bound. It never
 * waits for a follower; one that falls behind what is kept reads by itself until it has caught up.
 */
export class SharedReading {
  readonly #source: SubscriptionSource;
  readonly #prefixes: readonly string[];
  #items: FeedItem[] = [];
  #characters = 0;
  /** How many items were kept before the first of these. */
  #dropped = 0;
  /** Everything behind this place is kept. */
  #low: LogPosition | 'start' | undefined;
  /** Another one begins when the log was left, or turned out to be another. */
  #epoch = 0;
  #live = false;
  #failure: Error | undefined;
  #failingSince: number | undefined;
  #followers = 0;
  #stop: AbortController | undefined;
  #linger: NodeJS.Timeout | undefined;
  readonly #waiters = new Set<() => void>();

  constructor(source: SubscriptionSource, prefixes: readonly string[]) {
    this.#source = source;
    this.#prefixes = prefixes;
  }

  get epoch(): number {
    return this.#epoch;
  }

  get low(): LogPosition | 'start' | undefined {
    return this.#low;
  }

  /** Counts a follower in; the answer counts it out, once. */
  join(): () => void {
    this.#followers++;
    clearTimeout(this.#linger);
    if (!this.#stop) {
      this.#stop = new AbortController();
      void this.#run(this.#stop.signal);
    }
    let joined = true;
    return () => {
      if (joined && --this.#followers === 0) this.#linger = setTimeout(() => this.close(), LINGER_MS);
      joined = false;
    };
  }

  close(): void {
    clearTimeout(this.#linger);
    this.#stop?.abort();
    this.#stop = undefined;
    this.#restart(undefined);
  }

  /** Resolves when there is something new to see, or the signal has ended. @throws when nothing can be read */
  async change(signal: AbortSignal): Promise<void> {
    if (this.#failure) throw this.#failure;
    let forget = (): void => undefined;
    const changed = new Promise<void>((resolve) => {
      this.#waiters.add(resolve);
      forget = () => this.#waiters.delete(resolve);
    });
    await unlessAborted(changed, signal);
    forget();
  }

  /** The number of the first item behind a place; undefined when it is not kept. */
  numberAfter(place: LogPosition | 'start'): number | undefined {
    if (this.#low === undefined || (place !== this.#low && !isLaterThan(place, this.#low))) return undefined;
    const upTo = this.#items.findLastIndex((item) => {
      const at = placeOf(item);
      return at !== undefined && !isLater(at, place);
    });
    return this.#dropped + upTo + 1;
  }

  /** At most so many items from that number on; undefined when they are not kept any more. */
  after(number: number, limit: number): readonly FeedItem[] | undefined {
    if (number < this.#dropped) return undefined;
    return this.#items.slice(number - this.#dropped, number - this.#dropped + limit);
  }

  async #run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      try {
        await this.#read(signal);
      } catch (error) {
        if (signal.aborted) return;
        this.#failed(error);
        await pause(PAUSE_MS, signal);
      }
    }
  }

  async #read(signal: AbortSignal): Promise<void> {
    const end = await endOf(this.#source.reader);
    if (signal.aborted) return;
    const from: LogPosition | 'start' = end?.position ?? 'start';
    this.#restart(from);
    const options = { from, prefixes: this.#prefixes, batchSize: BATCH, signal };
    for await (const items of readLog(this.#source, options)) this.#push(items);
  }

  #push(items: readonly FeedItem[]): void {
    this.#failure = undefined;
    this.#failingSince = undefined;
    for (const item of items) {
      if (item.kind === 'fell_behind') continue;
      // A follower that joins finds the end by itself; only a later catching up, after a gap, is told to all.
      if (item.kind === 'caught_up' && !this.#live) this.#live = true;
      else this.#items.push(item);
      this.#characters += charactersOf(item);
    }
    if (this.#items.length > MAX_ITEMS || this.#characters > MAX_CHARACTERS) this.#shrink();
    this.#wake();
  }

  #shrink(): void {
    const dropped = this.#items.splice(0, Math.ceil(this.#items.length / 2));
    this.#dropped += dropped.length;
    for (const item of dropped) {
      this.#characters -= charactersOf(item);
      this.#low = placeOf(item) ?? this.#low;
    }
  }

  #restart(low: LogPosition | 'start' | undefined): void {
    this.#epoch++;
    this.#dropped += this.#items.length;
    this.#items = [];
    this.#characters = 0;
    this.#low = low;
    this.#live = false;
    if (low !== undefined) this.#failure = this.#failingSince = undefined;
    this.#wake();
  }

  /** Followers are not told of a short outage; of a longer one, or of a log that cannot be read at all, each of them is. */
  #failed(error: unknown): void {
    this.#failingSince ??= performance.now();
    const failing = performance.now() - this.#failingSince;
    const wrapped = error instanceof Error ? error : new Error(messageOf(error));
    if (error instanceof UnreadableLogError || failing >= this.#source.unconfirmedMs) this.#failure = wrapped;
    else this.#source.logger?.warn({ err: error }, 'EventStoreDB cannot be read; trying again');
    if (error instanceof RangeError) this.#restart(undefined);
    this.#wake();
  }

  #wake(): void {
    const waiters = [...this.#waiters];
    this.#waiters.clear();
    for (const waiter of waiters) waiter();
  }
}

const isLaterThan = (place: LogPosition | 'start', than: LogPosition | 'start'): boolean =>
  place !== 'start' && isLater(place, than);
