import { StoreUnavailableError } from '../../application/ports/event-store.ts';
import type { LogPosition, RecordedEvent } from '../../application/ports/event-store.ts';
import type { Logger } from '../../application/ports/logger.ts';
import { messageOf } from '../../application/support/failures.ts';
import { backoff } from '../../application/support/retry.ts';
import { pause } from '../support/time.ts';
import type { Connection } from './connection.ts';
import { fromLogPosition, isLater } from './event-wire.ts';
import { isAccessDenied, isReasonToLeave, isTooSlow } from './failures.ts';
import type { StreamReader } from './stream-reader.ts';
import { SubscriptionFeed } from './subscription-feed.ts';
import type { FeedItem } from './subscription-feed.ts';

/** What a server answers that finds no record where it looks for one. */
const NO_RECORD_THERE = /Exception was thrown by handler|Unexpected Read\w*Result/;

const MENDING =
  'If EVENTSTORE_URL names another server than before, correct it; if an older state of the log was restored, restore the other stores to the same time, or run `receivables projections rebuild` for the read models and `receivables followers move` for each of `receivables followers list`';

const misfit = (from: LogPosition, reason: string): RangeError =>
  new RangeError(`position ${from} does not fit this event log: ${reason}. ${MENDING}`);

/** The log cannot be followed, and waiting alone is not known to help: the follower has to hear of that. */
export class UnreadableLogError extends StoreUnavailableError {}

const notAllowed = (error: unknown): UnreadableLogError =>
  new UnreadableLogError(
    'EventStoreDB: the user of EVENTSTORE_URL may not read $all. An administrator of the server lets it: docs/eventstoredb.md has the command',
    { cause: error },
  );

/** The log's last event. @throws UnreadableLogError the user may not read the log */
export const endOf = async (reader: StreamReader): Promise<RecordedEvent | undefined> => {
  try {
    return await reader.ofLog('end');
  } catch (error) {
    throw isAccessDenied(causeOf(error)) ? notAllowed(causeOf(error)) : error;
  }
};

const causeOf = (error: unknown): unknown => (error instanceof StoreUnavailableError ? error.cause : error);

/**
 * A server follows a position of another log, or one beyond its end, without a word, and leaves out what lies between: so the log's
 * end and the record at the position are looked at before anything is read on from there.
 *
 * @throws RangeError it is not a place in this log
 * @throws StoreUnavailableError the log cannot be read now, or not by this user
 */
export const ensureFits = async (reader: StreamReader, from: LogPosition | 'start'): Promise<void> => {
  if (from === 'start') return;
  const position = fromLogPosition(from);
  try {
    const end = await endOf(reader);
    if (!end || isLater(from, end.position))
      throw misfit(from, `it lies beyond the end (${end?.position ?? 'empty'})`);
    // A record that a scavenge removed leaves the next one in its place.
    if (!(await reader.ofLog(position))) throw misfit(from, 'nothing stands there');
  } catch (error) {
    const cause = causeOf(error);
    if (isAccessDenied(cause)) throw notAllowed(cause);
    if (cause instanceof Error && NO_RECORD_THERE.test(cause.message))
      throw misfit(from, 'it is in the middle of a record');
    throw error;
  }
};

export interface SubscriptionSource {
  readonly connection: Connection;
  readonly reader: StreamReader;
  readonly logger: Logger | undefined;
  readonly confirmationMs: number;
  /** Silence that counts as having caught up, at servers that do not say it. */
  readonly quietMs: number;
  /** After so much silence it is asked for anew: a subscription that died without a word looks like a quiet log. */
  readonly renewAfterMs: number;
  /** The follower gets an error when no subscription worked for so long. */
  readonly unconfirmedMs: number;
  /** Set once a server has said so itself; from then on silence means nothing. */
  saysCaughtUp: boolean;
  /** How often the server found its subscriber too slow for a moment. */
  slowMoments: number;
}

interface ReadingOptions {
  readonly from: LogPosition | 'start';
  readonly prefixes: readonly string[];
  readonly batchSize: number;
  readonly signal: AbortSignal;
  /** A subscription is lost: whether the log still has what was read of it is not known before the next item comes. */
  readonly onLost?: () => void;
}

const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 5_000;

/** How a subscription came to its end. */
type End = 'left' | 'ended' | 'silent' | 'slow';

interface Progress {
  at: LogPosition | 'start';
  /** Whether the place stands in this log, as far as is known. */
  fits: boolean;
  failures: number;
  failingSince: number | undefined;
}

/**
 * The log from a position on: one subscription of the server after another, each from where the one before had come to. Ends with
 * the signal only.
 *
 * @throws RangeError the position does not fit the log
 * @throws StoreUnavailableError the user may not read it, or no subscription has worked for a while
 */
