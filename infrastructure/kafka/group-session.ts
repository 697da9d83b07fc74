import type { Consumer } from 'kafkajs';
import type { ConsumerOffsets } from '../../application/ports/event-bus.ts';
import type { Logger } from '../../application/ports/logger.ts';
import { messageOf } from '../../application/support/failures.ts';
import { backoff } from '../../application/support/retry.ts';
import { aborted, pause } from '../support/time.ts';
import type { Watermarks } from './kafka-client.ts';

interface Dependencies {
  readonly group: string;
  readonly topic: string;
  readonly offsets: ConsumerOffsets;
  readonly watermarks: () => Promise<ReadonlyMap<number, Watermarks>>;
  /** Over so many partitions the topic's operations are spread. */
  readonly keptPartitions: () => Promise<number | undefined>;
  readonly seek: (partition: number, offset: number) => void;
  /** Nothing more is fetched of it. */
  readonly hold: (partition: number) => void;
  readonly release: (partition: number) => void;
  readonly lookAgainMs: number;
  readonly logger: Logger;
  readonly firstRetryMs: number;
  readonly longestRetryMs: number;
}

/**
 * The partitions that a rebalance gave to this consumer, and where it stands in each: what the store of the effects says, not
 * what the broker remembers. Replaced by another at every rebalance.
 */
export class Assignment {
  readonly #deps: Dependencies;
  readonly #partitions: readonly number[];
  readonly #ended: AbortSignal;
  readonly #next = new Map<number, number>();
  readonly #held = new Set<number>();
  #looking = false;
  #loading: Promise<void>;

  constructor(dependencies: Dependencies, partitions: readonly number[], ended: AbortSignal) {
    this.#deps = dependencies;
    this.#partitions = partitions;
    this.#ended = ended;
    this.#loading = this.#loadUntilKnown();
  }

