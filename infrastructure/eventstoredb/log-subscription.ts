import {
  DESK_STREAM_PREFIX,
  DECISION_STREAM_PREFIX,
  FUND_STREAM_PREFIX,
  LOAN_STREAM_PREFIX,
  RENEGOTIATION_STREAM_PREFIX,
} from '../../application/command-handling/operation.ts';
import type {
  LogPosition,
  RecordedEvent,
  SubscribeOptions,
  SubscriptionMessage,
} from '../../application/ports/event-store.ts';
import { readLog, UnreadableLogError, endOf } from './log-reading.ts';
import type { SubscriptionSource } from './log-reading.ts';
import { fromLogPosition, isLater } from './event-wire.ts';
import { placeOf } from './subscription-feed.ts';
import type { FeedItem } from './subscription-feed.ts';
import { messageOf } from '../../application/support/failures.ts';
import { LogTail } from '../support/log-tail.ts';
import { pause } from '../support/time.ts';

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

export const OWN_STREAMS = [
  LOAN_STREAM_PREFIX,
  RENEGOTIATION_STREAM_PREFIX,
  FUND_STREAM_PREFIX,
  DESK_STREAM_PREFIX,
  DECISION_STREAM_PREFIX,
];

const DEFAULT_BATCH = 500;

/**
 * The server filters by kind of stream only, the rest is done here: it reports how far it has skipped once in some hundred events,
 * and what it hands out tells that exactly.
 */
const serverPrefixes = (prefix: string): readonly string[] =>
  prefix === '' ? OWN_STREAMS : [prefix.slice(0, prefix.indexOf('-') + 1) || prefix];

/**
 * Follows the log for one subscriber: from where it stands by a reading of its own, and from the end of the log on beside all others
 * of the process. Ends with the signal only.
 *
 * @throws RangeError the position does not fit the log
 * @throws StoreUnavailableError nothing can be read for a while already
 */
export const followLog = (
  source: SubscriptionSource,
  shared: SharedReading,
  options: SubscribeOptions,
  signal: AbortSignal,
): AsyncGenerator<SubscriptionMessage, void, undefined> => {
  if (options.from !== 'start') fromLogPosition(options.from);
  return shared.tail.follow(new Follower(source, shared, options, signal).messages(), signal);
};

class Follower {
  readonly #source: SubscriptionSource;
  readonly #shared: SharedReading;
  readonly #prefix: string;
  readonly #batchSize: number;
  readonly #signal: AbortSignal;
  /** What was looked at, and how far of that the subscriber was told. */
  #at: LogPosition | 'start';
  #told: LogPosition | 'start';

  constructor(
    source: SubscriptionSource,
    shared: SharedReading,
    { from, streamPrefix = '', batchSize = DEFAULT_BATCH }: SubscribeOptions,
    signal: AbortSignal,
  ) {
    this.#source = source;
    this.#shared = shared;
    this.#prefix = streamPrefix;
    this.#batchSize = Math.max(1, batchSize);
    this.#signal = signal;
    this.#at = this.#told = from;
  }

  async *messages(): AsyncGenerator<SubscriptionMessage, void, undefined> {
    while (!this.#signal.aborted) {
      await this.#shared.reads(this.#signal);
      const { epoch, low } = this.#shared;
      // What is kept may lag behind the log: only a reading of its own tells for certain that all there was has been handed out.
      yield* this.#alone();
      // The end of the log, up to which all was handed out by now, was at `low` or behind it.
      const fits = this.#shared.isCertain && (this.#shared.low === low || this.#isKept());
      if (this.#shared.epoch === epoch && fits) yield* this.#together();
    }
  }

  /** A reading of its own up to the end of the log; where a server never says that, on to what the process keeps. */
  async *#alone(): AsyncGenerator<SubscriptionMessage, void, undefined> {
    let toldEnd = false;
    const items = readLog(this.#source, {
      from: this.#at,
      prefixes: serverPrefixes(this.#prefix),
      batchSize: this.#batchSize,
      signal: this.#signal,
    });
    for await (const some of items) {
      yield* this.#hand(some);
      const said = some.findLast(({ kind }) => kind === 'caught_up');
      toldEnd ||= said !== undefined;
      const certain = said?.kind === 'caught_up' && !said.guessed;
      if (certain || (toldEnd && this.#isKept())) return;
    }
  }

  /** What the process reads for all, as long as it is kept. */
  async *#together(): AsyncGenerator<SubscriptionMessage, void, undefined> {
    const { tail } = this.#shared;
    let number = tail.newest((item) => this.#hasSeen(placeOf(item)));
    while (!this.#signal.aborted) {
      const items = tail.after(number, this.#batchSize);
      if (!items) return;
      number += items.length;
      if (items.length > 0) yield* this.#hand(items);
      else await tail.news(number, this.#signal);
    }
  }

  /** All that lies behind its place is kept. */
  #isKept(): boolean {
    return this.#shared.low === 'start' || this.#hasSeen(this.#shared.low);
  }

  #hasSeen(place: LogPosition | undefined): boolean {
    return place !== undefined && !isLater(place, this.#at);
  }

  /** Puts what arrived into messages, in order: events that are wanted, how far others were skipped, and having caught up. */
  *#hand(items: readonly FeedItem[]): Generator<SubscriptionMessage, void, undefined> {
    let events: RecordedEvent[] = [];
    for (const item of items) {
      const place = placeOf(item);
      if (place !== undefined) {
        if (this.#hasSeen(place)) continue;
        this.#at = place;
        if (item.kind === 'event' && item.event.stream.startsWith(this.#prefix)) events.push(item.event);
      } else if (item.kind === 'caught_up') {
        yield* this.#tell(events);
        yield { kind: 'caught_up' };
        events = [];
      }
    }
    yield* this.#tell(events);
  }

  *#tell(events: readonly RecordedEvent[]): Generator<SubscriptionMessage, void, undefined> {
    const last = events.at(-1)?.position;
    if (last !== undefined) yield { kind: 'events', events, checkpoint: last };
    if (this.#at !== 'start' && this.#at !== (last ?? this.#told))
      yield { kind: 'checkpoint', checkpoint: this.#at };
    this.#told = this.#at;
  }
}
