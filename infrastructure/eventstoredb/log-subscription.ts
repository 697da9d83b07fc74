import {
  LOAN_STREAM_PREFIX,
  RENEGOTIATION_STREAM_PREFIX,
} from '../../application/command-handling/operation.ts';
import type {
  LogPosition,
  RecordedEvent,
  SubscribeOptions,
  SubscriptionMessage,
} from '../../application/ports/event-store.ts';
import { ensureFits, readLog } from './log-reading.ts';
import type { SubscriptionSource } from './log-reading.ts';
import { fromLogPosition, isLater } from './event-wire.ts';
import type { SharedReading } from './shared-reading.ts';
import type { FeedItem } from './subscription-feed.ts';

export const OWN_STREAMS = [LOAN_STREAM_PREFIX, RENEGOTIATION_STREAM_PREFIX];

const DEFAULT_BATCH = 500;

/**
 * The server filters by kind of stream only, the rest is done here: it reports how far it has skipped once in some hundred events,
 * and what it hands out tells that exactly.
 */
const serverPrefixes = (prefix: string): readonly string[] =>
  prefix === '' ? OWN_STREAMS : [prefix.slice(0, prefix.indexOf('-') + 1) || prefix];

/** Puts what arrived into messages, in order: events that are wanted, how far others were skipped, and having caught up. */
export function* messagesOf(items: readonly FeedItem[], prefix: string): Generator<SubscriptionMessage> {
  let events: RecordedEvent[] = [];
  let skippedTo: LogPosition | undefined;
  function* flush(): Generator<SubscriptionMessage> {
    const last = events.at(-1);
    if (last) yield { kind: 'events', events, checkpoint: last.position };
    if (skippedTo !== undefined && skippedTo !== last?.position)
      yield { kind: 'checkpoint', checkpoint: skippedTo };
    events = [];
    skippedTo = undefined;
  }
  for (const item of items) {
    if (item.kind === 'caught_up') {
      yield* flush();
      yield { kind: 'caught_up' };
    } else if (item.kind === 'checkpoint') skippedTo = item.checkpoint;
    else if (item.kind === 'fell_behind') continue;
    else if (!item.event.stream.startsWith(prefix)) skippedTo = item.event.position;
    else {
      events.push(item.event);
      skippedTo = undefined;
    }
  }
  yield* flush();
}

/**
 * Follows the log for one subscriber: from where it stands by a reading of its own, and from the end of the log on beside all others
 * of the process. Ends with the signal only.
 *
 * @throws RangeError the position does not fit the log
 * @throws StoreUnavailableError nothing can be read for a while already
 */
export async function* followLog(
  source: SubscriptionSource,
  shared: SharedReading,
  options: SubscribeOptions,
  signal: AbortSignal,
): AsyncGenerator<SubscriptionMessage, void, undefined> {
  if (options.from !== 'start') fromLogPosition(options.from);
  if (signal.aborted) return;
  const leave = shared.join();
  // A consumer that aborts may never ask for another message, so `finally` alone would not do.
  signal.addEventListener('abort', leave, { once: true });
  try {
    const follower = new Follower(source, shared, options, signal);
    while (!signal.aborted) yield* follower.follow();
  } finally {
    signal.removeEventListener('abort', leave);
    leave();
  }
}

class Follower {
  readonly #source: SubscriptionSource;
  readonly #shared: SharedReading;
  readonly #prefix: string;
  readonly #batchSize: number;
  readonly #signal: AbortSignal;
  #at: LogPosition | 'start';
  #epoch: number | undefined;
  #toldEnd = false;

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
    this.#at = from;
  }

  /** Until it has to look anew where to read on. */
  async *follow(): AsyncGenerator<SubscriptionMessage, void, undefined> {
    while (this.#shared.low === undefined && !this.#signal.aborted) await this.#shared.change(this.#signal);
    this.#toldEnd = false;
    const { epoch, low } = this.#shared;
    if (this.#signal.aborted || low === undefined) return;
    if (epoch !== this.#epoch) await ensureFits(this.#source.reader, this.#at);
    this.#epoch = epoch;
    // What is kept may lag behind the log: only a reading of its own tells for certain that all there was has been handed out.
    yield* this.#alone();
    let next = this.#shared.numberAfter(this.#at);
    // The end of the log, up to which all was handed out by now, was at `low` or behind it.
    if (this.#shared.epoch === epoch && this.#shared.low === low) next ??= this.#shared.numberAfter(low);
    if (next !== undefined) yield* this.#together(next);
  }

  /** A reading of its own up to the end of the log; where a server never says that, on to what the process keeps. */
  async *#alone(): AsyncGenerator<SubscriptionMessage, void, undefined> {
    const items = readLog(this.#source, {
      from: this.#at,
      prefixes: serverPrefixes(this.#prefix),
      batchSize: this.#batchSize,
      signal: this.#signal,
    });
    for await (const some of items) {
      yield* this.#hand(some);
      const said = some.findLast(({ kind }) => kind === 'caught_up');
      this.#toldEnd ||= said !== undefined;
      const certain = said?.kind === 'caught_up' && !said.guessed;
      if (certain || (this.#toldEnd && this.#shared.numberAfter(this.#at) !== undefined)) return;
    }
  }

  /** What the process reads for all, as long as it is kept. */
  async *#together(first: number): AsyncGenerator<SubscriptionMessage, void, undefined> {
    for (let next = first; !this.#signal.aborted;) {
      if (this.#shared.epoch !== this.#epoch) return;
      const items = this.#shared.after(next, this.#batchSize);
      if (!items) return;
      next += items.length;
      if (items.length > 0) yield* this.#hand(items.filter((item) => this.#isNew(item)));
      else await this.#shared.change(this.#signal);
    }
  }

  *#hand(items: readonly FeedItem[]): Generator<SubscriptionMessage, void, undefined> {
    for (const message of messagesOf(items, this.#prefix)) {
      if (this.#signal.aborted) return;
      if (message.kind !== 'caught_up') this.#at = message.checkpoint;
      yield message;
    }
  }

  #isNew(item: FeedItem): boolean {
    if (item.kind === 'event') return isLater(item.event.position, this.#at);
    return item.kind !== 'checkpoint' || isLater(item.checkpoint, this.#at);
  }
}
