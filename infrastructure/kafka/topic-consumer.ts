import type { Consumer, ConsumerGroupJoinEvent, EachBatchPayload, Kafka } from 'kafkajs';
import type { ConsumerOffsets } from '../../application/ports/event-bus.ts';
import type { Logger } from '../../application/ports/logger.ts';
import { messageOf } from '../../application/support/failures.ts';
import { backoff } from '../../application/support/retry.ts';
import { pause, within } from '../support/time.ts';
import { Assignment, keepMembership, watchSession } from './group-session.ts';
import { BatchWork } from './batch-work.ts';
import type { BatchSettings, RecordHandler } from './batch-work.ts';
import type { DeadLetterTopic } from './dead-letter-topic.ts';
import { CONNECT_WITHIN_MS, RETRY, watermarks } from './kafka-client.ts';
import type { KafkaTopics } from './topics.ts';

export interface ConsumerSettings extends BatchSettings {
  /** Between two signs of life to the broker. */
  readonly heartbeatMs: number;
  /** A member that is silent for so long loses its partitions to the others. */
  readonly sessionTimeoutMs: number;
  /** How long a rebalance waits for members that are still at work. */
  readonly rebalanceTimeoutMs: number;
  /** Longest that a question for new messages waits at the broker. */
  readonly pollMs: number;
  /** The broker's own record of the group is for lag tools only, and follows so often. */
  readonly reportEveryMs: number;
  /** A consumer in which nothing moved for so long is replaced. */
  readonly stalledAfterMs: number;
  /** Partitions that are held back because the topic got them later are looked at so often. */
  readonly lookAgainMs: number;
  /** How long closing waits for the batch at hand. */
  readonly closeGraceMs: number;
}

export const DEFAULT_CONSUMER_SETTINGS: ConsumerSettings = {
  firstRetryMs: 50,
  longestRetryMs: 5_000,
  heartbeatMs: 1_500,
  batchSize: 500,
  sessionTimeoutMs: 7_000,
  rebalanceTimeoutMs: 12_000,
  pollMs: 500,
  reportEveryMs: 2_000,
  stalledAfterMs: 60_000,
  lookAgainMs: 5_000,
  closeGraceMs: 5_000,
};

export interface TopicConsumerOptions {
  readonly kafka: Kafka;
  readonly topic: string;
  readonly group: string;
  readonly topics: Pick<KafkaTopics, 'ready' | 'keptNow'>;
  readonly offsets: ConsumerOffsets;
  readonly handle: RecordHandler;
  readonly deadLetters: DeadLetterTopic;
  readonly logger: Logger;
  readonly settings: ConsumerSettings;
}

export interface ConsumerStatus {
  /** True while it is a member of its group. */
  readonly joined: boolean;
  readonly partitions: readonly number[];
  readonly lastError: string | undefined;
}

/** The batch's own knowledge of what was asked for, which the types of kafkajs keep to themselves. */
const askedFor = (batch: EachBatchPayload['batch']): number =>
  Number((batch as { fetchedOffset?: string }).fetchedOffset ?? batch.firstOffset() ?? 0);

/**
 * One member of a consumer group on one topic. It goes on from the offset in the store of its effects, retries what fails for the
 * moment without moving on, puts aside what can never be handled, and starts again by itself whatever ends the session.
 */
export class KafkaTopicConsumer {
  readonly #options: TopicConsumerOptions;
  readonly #closing = new AbortController();
  #status: ConsumerStatus = { joined: false, partitions: [], lastError: undefined };
  #assignment: { readonly places: Assignment; readonly ended: AbortController } | undefined;
  #life: Promise<void> | undefined;
  #joinedOnce = false;
  #report: NodeJS.Timeout | undefined;

