import type { EachBatchPayload } from 'kafkajs';
import type {
  EventSubscription,
  SubscribeOptions,
  SubscriptionMessage,
} from '../../application/ports/event-store.ts';
import type { Place } from '../../application/processors/processor.ts';
import type { Logger } from '../../application/ports/logger.ts';
import { pause, unlessAborted } from '../support/time.ts';
import type { Watermarks } from './kafka-client.ts';
import { placeAt, recordOf } from './records.ts';
import type { KafkaRecord } from './records.ts';

interface HandedOver {
  readonly payload: EachBatchPayload;
  readonly letGo: () => void;
}

interface Dependencies {
  /** In each line of the log. */
  readonly fields: { readonly group: string; readonly topic: string; readonly partition: number };
  readonly watermarks: () => Promise<ReadonlyMap<number, Watermarks>>;
  /** Over so many partitions the topic's operations are spread. */
  readonly keptPartitions: () => Promise<number | undefined>;
  readonly seek: (offset: number) => void;
  /** Nothing more is fetched of it. */
  readonly hold: () => void;
  readonly release: () => void;
  readonly lookAgainMs: number;
  readonly logger: Logger;
}

type Batch = EachBatchPayload['batch'];

/** The batch's own knowledge of what was asked for, which the types of kafkajs keep to themselves. */
const askedFor = (batch: Batch): number =>
  Number((batch as { fetchedOffset?: string }).fetchedOffset ?? batch.firstOffset() ?? 0);

/**
 * A partition as long as it belongs to this consumer, from the place that its follower has: not from what the broker remembers. A batch of
 * the library lasts until the follower has it behind itself, or lets go of it and subscribes anew, which seeks the place that is stored then.
 */
export class PartitionSource implements EventSubscription<KafkaRecord> {
  readonly #deps: Dependencies;
  #follower = Promise.withResolvers<(batch: HandedOver) => void>();
  /** Whether the broker still has what the follower asks for was looked at. */
  #looked = false;
  #isHeld = false;
  /** From here to there nothing is handed over. */
  #empty = { from: 0, to: 0 };

  constructor(dependencies: Dependencies) {
    this.#deps = dependencies;
  }

  /** Resolves once the follower is done with it, or the signal ended before the follower took it. */
  async handOver(payload: EachBatchPayload, signal: AbortSignal): Promise<void> {
    const take = await unlessAborted(this.#follower.promise, signal);
    // A stale batch was fetched before the follower said where it stands.
    if (!take || payload.isStale()) return;
    const { promise, resolve: letGo } = Promise.withResolvers<void>();
    take({ payload, letGo });
    await promise;
  }

  /** Marks of transactions, and what an aborted one wrote, which the library keeps to itself and goes on behind. */
  passOver(from: number, to: number): void {
    this.#empty = { from: from === this.#empty.to ? this.#empty.from : from, to };
  }

  async *subscribe({
    from,
    signal,
    batchSize,
  }: SubscribeOptions): AsyncGenerator<SubscriptionMessage<KafkaRecord>, void, undefined> {
    await this.#untilAccepted(signal);
    let next = this.#looked && from !== 'start' ? Number(from) : await this.#within(from);
    if (signal.aborted) return;
    this.#deps.seek(next);
    if (from !== placeAt(next)) yield { kind: 'checkpoint', checkpoint: placeAt(next) };
    this.#looked = true;
    for (;;) {
      const handed = await this.#handed(signal);
      if (!handed) return;
      try {
        next = yield* this.#through(handed.payload, next, { signal, batchSize });
        if (signal.aborted) return;
      } finally {
        handed.letGo();
      }
    }
  }

  /** Answers where to go on. */
  async *#through(
    payload: EachBatchPayload,
    next: number,
    { signal, batchSize }: Pick<SubscribeOptions, 'signal'> & { readonly batchSize: number | undefined },
  ): AsyncGenerator<SubscriptionMessage<KafkaRecord>, number, undefined> {
    const { batch } = payload;
    const end = Number(batch.lastOffset()) + 1;
    const { from, to } = this.#empty;
    if (askedFor(batch) > (from <= next && next < to ? to : next)) {
      // The broker remembers another place, or went to its oldest message because ours has expired.
      const found = await this.#within(placeAt(next));
      if (found !== next) yield { kind: 'checkpoint', checkpoint: placeAt(found) };
      this.#deps.seek(found);
      return found;
    }
    if (end <= next) {
      this.#deps.seek(next);
      return next;
    }
    for (const message of this.#messages(batch, next, batchSize)) {
      yield message;
      if (signal.aborted) return next;
    }
    payload.resolveOffset(batch.lastOffset());
    return end;
  }

  *#messages(
    batch: Batch,
    next: number,
    size = batch.messages.length,
  ): Generator<SubscriptionMessage<KafkaRecord>> {
    const { topic, partition, messages } = batch;
    const rest = messages.filter(({ offset }) => Number(offset) >= next);
    const end = placeAt(Number(batch.lastOffset()) + 1);
    for (let n = 0; n < rest.length; n += size) {
      const events = rest.slice(n, n + size).map((message) => recordOf(topic, partition, message));
      const isLast = n + size >= rest.length;
      yield { kind: 'events', events, checkpoint: isLast ? end : events.at(-1)!.position };
    }
    // The broker's own records are handed to nobody, and count.
    if (rest.length === 0) yield { kind: 'checkpoint', checkpoint: end };
  }

  async #handed(signal: AbortSignal): Promise<HandedOver | undefined> {
    const handed = Promise.withResolvers<HandedOver | undefined>();
    const giveUp = (): void => handed.resolve(undefined);
    signal.addEventListener('abort', giveUp);
    if (signal.aborted) giveUp();
    this.#follower.resolve((batch) => {
      handed.resolve(batch);
      void handed.promise.then((taken) => taken === batch || batch.letGo());
    });
    const batch = await handed.promise;
    signal.removeEventListener('abort', giveUp);
    this.#follower = Promise.withResolvers();
    return batch;
  }

  /** What a topic got later may hold newer events of operations whose older ones wait elsewhere: it is read once that was accepted. */
  async #untilAccepted(signal: AbortSignal): Promise<void> {
    const { fields, keptPartitions, hold, release, lookAgainMs, logger } = this.#deps;
    while (!signal.aborted) {
      const kept = (await keptPartitions()) ?? Infinity;
      if (signal.aborted) return;
      if (fields.partition < kept) {
        if (!this.#isHeld) return;
        this.#isHeld = false;
        this.#follower = Promise.withResolvers();
        return release();
      }
      if (!this.#isHeld) {
        this.#isHeld = true;
        hold();
        this.#follower.resolve(({ letGo }) => letGo());
        logger.error(
          { ...fields, kept },
          `this partition came later and is not consumed: see receivables topics accept-partitions ${fields.topic}`,
        );
      }
      await pause(lookAgainMs, signal);
    }
  }

  /** The place itself, or where to go on where the broker does not have it. */
  async #within(from: Place): Promise<number> {
    const { fields, watermarks, logger } = this.#deps;
    const { low, high } = (await watermarks()).get(fields.partition) ?? { low: 0, high: 0 };
    const stored = from === 'start' ? low : Number(from);
    if (stored >= low && stored <= high) return stored;
    const found = { ...fields, stored, oldest: low, end: high };
    if (stored < low) logger.error(found, 'messages expired on the broker before they were consumed');
    else
      logger.error(found, 'the topic is shorter than what was consumed of it; it is read from its beginning');
    return low;
  }
}
