import { randomUUID } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { DeskEvent, DeskVisitor } from '../../domain/desk/line.ts';
import type { CalendarDate } from '../../domain/shared/calendar-date.ts';
import type { Timestamp } from '../../domain/shared/identifiers.ts';
import { actorNamed } from '../command-handling/actors.ts';
import { DESK_STREAM_PREFIX } from '../command-handling/operation.ts';
import { KeyedQueue } from '../command-handling/keyed-queue.ts';
import { BEFORE_THE_FIRST, eventsAfter, notEarlier } from '../event-codec/event-codec.ts';
import type { Last } from '../event-codec/event-codec.ts';
import type { BusinessClock } from '../ports/clock.ts';
import { ConcurrencyError } from '../ports/event-store.ts';
import type { EventStore, StreamRevision } from '../ports/event-store.ts';
import { businessDayOf } from '../support/business-day.ts';
import { retry, retryAppend } from '../support/retry.ts';
import type { RetryPolicy } from '../support/retry.ts';

/** Which streams have lines of which day: one event for each, so that reading asks for those of some days alone. */
export const DESK_DAYS_STREAM = `${DESK_STREAM_PREFIX}days`;

/** Longest time for which a line waits for others of its stream: then its page is refused. */
const PATIENCE_MS = 5_000;
const MOST_REMEMBERED = 1_000;
/** Another process writes into the same stream. */
const OVERTAKEN: RetryPolicy = {
  pausesMs: [0, 2, 5, 10, 20, 50, 100, 200, 400, 800],
  mayPass: (error) => error instanceof ConcurrencyError,
};
const SESSION = /^[A-Za-z0-9_-]{8,128}$/;

export const deskStream = (
  { way }: Pick<DeskVisitor, 'way'>,
  session: string | undefined,
  day: CalendarDate,
): string => {
  if (session === undefined) return `${DESK_STREAM_PREFIX}${way}-${day}`;
  if (!SESSION.test(session))
    throw new RangeError('the id of a session is 8 to 128 letters, digits, "_" or "-"');
  return `${DESK_STREAM_PREFIX}${session}`;
};

interface Dependencies {
  readonly events: Pick<EventStore, 'read' | 'head' | 'append'>;
  readonly clock: BusinessClock;
  readonly pause: (ms: number) => Promise<void>;
}

interface End {
  readonly revision: StreamRevision;
  readonly last: Last;
}

/** Appends to the streams of the desk: one after another within a stream, side by side between them, and beside other processes. */
export class DeskStreams {
  readonly #deps: Dependencies;
  readonly #queue = new KeyedQueue(PATIENCE_MS);
  readonly #ends = new LRUCache<string, End>({ max: MOST_REMEMBERED });

  constructor(dependencies: Dependencies) {
    this.#deps = dependencies;
  }

  /** Durable when it resolves. @throws BusyError too much is written into this stream @throws StoreUnavailableError */
  append(stream: string, actor: string, make: (at: Timestamp) => readonly DeskEvent[]): Promise<void> {
    return this.#queue.run(stream, () =>
      retry(() => this.#append(stream, actor, make), OVERTAKEN, this.#deps.pause),
    );
  }

  async #append(stream: string, actor: string, make: (at: Timestamp) => readonly DeskEvent[]): Promise<void> {
    const { events, clock, pause } = this.#deps;
    const { revision, last } = this.#ends.get(stream) ?? (await this.#endOf(stream));
    const at = notEarlier(clock.now(), last.recordedAt);
    const day = businessDayOf(at);
    if (stream !== DESK_DAYS_STREAM && (!last.recordedAt || businessDayOf(last.recordedAt) !== day))
      await this.append(DESK_DAYS_STREAM, actor, (begunAt) => [
        { type: 'DeskDayBegun', stream, day, begunAt },
      ]);
    const cause = randomUUID();
    const metadata = {
      ...{ correlationId: cause, causationId: cause, actor: actorNamed(actor) },
      ...{ applicationId: '', recordedAt: at },
    };
    const stored = eventsAfter(last, stream, make(at), { metadata, idOf: () => randomUUID() });
    // Forgotten until it is certain where the stream ends.
    this.#ends.delete(stream);
    const appended = await retryAppend(() => events.append(stream, revision, stored), pause);
    this.#ends.set(stream, { revision: appended.revision, last: stored.at(-1)!.metadata });
  }

  async #endOf(stream: string): Promise<End> {
    const { events } = this.#deps;
    const head = await events.head(stream);
    if (head === 'no_stream') return { revision: head, last: BEFORE_THE_FIRST };
    const { events: rest, revision } = await events.read(stream, head);
    return { revision, last: rest.at(-1)?.metadata ?? BEFORE_THE_FIRST };
  }
}
