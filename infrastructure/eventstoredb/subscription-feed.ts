import type { AllStreamSubscription, EventStoreDBClient, ResolvedEvent } from '@eventstore/db-client';
import { streamNameFilter } from '@eventstore/db-client';
import type { LogPosition, RecordedEvent } from '../../application/ports/event-store.ts';
import { toRecordedEvent } from './event-wire.ts';
import { fromLogPosition, toLogPosition } from './log-position.ts';

export type FeedItem =
  | { readonly kind: 'event'; readonly event: RecordedEvent }
  | { readonly kind: 'checkpoint'; readonly checkpoint: LogPosition }
  | { readonly kind: 'caught_up' };

interface FeedOptions {
  readonly from: LogPosition | 'start';
  readonly prefixes: readonly string[];
  readonly batchSize: number;
  /** How long the server may take to confirm. */
  readonly confirmationMs: number;
}

/** The server tells where it is after it has looked at so many events in vain. */
const SEARCH_WINDOW = 256;

const ignore = (): void => undefined;

/**
 * One subscription to $all of the server, until it ends. The client calls back for checkpoints and for having caught up as soon
 * as they arrive, ahead of events that still wait to be read; here both are put in line behind those events.
 */
export class SubscriptionFeed {
  readonly #subscription: AllStreamSubscription;
  readonly #batchSize: number;
  readonly #confirmation: NodeJS.Timeout;
  #failure: Error | undefined;
  #ended = false;
  #left = false;
  #wake: () => void = ignore;

  /** @throws RangeError the position is not one of this store */
  constructor(client: EventStoreDBClient, options: FeedOptions) {
    const { from, prefixes, batchSize, confirmationMs } = options;
    this.#batchSize = batchSize;
    const filter = streamNameFilter({
      prefixes: [...prefixes],
      maxSearchWindow: SEARCH_WINDOW,
      checkpointReached: (subscription, position) =>
        void subscription.push({ kind: 'checkpoint', checkpoint: toLogPosition(position) }),
    });
    const fromPosition = from === 'start' ? 'start' : fromLogPosition(from);
    const window = { highWaterMark: batchSize };
    this.#subscription = client.subscribeToAll({ fromPosition, filter }, window);
    this.#confirmation = setTimeout(
      () => this.#fail(new Error(`not confirmed within ${confirmationMs} ms`)),
      confirmationMs,
    );
    this.#listen();
  }

  /** What has arrived, at least one and at most a batch; nothing after `quietMs` without any; undefined at the end. */
  async next(quietMs: number): Promise<readonly FeedItem[] | undefined> {
    for (;;) {
      if (this.#left) return undefined;
      if (this.#failure) throw this.#failure;
      const items = this.#take();
      if (items.length > 0) return items;
      if (this.#ended) return undefined;
      if (!(await this.#arrival(quietMs))) return [];
    }
  }

  /** Ends the call at the server as well, which nothing else does. */
  leave(): void {
    if (this.#left) return;
    this.#left = true;
    clearTimeout(this.#confirmation);
    this.#subscription.unsubscribe().catch(ignore);
    this.#wake();
  }

  #listen(): void {
    this.#subscription
      .on('readable', () => this.#wake())
      .on('confirmation', () => clearTimeout(this.#confirmation))
      .on('caughtUp', () => this.#subscription.push({ kind: 'caught_up' }))
      .on('error', (error: Error) => this.#fail(error))
      .on('end', () => this.#end())
      .on('close', () => this.#end());
  }

  #take(): readonly FeedItem[] {
    const items: FeedItem[] = [];
    while (items.length < this.#batchSize) {
      const item = this.#subscription.read() as FeedItem | ResolvedEvent | null;
      if (item === null) break;
      if ('kind' in item) items.push(item);
      else if (item.event) items.push({ kind: 'event', event: toRecordedEvent(item.event) });
    }
    return items;
  }

  /** False when nothing arrived for so long. */
  #arrival(quietMs: number): Promise<boolean> {
    return new Promise((resolve) => {
      const timer = setTimeout(() => resolve(false), quietMs);
      this.#wake = () => {
        clearTimeout(timer);
        resolve(true);
      };
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
