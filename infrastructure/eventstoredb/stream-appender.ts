import { LRUCache } from 'lru-cache';
import type { AppendResult, EventToAppend, StreamRevision } from '../../application/ports/event-store.ts';
import { ConcurrencyError, OutcomeUnknownError } from '../../application/ports/event-store.ts';
import type { AppendRequest } from './append-messages.ts';
import { BatchCall } from './batch-call.ts';
import { CallRetries } from './connection.ts';
import type { Connection, Node } from './connection.ts';
import { ensureStorable, sizeOfAppend, tooLarge } from './event-wire.ts';
import { outcomeUnknown, proofOf, RefusedAppendError, unavailable } from './failures.ts';
import type { StreamReader } from './stream-reader.ts';

interface Dependencies {
  readonly connection: Connection;
  readonly reader: StreamReader;
  /** For one answer. */
  readonly timeoutMs: number;
  /** For all tries of an append together. */
  readonly patienceMs: number;
}

/** Time for looking whether an append was stored once its own time is over. */
const LAST_LOOK_MS = 1_500;
const UNCERTAIN_REMEMBERED = 10_000;

const placeAfter = (revision: StreamRevision): bigint => (revision === 'no_stream' ? 0n : revision + 1n);

/**
 * Appends to one stream. What was refused or never sent is sent again, to the node that leads by then; of what may have been stored it
 * looks first whether it was. An append is reported as stored or as not stored only where that is certain.
 */
export class StreamAppender {
  readonly #deps: Dependencies;
  readonly #calls = new WeakMap<Node, BatchCall>();
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
      const result = await this.#insist({ stream, expected, events });
      this.#uncertain.delete(id);
      return result;
    } catch (error) {
      if (error instanceof ConcurrencyError) this.#uncertain.delete(id);
      if (error instanceof OutcomeUnknownError) this.#uncertain.set(id, true);
      throw error;
    }
  }

  async #insist(request: AppendRequest): Promise<AppendResult> {
    const { connection, timeoutMs, patienceMs } = this.#deps;
    const retries = new CallRetries(connection, patienceMs);
    let uncertain = this.#uncertain.has(request.events[0]!.id);
    for (;;) {
      let node: Node | undefined;
      let ms = timeoutMs;
      try {
        node = await retries.node();
        ms = Math.min(timeoutMs, Math.max(1, retries.leftMs));
        return await this.#send(node, request, ms);
      } catch (error) {
        if (node) retries.learn(node, error, { ms, usual: timeoutMs });
        if (error instanceof ConcurrencyError) return this.#ownOrConflict(request, error);
        if (error instanceof RefusedAppendError && error.reason === 'too_large')
          throw tooLarge(request.stream, sizeOfAppend(request.events));
        const proof = proofOf(error);
        uncertain ||= proof === 'unknown';
        const stored = proof === 'unknown' ? await this.#find(request, retries) : undefined;
        if (stored) return stored;
        if (proof !== 'forbidden' && (await retries.again(error))) continue;
        return await this.#giveUp(request, uncertain, error);
      }
    }
  }

  #send(node: Node, request: AppendRequest, ms: number): Promise<AppendResult> {
    const call = this.#calls.get(node) ?? new BatchCall(node);
    this.#calls.set(node, call);
    return call.append(request, ms);
  }

  async #giveUp(request: AppendRequest, uncertain: boolean, error: unknown): Promise<AppendResult> {
    const what = `appending to ${request.stream}`;
    if (!uncertain) throw unavailable(what, error);
    const stored = await this.#look(request, LAST_LOOK_MS);
    if (stored) return stored;
    throw outcomeUnknown(what, error);
  }

  /** Where it stands, if it can be found while there is time. That it was not found proves nothing: it may be on its way. */
  async #find(request: AppendRequest, retries: CallRetries): Promise<AppendResult | undefined> {
    return retries.leftMs > 0 ? this.#look(request, retries.leftMs) : undefined;
  }

  async #look(request: AppendRequest, ms: number): Promise<AppendResult | undefined> {
    return this.#storedAs(request, ms).catch(() => undefined);
  }

  async #storedAs(
    { stream, expected, events }: AppendRequest,
    ms?: number,
  ): Promise<AppendResult | undefined> {
    const stored = await this.#deps.reader.some(stream, placeAfter(expected), events.length, ms);
    const last = stored.at(-1);
    const own = events.every(({ id }, index) => stored[index]?.id === id);
    return own && last ? { revision: last.revision, position: last.position } : undefined;
  }

  /** A conflict is only believed when the events at these places are others: it may be our own, from a try before. */
  async #ownOrConflict(request: AppendRequest, conflict: ConcurrencyError): Promise<AppendResult> {
    const stored = await this.#storedAs(request).catch((error: unknown) => {
      throw outcomeUnknown(`appending to ${request.stream}`, error);
    });
    if (stored) return stored;
    throw conflict;
  }
}
