import type { Consumer, ConsumerGroupJoinEvent, EachBatchPayload, Kafka } from 'kafkajs';
import { PlaceMovedError } from '../../application/processors/consumer-offsets.ts';
import type { ConsumerProgress } from '../../application/ports/event-bus.ts';
import type { ConsumerOffsets } from '../../application/processors/consumer-offsets.ts';
import type { Logger } from '../../application/ports/logger.ts';
import type { Place, Processor } from '../../application/processors/processor.ts';
import { Runner } from '../../application/processors/runner.ts';
import { messageOf } from '../../application/support/failures.ts';
import { backoff, repeatUntilAborted } from '../../application/support/retry.ts';
import { pause, within } from '../support/time.ts';
import { keepMembership, watchSession } from './group-session.ts';
import { CONNECT_WITHIN_MS, RETRY, waitingBehind, watermarks } from './kafka-client.ts';
import { PartitionSource } from './partition-source.ts';
import { placeAt } from './records.ts';
import type { KafkaRecord } from './records.ts';
import type { KafkaTopics } from './topics.ts';

export const DEFAULT_CONSUMER_SETTINGS = {
  firstRetryMs: 50,
  longestRetryMs: 5_000,
  /** Most records handed over at once. */
  batchSize: 500,
  /** How long a rebalance waits for members that are still at work. */
  rebalanceTimeoutMs: 12_000,
  /** The broker's own record of the group is for lag tools only, and follows so often. */
  reportEveryMs: 2_000,
  /** Partitions that are held back because the topic got them later are looked at so often. */
  lookAgainMs: 5_000,
};
export type ConsumerSettings = Readonly<typeof DEFAULT_CONSUMER_SETTINGS>;

/** Between two signs of life to the broker. */
const HEARTBEAT_MS = 1_500;
/** A member that is silent for so long loses its partitions to the others. */
const SESSION_TIMEOUT_MS = 7_000;
/** Longest that a question for new messages waits at the broker. */
const POLL_MS = 500;
/** A consumer in which nothing moved for so long is replaced. */
const STALLED_AFTER_MS = 60_000;
/** How long closing waits for the batch at hand. */
const CLOSE_GRACE_MS = 5_000;

export interface TopicConsumerOptions<W> extends Pick<Processor<W, KafkaRecord>, 'handle' | 'putAside'> {
  readonly kafka: Kafka;
  readonly topic: string;
  readonly group: string;
  readonly topics: Pick<KafkaTopics, 'ready' | 'keptNow'>;
  readonly offsets: ConsumerOffsets;
  /** In one transaction with what is written, where that is in the store of the offsets. @throws PlaceMovedError @throws RefusedWritesError */
  readonly commit: (progress: ConsumerProgress, writes: readonly W[]) => Promise<void>;
  readonly logger: Logger;
  readonly settings: ConsumerSettings;
}

export interface ConsumerStatus {
  /** True while it is a member of its group. */
  readonly joined: boolean;
  readonly partitions: readonly number[];
  readonly lastError: string | undefined;
}

/** The partitions that a rebalance gave to this consumer. Replaced by another at every rebalance. */
interface Assignment {
  readonly sources: ReadonlyMap<number, PartitionSource>;
  readonly membership: AbortController;
}

/**
 * One member of a consumer group on one topic. It goes on from the offset in the store of its effects, retries what fails for the
 * moment without moving on, puts aside what can never be handled, and starts again by itself whatever ends the session.
 */
export class KafkaTopicConsumer<W = unknown> {
  readonly #options: TopicConsumerOptions<W>;
  readonly #closing = new AbortController();
  #status: ConsumerStatus = { joined: false, partitions: [], lastError: undefined };
  #assignment: Assignment | undefined;
  #life: Promise<void> | undefined;
  #joinedOnce = false;
  #report: NodeJS.Timeout | undefined;

  constructor(options: TopicConsumerOptions<W>) {
    this.#options = options;
  }

  get group(): string {
    return this.#options.group;
  }

  /** Returns at once; it joins as soon as the brokers can be reached. */
  start(): void {
    this.#life ??= this.#live();
  }

