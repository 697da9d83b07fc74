import { DamagedStoreError } from '../../../application/ports/event-store.ts';
import type {
  LogPosition,
  RecordedEvent,
  SubscribeOptions,
  SubscriptionMessage,
} from '../../../application/ports/event-store.ts';
import type { Logger } from '../../../application/ports/logger.ts';
import { messageOf } from '../../../application/support/failures.ts';
import { backoff } from '../../../application/support/retry.ts';
import type { LogTail } from '../../support/log-tail.ts';
import { pause, unlessAborted } from '../../support/time.ts';
import { toPosition } from './event-log-reader.ts';
import type { LogPage } from './event-log-reader.ts';

export interface LogSource {
  readonly tail: LogTail<RecordedEvent>;
  readonly logger: Logger | undefined;
  page(after: number, limit: number, prefix: string): Promise<LogPage>;
}

const DEFAULT_BATCH = 500;
const FIRST_RETRY_MS = 100;
const LONGEST_RETRY_MS = 5_000;
/** Whatever else keeps the log from being read may pass. */
const COMES_AGAIN = [RangeError, DamagedStoreError];

const parsePosition = (position: LogPosition | 'start'): number => {
  if (position === 'start') return 0;
  if (!/^\d{1,15}$/.test(position)) throw new RangeError(`${position} is not a position of this event store`);
  return Number(position);
};

/**
 * Positions never go back, so a log that ends before one is not the log that the position came from: an older copy was restored.
 * @throws RangeError
 */
export const ensureReaches = (position: LogPosition | 'start', end: number): void => {
  if (parsePosition(position) > end)
    throw new RangeError(`position ${position} lies beyond the end of the event log (${end})`);
};

/** The events that pass the filter, and whether anything came after the stretch that was looked through. */
interface Stretch {
  readonly events: readonly RecordedEvent[];
  readonly atEnd: boolean;
}

/** Finds the next stretch of the log for one subscriber: in memory while it keeps up, in the database otherwise. */
class LogCursor {
  readonly #source: LogSource;
  readonly #signal: AbortSignal;
  readonly #prefix: string;
  readonly #limit: number;
  #at: number;
  /** The database may hold more than the tail; so it is at the start. */
  #behind = true;
  #checked = false;

  constructor(source: LogSource, options: SubscribeOptions, signal: AbortSignal) {
    this.#source = source;
    this.#signal = signal;
    this.#prefix = options.streamPrefix ?? '';
    this.#limit = Math.max(1, options.batchSize ?? DEFAULT_BATCH);
    this.#at = parsePosition(options.from);
  }

  get at(): number {
    return this.#at;
  }

  /** undefined once the signal has aborted */
  async next(): Promise<Stretch | undefined> {
    return this.#fromMemory() ?? (await this.#fromDatabase());
  }

  #fromMemory(): Stretch | undefined {
    const { tail } = this.#source;
    const events = tail.after(this.#at, this.#limit);
    if (!events) this.#behind = true;
    // Memory may not know yet what another process has appended: only the file tells whether this subscriber has caught up.
    if (!events || this.#behind) return undefined;
    this.#at += events.length;
    const wanted =
      this.#prefix === '' ? events : events.filter(({ stream }) => stream.startsWith(this.#prefix));
    return { events: wanted, atEnd: this.#at >= tail.high };
  }

  async #fromDatabase(): Promise<Stretch | undefined> {
    for (let attempt = 1; !this.#signal.aborted; attempt++) {
      try {
        const reading = this.#source.page(this.#at, this.#limit, this.#prefix);
        const page = await unlessAborted(reading, this.#signal);
        if (page) return this.#take(page);
      } catch (error) {
        if (COMES_AGAIN.some((kind) => error instanceof kind)) throw error;
        const delay = backoff(attempt, FIRST_RETRY_MS, LONGEST_RETRY_MS);
        const fields = { reason: messageOf(error), retryInMs: delay };
        this.#source.logger?.warn(fields, 'subscription cannot read the event log');
        await pause(delay, this.#signal);
      }
    }
    return undefined;
  }

  #take(page: LogPage): Stretch {
    if (!this.#checked) ensureReaches(toPosition(this.#at), page.end);
    this.#checked = true;
    this.#at = page.scanned;
    this.#behind = page.scanned < page.end;
    return { events: page.events, atEnd: !this.#behind && this.#at >= this.#source.tail.high };
  }
}

/** A live subscriber whose filter lets little pass still moves its checkpoint about once a second. */
const SKIPPED_REPORT_MS = 1_000;

/** Events that the filter left out since the last position that the subscriber was told. */
class SkippedStretch {
  #at: number;
  #reported: number;
  #dueAt: number | undefined;

  constructor(start: number) {
    this.#at = start;
    this.#reported = start;
  }

  note(at: number, handedOut: LogPosition | undefined): void {
    this.#at = at;
    if (handedOut !== undefined) this.#reported = Number(handedOut);
    if (at <= this.#reported) this.#dueAt = undefined;
    else this.#dueAt ??= performance.now() + SKIPPED_REPORT_MS;
  }

  /** Time until the stretch should be reported; undefined when there is none. */
  dueInMs(): number | undefined {
    return this.#dueAt === undefined ? undefined : Math.max(0, this.#dueAt - performance.now());
  }

  report(): SubscriptionMessage {
    this.#reported = this.#at;
    this.#dueAt = undefined;
    return { kind: 'checkpoint', checkpoint: toPosition(this.#at) };
  }
}

async function* messages(
  source: LogSource,
  options: SubscribeOptions,
  signal: AbortSignal,
): AsyncGenerator<SubscriptionMessage, void, undefined> {
  const cursor = new LogCursor(source, options, signal);
  const skipped = new SkippedStretch(cursor.at);
  let caughtUp = false;
  for (;;) {
    const stretch = await cursor.next();
    if (!stretch || signal.aborted) return;
    const { events } = stretch;
    const last = events.at(-1)?.position;
    if (last !== undefined) {
      caughtUp = false;
      yield { kind: 'events', events, checkpoint: last };
    }
    skipped.note(cursor.at, last);
    const catchesUp = stretch.atEnd && !caughtUp;
    const due = skipped.dueInMs();
    if (due !== undefined && (catchesUp || due === 0)) yield skipped.report();
    if (catchesUp) yield { kind: 'caught_up' };
    caughtUp = stretch.atEnd;
    while (stretch.atEnd && !(await source.tail.news(cursor.at, signal, skipped.dueInMs())))
      yield skipped.report();
  }
}

/** The messages of one subscription; ends when the signal aborts, without another message. */
export const followFile = (
  source: LogSource,
  options: SubscribeOptions,
  signal: AbortSignal,
): AsyncGenerator<SubscriptionMessage, void, undefined> =>
  source.tail.follow(messages(source, options, signal), signal);
