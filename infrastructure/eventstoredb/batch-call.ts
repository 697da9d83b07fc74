import { randomUUID } from 'node:crypto';
import shared from '@eventstore/db-client/generated/shared_pb.js';
import type { Status } from '@eventstore/db-client/generated/status_pb.js';
import type { ClientDuplexStream } from '@grpc/grpc-js';
import type { AppendResult } from '../../application/ports/event-store.ts';
import { ConcurrencyError } from '../../application/ports/event-store.ts';
import { appendMessage, decodeAppendAnswer } from './append-messages.ts';
import type { AppendAnswer, AppendRequest } from './append-messages.ts';
import type { Node } from './connection.ts';
import { NoAnswerError, NotConnectedError, RefusedAppendError, refusalIn } from './failures.ts';

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
export class BatchCall {
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
    return this.#connected ? new NoAnswerError(reason) : new NotConnectedError(reason);
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