  status(): ConsumerStatus {
    return this.#status;
  }

  /** The batch at hand may finish for a while; what is not stored then comes again. */
  async close(): Promise<void> {
    this.#closing.abort();
    if (this.#life) await within(CLOSE_GRACE_MS + 1_000, 'closing', this.#life).catch(() => undefined);
  }

  /** Messages that the group has not handled yet. */
  async lag(): Promise<number> {
    const { kafka, topic, group, offsets } = this.#options;
    const [marks, stored] = await Promise.all([watermarks(kafka, topic), offsets.load(group, topic)]);
    return waitingBehind(marks, stored);
  }

  async #live(): Promise<void> {
    const { group, topic, logger, settings } = this.#options;
    let failures = 0;
    const afterFailure = (error: unknown): number => {
      failures = this.#joinedOnce ? 1 : failures + 1;
      this.#joinedOnce = false;
      const pauseMs = backoff(failures, 4 * settings.firstRetryMs, settings.longestRetryMs);
      const reason = messageOf(error);
      this.#status = { ...this.#status, lastError: reason };
      const fields = { group, topic, reason, pause_ms: pauseMs };
      logger.warn(fields, 'bus consumer lost its session, it starts again');
      return pauseMs;
    };
    await repeatUntilAborted(() => this.#session(), afterFailure, pause, this.#closing.signal);
  }

  #leave(): void {
    clearTimeout(this.#report);
    this.#report = undefined;
    this.#assignment?.membership.abort();
    this.#assignment = undefined;
    this.#status = { ...this.#status, joined: false, partitions: [] };
  }

  /** Ends without error only by closing. */
  async #session(): Promise<void> {
    const { kafka, topic, group, topics, settings } = this.#options;
    await topics.ready();
    const consumer = kafka.consumer({
      groupId: group,
      sessionTimeout: SESSION_TIMEOUT_MS,
      rebalanceTimeout: settings.rebalanceTimeoutMs,
      heartbeatInterval: HEARTBEAT_MS,
      maxWaitTimeInMs: POLL_MS,
      allowAutoTopicCreation: false,
      // A session that broke is replaced as a whole, by us: the library restarts in some cases only.
      retry: { ...RETRY, restartOnFailure: async () => false },
    });
    const watch = watchSession(consumer, this.#closing.signal, STALLED_AFTER_MS);
    consumer.on(consumer.events.GROUP_JOIN, (event) => this.#joined(consumer, event));
    consumer.on(consumer.events.END_BATCH_PROCESS, ({ payload }) => {
      const { partition, batchSize, lastOffset } = payload;
      // Null, against its type, where all of it lies before the place that was asked for.
      const firstOffset = (payload.firstOffset as string | null) ?? lastOffset;
      if (batchSize === 0)
        this.#assignment?.sources.get(partition)?.passOver(Number(firstOffset), Number(lastOffset) + 1);
    });
    try {
      await within(CONNECT_WITHIN_MS, 'connecting to Kafka', consumer.connect());
      await consumer.subscribe({ topic, fromBeginning: true });
      await consumer.run({
        autoCommit: false,
        eachBatchAutoResolve: false,
        // More at once breaks the order of rebalances in kafkajs (tulios/kafkajs#1492).
        partitionsConsumedConcurrently: 1,
        eachBatch: (payload) => this.#eachBatch(consumer, payload, () => watch.moved()),
      });
      await watch.over;
    } finally {
      watch.stop();
      await within(CLOSE_GRACE_MS, 'leaving the group', consumer.disconnect()).catch(() => undefined);
      this.#leave();
    }
  }

  #joined(consumer: Consumer, { payload }: ConsumerGroupJoinEvent): void {
    const { topic, group, logger } = this.#options;
    const partitions = (payload.memberAssignment[topic] ?? []).toSorted((a, b) => a - b);
    this.#assign(consumer, partitions);
    this.#joinedOnce = true;
    this.#status = { joined: true, partitions, lastError: undefined };
    logger.info({ group, topic, partitions, member: payload.memberId }, 'bus consumer joined its group');
  }

  /** Each partition is followed for itself, until the membership is over. */
  #assign(consumer: Consumer, partitions: readonly number[]): Assignment {
    const { kafka, topic, logger } = this.#options;
    this.#assignment?.membership.abort();
    const membership = new AbortController();
    const signal = AbortSignal.any([membership.signal, this.#closing.signal]);
    let asking: ReturnType<typeof watermarks> | undefined;
    // All of them ask at once.
    const marks = () => (asking ??= watermarks(kafka, topic).finally(() => (asking = undefined)));
    const sources = partitions.map((partition) => this.#source(consumer, partition, marks, signal));
    for (const [n, source] of sources.entries())
      void new Runner(this.#processor(partitions[n]!, source), { logger, pause }).run(signal);
    const assignment = { sources: new Map(partitions.map((one, n) => [one, sources[n]!])), membership };
    this.#assignment = assignment;
    return assignment;
  }

  #source(
    consumer: Consumer,
    partition: number,
    marks: () => ReturnType<typeof watermarks>,
    signal: AbortSignal,
  ): PartitionSource {
    const { topic, group, topics, logger, settings } = this.#options;
    return new PartitionSource({
      fields: { group, topic, partition },
      watermarks: marks,
      keptPartitions: () => topics.keptNow(),
      seek: (offset) => signal.aborted || consumer.seek({ topic, partition, offset: String(offset) }),
      hold: () => consumer.pause([{ topic, partitions: [partition] }]),
      release: () => consumer.resume([{ topic, partitions: [partition] }]),
      lookAgainMs: settings.lookAgainMs,
      logger,
    });
  }

  #processor(partition: number, source: PartitionSource): Processor<W, KafkaRecord> {
    const { topic, group, offsets, handle, putAside, commit, settings } = this.#options;
    const load = async (): Promise<Place> => {
      const next = (await offsets.load(group, topic)).get(partition);
      return next === undefined ? 'start' : placeAt(next);
    };
    return {
      what: 'bus consumer',
      fields: { group, topic, partition },
      source,
      batchSize: settings.batchSize,
      pauses: { firstPauseMs: settings.firstRetryMs, longestPauseMs: settings.longestRetryMs },
      store: {
        load: async () => ({ place: await load(), held: [] }),
        commit: async ({ from, to, writes }) => {
          if (from === 'start') {
            await offsets.begin(group, topic, partition, Number(to));
            return (await load()) === to;
          }
          const place = { group, topic, partition, from: Number(from), to: Number(to) };
          try {
            await commit({ ...place, operations: [] }, writes);
            return true;
          } catch (error) {
            if (error instanceof PlaceMovedError) return false;
            throw error;
          }
        },
      },
      handle,
      ...(putAside && { putAside }),
    };
  }

  async #eachBatch(consumer: Consumer, payload: EachBatchPayload, moved: () => void): Promise<void> {
    const { partition } = payload.batch;
    let assignment = this.#assignment;
    // After some failures the library goes on without joining anew.
    if (assignment?.membership.signal.aborted)
      assignment = this.#assign(consumer, [...assignment.sources.keys()]);
    const source = assignment?.sources.get(partition);
    if (!assignment || !source) return;
    const { membership } = assignment;
    let lost: Error | undefined;
    const beat = (): Promise<void> => (moved(), payload.heartbeat());
    const stop = keepMembership(beat, HEARTBEAT_MS, (error) => {
      lost ??= error;
      membership.abort();
    });
    try {
      await source.handOver(payload, AbortSignal.any([membership.signal, this.#closing.signal]));
    } finally {
      stop();
    }
    if (lost) throw lost;
    this.#reportSoon(payload);
  }

  /** A report that fails costs nothing: the next heartbeat finds out what is wrong. */
  #reportSoon(payload: EachBatchPayload): void {
    this.#report ??= setTimeout(() => {
      this.#report = undefined;
      payload.commitOffsetsIfNecessary(payload.uncommittedOffsets()).catch(() => undefined);
    }, this.#options.settings.reportEveryMs);
  }
}
