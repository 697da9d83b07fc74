import type {
  LogPosition,
  SubscribeOptions,
  SubscriptionMessage,
} from '../../../application/ports/event-store.ts';
import type { LogSource } from './log-cursor.ts';
import { LogCursor } from './log-cursor.ts';
import { toPosition } from './log-page.ts';
import type { RecentEvents } from './recent-events.ts';

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

/** Waits at the end of the log. True when the time was up, false when there may be more to read or the signal has aborted. */
const nothingCame = (recent: RecentEvents, at: number, signal: AbortSignal, ms?: number): Promise<boolean> =>
  new Promise((resolve) => {
    if (signal.aborted || recent.high > at) {
      resolve(false);
      return;
    }
    const finish = (timeIsUp: boolean): void => {
      clearTimeout(timer);
      forget();
      signal.removeEventListener('abort', goOn);
      resolve(timeIsUp);
    };
    const goOn = (): void => finish(false);
    const timer = ms === undefined ? undefined : setTimeout(() => finish(true), ms);
    const forget = recent.onChange(goOn);
    signal.addEventListener('abort', goOn);
  });

async function* messages(
  source: LogSource,
  cursor: LogCursor,
  signal: AbortSignal,
): AsyncGenerator<SubscriptionMessage, void, undefined> {
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
    while (stretch.atEnd && (await nothingCame(source.recent, cursor.at, signal, skipped.dueInMs())))
      yield skipped.report();
  }
}

/** The messages of one subscription; ends when the signal aborts, without another message. */
export async function* followLog(
  source: LogSource,
  options: SubscribeOptions,
  signal: AbortSignal,
): AsyncGenerator<SubscriptionMessage, void, undefined> {
  const cursor = new LogCursor(source, options, signal);
  for await (const message of messages(source, cursor, signal)) {
    if (signal.aborted) return;
    yield message;
  }
}
