import { randomUUID } from 'node:crypto';
import shared from '@eventstore/db-client/generated/shared_pb.js';
import type { Status } from '@eventstore/db-client/generated/status_pb.js';
import type { ClientDuplexStream } from '@grpc/grpc-js';
import { LRUCache } from 'lru-cache';
import type { AppendResult, EventToAppend, StreamRevision } from '../../application/ports/event-store.ts';
import { ConcurrencyError, OutcomeUnknownError } from '../../application/ports/event-store.ts';
import { appendMessage, decodeAppendAnswer } from './messages.ts';
import type { AppendAnswer, AppendRequest } from './messages.ts';
import { CallRetries } from './connection.ts';
import type { Connection, Node } from './connection.ts';
import { ensureStorable, sizeOfAppend, tooLarge } from './event-wire.ts';
import {
  NoAnswerError,
  RefusedAppendError,
  outcomeUnknown,
  proofOf,
  refusalIn,
  unavailable,
} from './failures.ts';
import type { StreamReader } from './stream-reader.ts';

interface Pending {
  readonly request: AppendRequest;
  readonly timer: NodeJS.Timeout;
  readonly resolve: (result: AppendResult) => void;
  readonly reject: (error: Error) => void;
}

const PREFIX = 'event_store.client.';

const REASONS: Readonly<Record<string, RefusedAppendError['reason']>> = {
  [`${PREFIX}AccessDenied`]: 'denied',
  [`${PREFIX}StreamDeleted`]: 'deleted',
  [`${PREFIX}MaximumAppendSizeExceeded`]: 'too_large',
};

const failureOf = ({ stream, expected }: AppendRequest, error: Status | undefined): Error => {
  const details = error?.getDetails();
  const name = details?.getTypeName() ?? '';
  if (name === `${PREFIX}WrongExpectedVersion`) {
    const refusal = shared.WrongExpectedVersion.deserializeBinary(details!.getValue_asU8());
    const actual = refusal.hasCurrentStreamRevision()
      ? BigInt(refusal.getCurrentStreamRevision())
      : ('no_stream' as const);
    return new ConcurrencyError(stream, expected, actual);
  }
  const text = error?.getMessage() ?? '';
  const reason = REASONS[name] ?? refusalIn(text) ?? 'other';
  return new RefusedAppendError(reason, text || name || 'refused without a reason');
};

/**
 * One call to a node that carries all appends, each with a time of its own for its answer. An answer that no caller waits for any more
 * is passed over. When the call ends, nothing is known of any append that is on its way.
 */
class BatchCall {
  readonly #node: Node;
  readonly #pending = new Map<string, Pending>();
  #call: ClientDuplexStream<Buffer, AppendAnswer> | undefined;
  /** The call at hand has had a connection. */
  #connected = false;

  constructor(node: Node) {
    this.#node = node;
    node.left.addEventListener('abort', () => this.#end(this.#silence('the node was left')), { once: true });
  }

  /**
   * @throws ConcurrencyError, RefusedAppendError as the server says; NoAnswerError, ServiceError for anything that leaves it open
   */
  append(request: AppendRequest, timeoutMs: number): Promise<AppendResult> {
    if (this.#node.left.aborted) throw new NoAnswerError('the node was left');
    const id = randomUUID();
    const message = appendMessage(id, request);
    const call = (this.#call ??= this.#open());
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#pending.delete(id);
        reject(this.#silence(`no answer within ${timeoutMs} ms`));
      }, timeoutMs);
      this.#pending.set(id, { request, timer, resolve, reject });
      call.write(message);
    });
  }

  /**
   * Nothing was sent by a call that never had a connection. One that has none now may have: a server that is about to stop takes no further
   * calls on it and goes on with this one.
   */
  #silence(reason: string): NoAnswerError {
    return new NoAnswerError(reason, this.#connected);
  }

  #open(): ClientDuplexStream<Buffer, AppendAnswer> {
    const call = this.#node.appends(decodeAppendAnswer);
    this.#connected = false;
    this.#node.whenConnected('appends', () => (this.#connected = true));
    const ended = (error: Error): void => {
      if (call === this.#call) this.#end(error);
    };
    call.on('data', (answer: AppendAnswer) => this.#answered(answer));
    call.on('error', ended);
    call.on('end', () => ended(new NoAnswerError('the server ended the call')));
    return call;
  }

  #answered(answer: AppendAnswer): void {
    const pending = this.#pending.get(answer.id);
    if (!pending) return;
    this.#pending.delete(answer.id);
    clearTimeout(pending.timer);
    if ('result' in answer) pending.resolve(answer.result);
    else pending.reject(failureOf(pending.request, answer.refusal));
  }

  #end(error: Error): void {
    const call = this.#call;
    this.#call = undefined;
    call?.cancel();
    for (const { timer, reject } of this.#pending.values()) {
      clearTimeout(timer);
      reject(error);
    }
    this.#pending.clear();
  }
}

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