  constructor(options: TopicConsumerOptions) {
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
    const { closeGraceMs } = this.#options.settings;
    if (this.#life) await within(closeGraceMs + 1_000, 'closing', this.#life).catch(() => undefined);
  }

  /** Messages that wait, by partition. */
  async lag(): Promise<ReadonlyMap<number, number>> {
    const { kafka, topic, group, offsets } = this.#options;
    const [marks, stored] = await Promise.all([watermarks(kafka, topic), offsets.load(group, topic)]);
    return new Map(
      [...marks].map(([partition, { low, high }]) => [
        partition,
        Math.max(0, high - (stored.get(partition) ?? low)),
      ]),
    );
  }

  async #live(): Promise<void> {
    const { group, topic, logger, settings } = this.#options;
    const { signal } = this.#closing;
    for (let failures = 1; !signal.aborted; failures++) {
      try {
        await this.#session();
      } catch (error) {
        if (this.#joinedOnce) failures = 1;
        this.#joinedOnce = false;
        const pauseMs = backoff(failures, 4 * settings.firstRetryMs, settings.longestRetryMs);
        const reason = messageOf(error);
        this.#status = { ...this.#status, lastError: reason };
        logger.warn(
          { group, topic, reason, pause_ms: pauseMs },
          'bus consumer lost its session, it starts again',
        );
        await pause(pauseMs, signal);
      }
    }
  }

  #leave(): void {
    clearTimeout(this.#report);
    this.#report = undefined;
    this.#assignment?.ended.abort();
    this.#assignment = undefined;
    this.#status = { ...this.#status, joined: false, partitions: [] };
  }

  /** Ends without error only by closing. */
  async #session(): Promise<void> {
    const { kafka, topic, group, topics, settings } = this.#options;
    await topics.ready();
    const consumer = kafka.consumer({
      groupId: group,
      sessionTimeout: settings.sessionTimeoutMs,
      rebalanceTimeout: settings.rebalanceTimeoutMs,
      heartbeatInterval: settings.heartbeatMs,
      maxWaitTimeInMs: settings.pollMs,
      allowAutoTopicCreation: false,
      // A session that broke is replaced as a whole, by us: the library restarts in some cases only.
      retry: { ...RETRY, restartOnFailure: async () => false },
    });
    const watch = watchSession(consumer, this.#closing.signal, settings.stalledAfterMs);
    consumer.on(consumer.events.GROUP_JOIN, (event) => this.#joined(consumer, event));
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
      await within(settings.closeGraceMs, 'leaving the group', consumer.disconnect()).catch(() => undefined);
      this.#leave();
    }
  }

  #joined(consumer: Consumer, { payload }: ConsumerGroupJoinEvent): void {
    const { kafka, topic, group, topics, offsets, logger, settings } = this.#options;
    const partitions = (payload.memberAssignment[topic] ?? []).toSorted((a, b) => a - b);
    this.#assignment?.ended.abort();
    const ended = new AbortController();
    const seek = (partition: number, offset: number): void => {
      if (!ended.signal.aborted) consumer.seek({ topic, partition, offset: String(offset) });
    };
    const { firstRetryMs, longestRetryMs } = settings;
    const places = new Assignment(
      {
        group,
        topic,
        offsets,
        watermarks: () => watermarks(kafka, topic),
        keptPartitions: () => topics.keptNow(topic),
        seek,
        hold: (partition) => consumer.pause([{ topic, partitions: [partition] }]),
        release: (partition) => consumer.resume([{ topic, partitions: [partition] }]),
        lookAgainMs: settings.lookAgainMs,
        logger,
        firstRetryMs,
        longestRetryMs,
      },
      partitions,
      AbortSignal.any([ended.signal, this.#closing.signal]),
    );
    this.#assignment = { places, ended };
    this.#joinedOnce = true;
    this.#status = { joined: true, partitions, lastError: undefined };
    logger.info({ group, topic, partitions, member: payload.memberId }, 'bus consumer joined its group');
  }

  async #eachBatch(consumer: Consumer, payload: EachBatchPayload, moved: () => void): Promise<void> {
    const beat = (): Promise<void> => (moved(), payload.heartbeat());
    const member = keepMembership(beat, this.#options.settings.heartbeatMs, this.#closing.signal);
    try {
      await this.#handle(consumer, payload, member.signal);
    } finally {
      member.stop();
    }
    const lost = member.lost();
    if (lost) throw lost;
  }

  async #handle(consumer: Consumer, payload: EachBatchPayload, signal: AbortSignal): Promise<void> {
    const { topic, partition } = payload.batch;
    const assignment = this.#assignment?.places;
    const from = await assignment?.next(partition, signal);
    if (!assignment || from === undefined || payload.isStale()) return;
    // The broker remembers another place than the store, or went to its oldest message because ours has expired.
    if (askedFor(payload.batch) > from) return assignment.reload(signal);
    const work = new BatchWork(this.#options, assignment, payload);
    const next = await work.run(from, signal);
    payload.resolveOffset(String(next - 1));
    if (next !== work.end && !this.#closing.signal.aborted)
      consumer.seek({ topic, partition, offset: String(next) });
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