export async function* readLog(
  source: SubscriptionSource,
  options: ReadingOptions,
): AsyncGenerator<readonly FeedItem[], void, undefined> {
  const { signal } = options;
  const progress: Progress = { at: options.from, fits: false, failures: 0, failingSince: undefined };
  while (!signal.aborted) {
    let end: End | undefined;
    let problem: unknown;
    try {
      end = yield* oneSubscription(source, options, progress);
    } catch (error) {
      if (error instanceof RangeError || error instanceof UnreadableLogError) throw error;
      if (isAccessDenied(error)) throw notAllowed(error);
      problem = error;
    }
    if (signal.aborted) return;
    if (end === 'slow') {
      source.slowMoments++;
      continue;
    }
    progress.fits = false;
    options.onLost?.();
    if (end === 'silent') continue;
    await afterFailure(source, progress, problem, signal);
  }
}

const afterFailure = async (
  { logger, unconfirmedMs }: SubscriptionSource,
  progress: Progress,
  problem: unknown,
  signal: AbortSignal,
): Promise<void> => {
  progress.failingSince ??= performance.now();
  const failingMs = performance.now() - progress.failingSince;
  const reason = problem === undefined ? 'the server ends it' : messageOf(problem);
  if (failingMs >= unconfirmedMs) {
    const seconds = Math.round(failingMs / 1_000);
    throw new UnreadableLogError(
      `EventStoreDB has confirmed no subscription to the log for ${seconds} s: ${reason}`,
      { cause: problem },
    );
  }
  const pauseMs = backoff(++progress.failures, FIRST_PAUSE_MS, LONGEST_PAUSE_MS);
  logger?.warn(
    { err: problem, from: progress.at, pause_ms: pauseMs },
    problem === undefined
      ? 'EventStoreDB ended a subscription; subscribing again'
      : 'a subscription to EventStoreDB was lost; subscribing again',
  );
  await pause(pauseMs, signal);
};

async function* oneSubscription(
  source: SubscriptionSource,
  { prefixes, batchSize, signal }: ReadingOptions,
  progress: Progress,
): AsyncGenerator<readonly FeedItem[], End, undefined> {
  const { connection, reader, confirmationMs } = source;
  const end = source.saysCaughtUp ? undefined : ((await endOf(reader))?.position ?? 'start');
  if (!progress.fits) await ensureFits(reader, progress.at);
  progress.fits = true;
  const node = await connection.node(performance.now() + confirmationMs);
  if (signal.aborted) return 'left';
  const feed = new SubscriptionFeed(node, { from: progress.at, prefixes, confirmationMs, batchSize });
  // A consumer that aborts may never ask for another message, so `finally` alone would not do.
  const leave = (): void => feed.leave();
  signal.addEventListener('abort', leave, { once: true });
  try {
    return yield* itemsOf(source, { feed, end }, progress, signal);
  } catch (error) {
    if (isTooSlow(error)) return 'slow';
    if (isReasonToLeave(error)) connection.leave(node);
    throw error;
  } finally {
    signal.removeEventListener('abort', leave);
    feed.leave();
  }
}

/** @param end where the log ended before, at servers that have not said yet that a subscription has caught up: what comes behind it tells */
async function* itemsOf(
  source: SubscriptionSource,
  { feed, end }: { readonly feed: SubscriptionFeed; readonly end: LogPosition | 'start' | undefined },
  progress: Progress,
  signal: AbortSignal,
): AsyncGenerator<readonly FeedItem[], End, undefined> {
  let caughtUp = false;
  for (;;) {
    const guessing: boolean = !caughtUp && !source.saysCaughtUp;
    const items = await feed.next(guessing ? source.quietMs : source.renewAfterMs);
    if (signal.aborted) return 'left';
    if (!items) return 'ended';
    progress.failures = 0;
    progress.failingSince = undefined;
    if (items.length === 0 && !guessing) return 'silent';
    note(progress, items);
    if (items.some(({ kind }) => kind === 'fell_behind')) source.slowMoments++;
    if (items.some(({ kind }) => kind === 'caught_up')) source.saysCaughtUp = true;
    const unsaid: readonly FeedItem[] =
      guessing && !source.saysCaughtUp ? caughtUpAt(progress.at, end, items) : [];
    caughtUp ||= source.saysCaughtUp || unsaid.length > 0;
    yield [...items, ...unsaid];
  }
}

/** What a server leaves unsaid: something came from behind where the log ended, or nothing comes any more. */
const caughtUpAt = (
  at: LogPosition | 'start',
  end: LogPosition | 'start' | undefined,
  items: readonly FeedItem[],
): readonly FeedItem[] => {
  if (at !== 'start' && end !== undefined && isLater(at, end)) return [{ kind: 'caught_up' }];
  return items.length === 0 ? [{ kind: 'caught_up', guessed: true }] : [];
};

/** A place never goes back: a log that hands out what lies before it is not the one that the place is of. */
const note = (progress: Progress, items: readonly FeedItem[]): void => {
  for (const item of items) {
    if (item.kind === 'event') {
      const { position } = item.event;
      if (!isLater(position, progress.at))
        throw new RangeError(`the event log went back from position ${progress.at} to ${position}`);
      progress.at = position;
    } else if (item.kind === 'checkpoint' && isLater(item.checkpoint, progress.at))
      progress.at = item.checkpoint;
  }
};
