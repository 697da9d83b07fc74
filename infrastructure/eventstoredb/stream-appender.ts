import type { AppendResult as ClientResult, EventStoreDBClient } from '@eventstore/db-client';
import { MaxAppendSizeExceededError, WrongExpectedVersionError } from '@eventstore/db-client';
import { LRUCache } from 'lru-cache';
import type {
  AppendResult,
  EventToAppend,
  LogPosition,
  StreamRevision,
} from '../../application/ports/event-store.ts';
import { ConcurrencyError } from '../../application/ports/event-store.ts';
import { ensureStorable, sizeOfAppend, toEventData, tooLarge } from './event-wire.ts';
import { isCertainlyNotStored, outcomeUnknown, unavailable, within } from './failures.ts';
import { isPlace, toLogPosition } from './log-position.ts';
import type { StreamReader } from './stream-reader.ts';

interface Dependencies {
  readonly client: EventStoreDBClient;
  readonly reader: StreamReader;
  readonly timeoutMs: number;
}

/** The client's own deadline should come first: it also ends the call. */
const GRACE_MS = 500;
const UNCERTAIN_REMEMBERED = 10_000;

export const placeAfter = (revision: StreamRevision): bigint =>
  revision === 'no_stream' ? 0n : revision + 1n;

/** Appends to one stream. Whatever it is told or not told, it never claims more than it knows. */
export class StreamAppender {
  readonly #deps: Dependencies;
  /** First ids of appends that may have been stored: a later failure to reach the server does not change that. */
  readonly #uncertain = new LRUCache<string, true>({ max: UNCERTAIN_REMEMBERED });

  constructor(dependencies: Dependencies) {
    this.#deps = dependencies;
  }

  /**
   * @throws ConcurrencyError, OutcomeUnknownError, StoreUnavailableError as the port promises
   * @throws RangeError larger than the server takes, or no text that it could hold; nothing was sent
   */
  async append(
    stream: string,
    expected: StreamRevision,
    events: readonly [EventToAppend, ...EventToAppend[]],
  ): Promise<AppendResult> {
    ensureStorable(stream, events);
    const id = events[0].id;
    try {
      const result = await this.#send(stream, expected, events);
      this.#uncertain.delete(id);
      return result;
    } catch (error) {
      if (error instanceof ConcurrencyError) this.#uncertain.delete(id);
      if (error instanceof ConcurrencyError || error instanceof RangeError) throw error;
      if (isCertainlyNotStored(error) && !this.#uncertain.has(id))
        throw unavailable(`appending to ${stream}`, error);
      this.#uncertain.set(id, true);
      throw outcomeUnknown(`appending to ${stream}`, error);
    }
  }

  async #send(
    stream: string,
    expected: StreamRevision,
    events: readonly EventToAppend[],
  ): Promise<AppendResult> {
    const { client, timeoutMs } = this.#deps;
    const sending = client.appendToStream(stream, events.map(toEventData), {
      expectedRevision: expected,
      deadline: timeoutMs,
      requiresLeader: true,
    });
    try {
      return await this.#placed(
        stream,
        await within(sending, timeoutMs + GRACE_MS, `appending to ${stream}`),
      );
    } catch (error) {
      if (error instanceof MaxAppendSizeExceededError) throw tooLarge(stream, sizeOfAppend(events));
      if (!(error instanceof WrongExpectedVersionError)) throw error;
      return this.#ownOrConflict(stream, expected, events, error);
    }
  }

  /** Servers before 21.10 do not say where a repeated append stands. */
  async #placed(
    stream: string,
    { nextExpectedRevision: revision, position }: ClientResult,
  ): Promise<AppendResult> {
    if (isPlace(position)) return { revision, position: toLogPosition(position) };
    const [last] = await this.#deps.reader.some(stream, revision, 1);
    return { revision, position: last?.position ?? ('unknown' as LogPosition) };
  }

  /** A conflict is only believed when the events at these places are others: it may be our own, from a try before. */
  async #ownOrConflict(
    stream: string,
    expected: StreamRevision,
    events: readonly EventToAppend[],
    { actualVersion }: WrongExpectedVersionError,
  ): Promise<AppendResult> {
    const stored = await this.#deps.reader.some(stream, placeAfter(expected), events.length);
    const last = stored.at(-1);
    const own = events.every(({ id }, index) => stored[index]?.id === id);
    if (own && last) return { revision: last.revision, position: last.position };
    const actual =
      typeof actualVersion === 'bigint' && actualVersion >= 0n ? actualVersion : ('no_stream' as const);
    throw new ConcurrencyError(stream, expected, actual);
  }
}
