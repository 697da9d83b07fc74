import type { LogPosition } from '../../application/ports/event-store.ts';
import { messageOf } from '../../application/support/failures.ts';
import { LogTail } from '../support/log-tail.ts';
import { pause } from '../support/time.ts';
import { UnreadableLogError, endOf, readLog } from './log-reading.ts';
import type { SubscriptionSource } from './log-reading.ts';
import { placeOf } from './subscription-feed.ts';
import type { FeedItem } from './subscription-feed.ts';

const BATCH = 500;
const PAUSE_MS = 1_000;
/** Kept for so long without a follower: a follower that failed comes back. */
const LINGER_MS = 1_000;

/** Reads the end of the log by one subscription for all that follow it here. */
export class SharedReading {
  readonly tail = new LogTail<FeedItem>(this, (item) => (item.kind === 'event' ? item.event.data.length : 0));
  readonly #source: SubscriptionSource;
  readonly #prefixes: readonly string[];
  /** Everything behind this place is kept. */
  #low: LogPosition | 'start' | undefined;
  /** Another one begins when the log was left, or turned out to be another. */
  #epoch = 0;
  #live = false;
  /** Its subscription is lost: what is kept may be of a log that was put back to an older state meanwhile. */
  #lost = false;
  #failure: Error | undefined;
  #failingSince: number | undefined;
  #stop: AbortController | undefined;
  #linger: NodeJS.Timeout | undefined;

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

  begin(): void {
    clearTimeout(this.#linger);
    if (this.#stop) return;
    this.#stop = new AbortController();
    void this.#run(this.#stop.signal);
  }

  rest(): void {
    this.#linger = setTimeout(() => this.close(), LINGER_MS);
  }

  close(): void {
    clearTimeout(this.#linger);
    this.#stop?.abort();
    this.#stop = undefined;
    this.#restart(undefined);
  }

  /** What is kept is of the log as it is, as far as is known. */
  get isCertain(): boolean {
    return this.#low !== undefined && !this.#lost;
  }

  /** Resolves once it reads, or the signal has aborted. @throws when nothing can be read */
  async reads(signal: AbortSignal): Promise<void> {
    while (!this.isCertain && !signal.aborted) {
      if (this.#failure) throw this.#failure;
      await this.tail.news(this.tail.high, signal);
    }
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
    this.#failure = this.#failingSince = undefined;
    this.#restart(from);
    const onLost = (): void => void (this.#lost = true);
    const options = { from, prefixes: this.#prefixes, batchSize: BATCH, signal, onLost };
    for await (const items of readLog(this.#source, options)) this.#push(items);
  }

  #push(items: readonly FeedItem[]): void {
    this.#lost = false;
    // A follower that joins finds the end by itself; only a later catching up, after a gap, is told to all.
    const firstEnd = this.#live ? undefined : items.find(({ kind }) => kind === 'caught_up');
    this.#live ||= firstEnd !== undefined;
    const left = this.tail.push(firstEnd ? items.filter((item) => item !== firstEnd) : items);
    for (const item of left) this.#low = placeOf(item) ?? this.#low;
  }

  #restart(low: LogPosition | 'start' | undefined): void {
    this.#epoch++;
    this.#low = low;
    this.#live = this.#lost = false;
    // A number is left out, so that nobody who stood at the last one reads on.
    this.tail.restart(this.tail.high + 1);
  }

  /** Followers are not told of a short outage; of a longer one, or of a log that cannot be read at all, each of them is. */
  #failed(error: unknown): void {
    this.#failingSince ??= performance.now();
    const failing = performance.now() - this.#failingSince;
    const wrapped = error instanceof Error ? error : new Error(messageOf(error));
    if (error instanceof UnreadableLogError || failing >= this.#source.unconfirmedMs) this.#failure = wrapped;
    else this.#source.logger?.warn({ err: error }, 'EventStoreDB cannot be read; trying again');
    this.#restart(undefined);
  }
}
