import { setTimeout as delay } from 'node:timers/promises';
import type { EventStoreDBClient } from '@eventstore/db-client';
import {
  LOAN_STREAM_PREFIX,
  RENEGOTIATION_STREAM_PREFIX,
} from '../../application/command-handling/stream-names.ts';
import type { LogPosition, RecordedEvent } from '../../application/ports/event-store.ts';
import type { SubscribeOptions, SubscriptionMessage } from '../../application/ports/event-subscription.ts';
import type { Logger } from '../../application/ports/logger.ts';
import type { FeedItem } from './subscription-feed.ts';
import { SubscriptionFeed } from './subscription-feed.ts';

export interface SubscriptionSource {
  readonly client: EventStoreDBClient;
  readonly logger: Logger | undefined;
  readonly confirmationMs: number;
  /** Silence that counts as having caught up, at servers that do not say it. */
  readonly quietMs: number;
  /** After so much silence it is asked for anew: a subscription that died without a word looks like a quiet log. */
  readonly renewAfterMs: number;
  /** Set once a server has said so itself; from then on silence means nothing. */
  saysCaughtUp: boolean;
}

const OWN_STREAMS = [LOAN_STREAM_PREFIX, RENEGOTIATION_STREAM_PREFIX];
const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 5_000;

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
    else if (!item.event.stream.startsWith(prefix)) skippedTo = item.event.position;
    else {
      events.push(item.event);
      skippedTo = undefined;
    }
  }
  yield* flush();
}

/** One subscription of the server after another, each from where the one before had come to. Ends with the signal only. */
export async function* followLog(
  source: SubscriptionSource,
  options: SubscribeOptions,
  signal: AbortSignal,
): AsyncGenerator<SubscriptionMessage, void, undefined> {
  let from = options.from;
  let failures = 0;
  while (!signal.aborted) {
    let problem: unknown;
    const attempt: Attempt = { options: { ...options, from }, signal, fellSilent: false };
    try {
      for await (const message of oneSubscription(source, attempt)) {
        failures = 0;
        if (message.kind !== 'caught_up') from = message.checkpoint;
        yield message;
      }
    } catch (error) {
      if (error instanceof RangeError) throw error;
      problem = error;
    }
    if (signal.aborted) return;
    if (attempt.fellSilent) continue;
    const pause = Math.min(FIRST_PAUSE_MS * 2 ** failures++, LONGEST_PAUSE_MS);
    source.logger?.warn(
      { err: problem, from, pause_ms: pause },
      problem === undefined
        ? 'EventStoreDB ended a subscription; subscribing again'
        : 'a subscription to EventStoreDB was lost; subscribing again',
    );
    await delay(pause, undefined, { signal }).catch(() => undefined);
  }
}

interface Attempt {
  readonly options: SubscribeOptions;
  readonly signal: AbortSignal;
  /** It was left because nothing came any more. */
  fellSilent: boolean;
}

async function* oneSubscription(
  source: SubscriptionSource,
  attempt: Attempt,
): AsyncGenerator<SubscriptionMessage, void, undefined> {
  const { signal } = attempt;
  const { from, streamPrefix = '', batchSize = 500 } = attempt.options;
  const prefixes = serverPrefixes(streamPrefix);
  const { client, confirmationMs } = source;
  const feed = new SubscriptionFeed(client, { from, prefixes, confirmationMs, batchSize });
  // A consumer that aborts may never ask for another message, so `finally` alone would not do.
  const leave = (): void => feed.leave();
  signal.addEventListener('abort', leave, { once: true });
  let caughtUp = false;
  try {
    for (;;) {
      const guessing = !caughtUp && !source.saysCaughtUp;
      const items = await feed.next(guessing ? source.quietMs : source.renewAfterMs);
      if (!items) return;
      if (items.some(({ kind }) => kind === 'caught_up')) source.saysCaughtUp = true;
      if (items.length === 0 && !guessing) {
        attempt.fellSilent = true;
        return;
      }
      if (items.length === 0) {
        caughtUp = true;
        yield { kind: 'caught_up' };
      }
      for (const message of messagesOf(items, streamPrefix)) {
        if (signal.aborted) return;
        yield message;
      }
    }
  } finally {
    signal.removeEventListener('abort', leave);
    feed.leave();
  }
}
