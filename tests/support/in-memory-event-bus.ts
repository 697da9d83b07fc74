import type { EventBus, PublicEvent } from '../../application/ports/event-bus.ts';
import type { Logger } from '../../application/ports/logger.ts';
import { messageOf } from '../../application/support/failures.ts';
import { backoff } from '../../application/support/retry.ts';
import { pause, unlessAborted } from '../../infrastructure/support/time.ts';

export type EventHandler = (events: readonly PublicEvent[]) => Promise<void>;

interface InMemoryEventBusOptions {
  readonly logger?: Logger;
  /** Before the first repetition of a failed batch; doubles each time. Default 50. */
  readonly firstRetryMs?: number;
  /** Default 5,000. */
  readonly longestRetryMs?: number;
  /** How long `close` lets running handlers finish. Default 1,000. */
  readonly closeGraceMs?: number;
}

const closedError = (): Error => new Error('the event bus is closed');

/**
 * Hands each batch to every group and answers only when all of them have handled it, so that the relay's checkpoint stands for
 * durable work: what was not finished before a crash is published again.
 */
export class InMemoryEventBus implements EventBus {
  readonly #options: InMemoryEventBusOptions;
  readonly #closing = new AbortController();
  readonly #groups = new Map<string, EventHandler>();
  /** Per group, the end of its work so far. */
  readonly #tails = new Map<string, Promise<void>>();
  readonly #running = new Set<Promise<void>>();
  readonly #firstGroup = Promise.withResolvers<void>();

  constructor(options: InMemoryEventBusOptions = {}) {
    this.#options = options;
  }

  /** Waits for the first group when there is none: events without a consumer would be lost. */
  async publish(events: readonly PublicEvent[]): Promise<void> {
    const { signal } = this.#closing;
    if (events.length > 0) await unlessAborted(this.#firstGroup.promise, signal);
    if (signal.aborted) throw closedError();
    if (events.length === 0) return;
    await Promise.all([...this.#groups.keys()].map((group) => this.#enqueue(group, events)));
  }

  async consume(group: string, handler: EventHandler): Promise<void> {
    if (this.#closing.signal.aborted) throw closedError();
    if (this.#groups.has(group)) throw new Error(`group ${group} already has a handler`);
    this.#groups.set(group, handler);
    this.#firstGroup.resolve();
  }

  /** Batches that are not handled yet stay unacknowledged: their publishers get an error. */
  async close(): Promise<void> {
    this.#closing.abort();
    const grace = new AbortController();
    const finished = Promise.allSettled(this.#running).then(() => grace.abort());
    await Promise.race([finished, pause(this.#options.closeGraceMs ?? 1_000, grace.signal)]);
  }

  #enqueue(group: string, events: readonly PublicEvent[]): Promise<void> {
    const work = (this.#tails.get(group) ?? Promise.resolve()).then(() => this.#deliver(group, events));
    // The next batch waits for this one whatever becomes of it; only closing makes it fail.
    const tail = work.catch(() => undefined);
    this.#tails.set(group, tail);
    return work;
  }

  async #deliver(group: string, events: readonly PublicEvent[]): Promise<void> {
    const { logger, firstRetryMs = 50, longestRetryMs = 5_000 } = this.#options;
    const { signal } = this.#closing;
    for (let attempt = 1; !signal.aborted; attempt++) {
      try {
        const handled = this.#run(group, events).then(() => true);
        if (await unlessAborted(handled, signal)) return;
      } catch (error) {
        const delay = backoff(attempt, firstRetryMs, longestRetryMs);
        const fields = { group, attempt, reason: messageOf(error), retryInMs: delay };
        logger?.warn(fields, 'event handler failed, the batch is handed out again');
        await pause(delay, signal);
      }
    }
    throw closedError();
  }

  async #run(group: string, events: readonly PublicEvent[]): Promise<void> {
    const running = Promise.resolve(this.#groups.get(group)?.(events));
    this.#running.add(running);
    try {
      await running;
    } finally {
      this.#running.delete(running);
    }
  }
}
