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
import { readLog } from './log-reading.ts';
import type { SubscriptionSource } from './log-reading.ts';
import { fromLogPosition, isLater } from './event-wire.ts';
import type { SharedReading } from './shared-reading.ts';
import { placeOf } from './subscription-feed.ts';
import type { FeedItem } from './subscription-feed.ts';

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