  /** Next offset to handle; undefined for a partition of another consumer, or when the assignment or the signal ends first. */
  async next(partition: number, signal: AbortSignal): Promise<number | undefined> {
    await Promise.race([this.#loading, aborted(signal)]);
    return this.#ended.aborted || signal.aborted ? undefined : this.#next.get(partition);
  }

  moved(partition: number, next: number): void {
    this.#next.set(partition, next);
  }

  /** Asks the store and the broker once more, and goes to what they say. */
  async reload(signal: AbortSignal): Promise<void> {
    this.#loading = this.#loadUntilKnown();
    await Promise.race([this.#loading, aborted(signal)]);
  }

  /** The stored offset alone; undefined when nothing is stored. */
  async stored(partition: number): Promise<number | undefined> {
    const { group, topic, offsets } = this.#deps;
    return (await offsets.load(group, topic)).get(partition);
  }

  async #loadUntilKnown(): Promise<void> {
    const { group, topic, logger, firstRetryMs, longestRetryMs } = this.#deps;
    for (let failures = 1; !this.#ended.aborted; failures++) {
      try {
        return await this.#load();
      } catch (error) {
        const pauseMs = backoff(failures, firstRetryMs, longestRetryMs);
        const fields = { group, topic, reason: messageOf(error), pause_ms: pauseMs };
        logger.warn(fields, 'bus consumer does not know its place yet');
        await pause(pauseMs, this.#ended);
      }
    }
  }

  async #load(): Promise<void> {
    const { group, topic, offsets, watermarks, keptPartitions } = this.#deps;
    if (this.#partitions.length === 0) return;
    const [stored, marks, kept = Infinity] = await Promise.all([
      offsets.load(group, topic),
      watermarks(),
      keptPartitions(),
    ]);
    if (this.#ended.aborted) return;
    this.#holdFrom(kept);
    for (const partition of this.#partitions) {
      if (partition >= kept) continue;
      const { low, high } = marks.get(partition) ?? { low: 0, high: 0 };
      const next = await this.#place(partition, stored.get(partition), low, high);
      if (this.#ended.aborted) return;
      this.#next.set(partition, next);
      this.#deps.seek(partition, next);
      if (this.#held.delete(partition)) this.#deps.release(partition);
    }
  }

  /** What a topic got later may hold newer events of operations whose older ones wait elsewhere: it is read once that was accepted. */
  #holdFrom(kept: number): void {
    const { group, topic, hold, logger, lookAgainMs } = this.#deps;
    const partitions = this.#partitions.filter((partition) => partition >= kept);
    if (partitions.length === 0) return;
    const isNews = partitions.some((partition) => !this.#held.has(partition));
    for (const partition of partitions) {
      this.#held.add(partition);
      hold(partition);
    }
    if (isNews)
      logger.error(
        { group, topic, partitions, kept },
        `these partitions came later and are not consumed: see receivables topics accept-partitions ${topic}`,
      );
    void this.#untilAccepted(kept, lookAgainMs);
  }

  async #untilAccepted(kept: number, lookAgainMs: number): Promise<void> {
    if (this.#looking) return;
    this.#looking = true;
    while (!this.#ended.aborted) {
      await pause(lookAgainMs, this.#ended);
      // A store that is away is told of by the calls that need it.
      const now = await this.#deps.keptPartitions().catch(() => kept);
      if (now === kept || this.#ended.aborted) continue;
      this.#looking = false;
      this.#loading = this.#loadUntilKnown();
      return;
    }
  }

  async #place(partition: number, stored: number | undefined, low: number, high: number): Promise<number> {
    const { group, topic, offsets, logger } = this.#deps;
    if (stored === undefined) {
      await offsets.begin(group, topic, partition, low);
      return low;
    }
    if (stored >= low && stored <= high) return stored;
    const fields = { group, topic, partition, stored, oldest: low, end: high };
    if (stored < low) logger.error(fields, 'messages expired on the broker before they were consumed');
    else
      logger.error(
        fields,
        'the topic is shorter than what was consumed of it; it is read from its beginning',
      );
    await offsets.advance({ group, topic, partition, from: stored, to: low, operations: [] });
    return low;
  }
}

export interface SessionWatch {
  /** Rejects when the session broke, resolves when it is to end. */
  readonly over: Promise<void>;
  /** A sign of life from outside the library: work that takes long. */
  moved(): void;
  stop(): void;
}

/**
 * Knows when a session is over: the library gave up, a broker did not answer a member, or it is alive in name only. The last should
 * not happen, but kafkajs is no longer maintained, and an error on its way out of a crash would otherwise leave a consumer that does
 * nothing for ever.
 */
export const watchSession = (
  consumer: Consumer,
  closing: AbortSignal,
  stalledAfterMs: number,
): SessionWatch => {
  const { promise: over, resolve, reject } = Promise.withResolvers<void>();
  let lastMoved = performance.now();
  let joined = false;
  const moved = (): void => void (lastMoved = performance.now());
  consumer.on(consumer.events.CRASH, ({ payload }) => reject(payload.error));
  consumer.on(consumer.events.GROUP_JOIN, () => {
    joined = true;
    moved();
  });
  // The library would ask the same broker again and again; a new consumer learns who leads now.
  consumer.on(consumer.events.REQUEST_TIMEOUT, ({ payload: { apiName, broker } }) => {
    if (joined) reject(new Error(`${broker} did not answer ${apiName}`));
  });
  consumer.on(consumer.events.FETCH, moved);
  consumer.on(consumer.events.HEARTBEAT, moved);
  const stalled = setInterval(() => {
    const idleMs = performance.now() - lastMoved;
    if (idleMs > stalledAfterMs) reject(new Error(`nothing moved for ${Math.round(idleMs)} ms`));
  }, stalledAfterMs / 10);
  const end = (): void => resolve();
  closing.addEventListener('abort', end);
  if (closing.aborted) end();
  // The caller does not wait for it yet while the consumer connects.
  over.catch(() => undefined);
  const stop = (): void => {
    clearInterval(stalled);
    closing.removeEventListener('abort', end);
  };
  return { over, moved, stop };
};

/** A batch's hold on its partition: lasts until the broker no longer counts this member in, or the consumer closes. */
export interface Membership {
  readonly signal: AbortSignal;
  /** What the broker answered when it was over. */
  lost(): Error | undefined;
  stop(): void;
}

/** Tells the broker that this member lives, however long the work takes. */
export const keepMembership = (
  beat: () => Promise<void>,
  everyMs: number,
  closing: AbortSignal,
): Membership => {
  const over = new AbortController();
  let lost: Error | undefined;
  const timer = setInterval(() => {
    beat().catch((error: unknown) => {
      lost ??= error instanceof Error ? error : new Error(String(error));
      over.abort();
    });
  }, everyMs);
  const close = (): void => over.abort();
  closing.addEventListener('abort', close);
  if (closing.aborted) close();
  const stop = (): void => {
    clearInterval(timer);
    closing.removeEventListener('abort', close);
  };
  return { signal: over.signal, lost: () => lost, stop };
};
