import type { ClientReadableStream } from '@grpc/grpc-js';
import type { LogPosition, RecordedEvent } from '../../application/ports/event-store.ts';
import type { Node } from './connection.ts';
import { fromLogPosition } from './event-wire.ts';
import { subscriptionRequest } from './messages.ts';
import type { ReadAnswer } from './messages.ts';
import { NoAnswerError } from './failures.ts';

export type FeedItem =
  | { readonly kind: 'event'; readonly event: RecordedEvent }
  | { readonly kind: 'checkpoint'; readonly checkpoint: LogPosition }
  /** `guessed` from silence, which proves nothing. */
  | { readonly kind: 'caught_up'; readonly guessed?: true }
  | { readonly kind: 'fell_behind' };

export const placeOf = (item: FeedItem): LogPosition | undefined => {
  if (item.kind === 'event') return item.event.position;
  return item.kind === 'checkpoint' ? item.checkpoint : undefined;
};

interface FeedOptions {
  readonly from: LogPosition | 'start';
  readonly prefixes: readonly string[];
  readonly batchSize: number;
  /** How long the server may take to confirm. */
  readonly confirmationMs: number;
}

const ignore = (): void => undefined;

const PARTS_OF_SILENCE = 4;

/** One subscription to $all of the server, until it ends: what it says, in the order in which it says it. */
export class SubscriptionFeed {
  readonly #node: Node;
  readonly #call: ClientReadableStream<ReadAnswer>;
  readonly #batchSize: number;
  readonly #confirmation: NodeJS.Timeout;
  #items: FeedItem[] = [];
  #failure: Error | undefined;
  #ended = false;
  #left = false;
  #wake: () => void = ignore;

  /** @throws RangeError the position is not one of this store */
  constructor(node: Node, options: FeedOptions) {
    const { from, prefixes, batchSize, confirmationMs } = options;
    const place = from === 'start' ? 'start' : fromLogPosition(from);
    this.#node = node;
    this.#batchSize = batchSize;
    this.#call = node.read('subscriptions', subscriptionRequest(place, prefixes));
    this.#confirmation = setTimeout(
      () => this.#fail(new NoAnswerError(`not confirmed within ${confirmationMs} ms`)),
      confirmationMs,
    );
    this.#call
      .on('data', (answer: ReadAnswer) => this.#arrived(answer))
      .on('error', (error: Error) => this.#fail(error))
      .on('end', () => this.#end());
    node.left.addEventListener('abort', this.#nodeLeft, { once: true });
  }

  /** What has arrived, at least one and at most a batch; nothing after `quietMs` without any; undefined at the end. */
  async next(quietMs: number): Promise<readonly FeedItem[] | undefined> {
    for (;;) {
      if (this.#left) return undefined;
      // What arrived before a failure counts.
      if (this.#items.length > 0) return this.#take();
      if (this.#failure) throw this.#failure;
      if (this.#ended) return undefined;
      if (!(await this.#arrival(quietMs))) return [];
    }
  }

  /** Ends the call at the server as well, which nothing else does. */
  leave(): void {
    if (this.#left) return;
    this.#left = true;
    clearTimeout(this.#confirmation);
    this.#node.left.removeEventListener('abort', this.#nodeLeft);
    this.#call.cancel();
    this.#wake();
  }

  readonly #nodeLeft = (): void => this.#fail(new NoAnswerError('the node was left'));

  #arrived(answer: ReadAnswer): void {
    if (answer.kind === 'confirmed') clearTimeout(this.#confirmation);
    if (!isItem(answer)) return;
    this.#items.push(answer);
    // The reader has enough for now: the server is held up as soon as the windows between here and there are full.
    if (this.#items.length >= this.#batchSize) this.#call.pause();
    this.#wake();
  }

  #take(): readonly FeedItem[] {
    const items = this.#items.splice(0, this.#batchSize);
    if (this.#items.length < this.#batchSize && this.#call.isPaused()) this.#call.resume();
    return items;
  }

  /** False when nothing arrived for so long. Counted in parts: a process that stood still itself takes that for one of them. */
  #arrival(quietMs: number): Promise<boolean> {
    return new Promise((resolve) => {
      const done = (arrived: boolean): void => {
        clearInterval(parts);
        this.#wake = ignore;
        // At the end of the turn: what the turn still brings belongs to the same batch.
        if (arrived) setImmediate(resolve, true);
        else resolve(false);
      };
      let silent = 0;
      const parts = setInterval(() => {
        silent += 1;
        if (silent === PARTS_OF_SILENCE) done(false);
      }, quietMs / PARTS_OF_SILENCE);
      this.#wake = () => done(true);
    });
  }

  #fail(error: Error): void {
    this.#failure ??= error;
    this.#wake();
  }

  #end(): void {
    this.#ended = true;
    this.#wake();
  }
}

const isItem = (
  answer: ReadAnswer,
): answer is Exclude<ReadAnswer, { kind: 'confirmed' | 'absent' | 'other' }> =>
  answer.kind !== 'confirmed' && answer.kind !== 'absent' && answer.kind !== 'other';
