import { randomUUID } from 'node:crypto';
import type { Kafka } from 'kafkajs';
import type { PublicEvent } from '../../application/ports/event-bus.ts';
import type { ConsumerOffsets } from '../../application/processors/consumer-offsets.ts';
import type { DeadLetter, DeadLetters } from '../../application/webhooks/late-events.ts';
import { operationKey } from '../../application/publication/bus-message.ts';
import { within } from '../support/time.ts';
import { CONNECT_WITHIN_MS, RETRY, kafkaClient, watermarks, withAdmin } from './kafka-client.ts';
import type { KafkaConnection } from './kafka-client.ts';
import { isKnown, markAfter, recordOf } from './records.ts';
import type { KafkaRecord } from './records.ts';
import { eventTopicPlans } from './topic-check.ts';
import type { TopicNames } from './topic-check.ts';

interface Options extends KafkaConnection, Pick<TopicNames, 'topicPrefix'> {
  readonly offsets: Pick<ConsumerOffsets, 'marks' | 'mark'>;
}

/** Joining a group takes the brokers some seconds; the topic holds little. */
const READ_WITHIN_MS = 60_000;
const POLL_MS = 100;
/** A consumer moves marks on while it works. */
const ATTEMPTS = 100;

interface FoundRecord {
  readonly record: KafkaRecord;
  readonly at: string;
}

const letterOf = ({ record: { key, headers }, at }: FoundRecord): DeadLetter => {
  const operation = key?.toString('utf8') ?? '';
  const applicationId = headers['application_id'];
  const ours = applicationId !== undefined && operation.startsWith(`${applicationId}.`);
  return {
    eventId: headers['event_id'],
    name: headers['event'],
    applicationId,
    code: ours ? operation.slice(applicationId.length + 1) : undefined,
    group: headers['dead_letter_group'] ?? '',
    reason: headers['dead_letter_reason'] ?? '',
    topic: headers['dead_letter_topic'] ?? '',
    partition: Number(headers['dead_letter_partition']),
    offset: Number(headers['dead_letter_offset']),
    putAsideAt: at,
  };
};

const placeOf = ({ group, topic, partition, offset }: DeadLetter): string =>
  [group, topic, partition, offset].join(' ');

/** The dead letters of the event topic, and what its groups have handled. */
export class KafkaDeadLetters implements DeadLetters {
  readonly #options: Options;
  readonly #kafka: Kafka;
  readonly #topic: string;

  constructor(options: Options) {
    this.#options = options;
    this.#kafka = kafkaClient(options);
    this.#topic = eventTopicPlans(options)[1].topic;
  }

  async list(): Promise<readonly DeadLetter[]> {
    const topics = await withAdmin(this.#kafka, (admin) => admin.listTopics());
    if (!topics.includes(this.#topic)) return [];
    const marks = await watermarks(this.#kafka, this.#topic);
    const filled = [...marks].filter(([, { low, high }]) => high > low);
    const ends = new Map(filled.map(([partition, { high }]) => [partition, high]));
    if (ends.size === 0) return [];
    const letters = (await this.#read(ends)).map(letterOf);
    return [...new Map(letters.map((letter) => [placeOf(letter), letter])).values()];
  }

  async isHandled(group: string, event: PublicEvent): Promise<boolean> {
    const mark = await this.#markOf(group, event);
    return mark !== undefined && event.sequence <= mark.sequence && isKnown(event, mark);
  }

  async noteHandled(group: string, event: PublicEvent): Promise<void> {
    const operation = operationKey(event.applicationId, event.code);
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      const before = await this.#markOf(group, event);
      if (before && event.sequence <= before.sequence && isKnown(event, before)) return;
      if (await this.#options.offsets.mark(group, before, markAfter(before, operation, event))) return;
    }
    throw new Error(`${operation}: the group ${group} moved on at every attempt: try again`);
  }

  async #markOf(group: string, { applicationId, code }: PublicEvent) {
    const operation = operationKey(applicationId, code);
    return (await this.#options.offsets.marks(group, [operation])).get(operation);
  }

  /** By a group of its own, which goes again. */
  async #read(ends: ReadonlyMap<number, number>): Promise<readonly FoundRecord[]> {
    const groupId = `${this.#options.topicPrefix ?? ''}dead-letters-read-${randomUUID()}`;
    const consumer = this.#kafka.consumer({
      groupId,
      maxWaitTimeInMs: POLL_MS,
      allowAutoTopicCreation: false,
      retry: RETRY,
    });
    const found: FoundRecord[] = [];
    const open = new Map(ends);
    const done = Promise.withResolvers<void>();
    consumer.on(consumer.events.CRASH, ({ payload }) => done.reject(payload.error));
    // The mark of a transaction, which may come last, is no message.
    consumer.on(consumer.events.END_BATCH_PROCESS, ({ payload: { partition, lastOffset } }) => {
      if (Number(lastOffset) + 1 >= (open.get(partition) ?? 0)) open.delete(partition);
      if (open.size === 0) done.resolve();
    });
    try {
      await within(CONNECT_WITHIN_MS, 'connecting to Kafka', consumer.connect());
      await consumer.subscribe({ topic: this.#topic, fromBeginning: true });
      await consumer.run({
        autoCommit: false,
        eachMessage: async ({ topic, partition, message }) => {
          const at = new Date(Number(message.timestamp)).toISOString();
          found.push({ record: recordOf(topic, partition, message), at });
        },
      });
      await within(READ_WITHIN_MS, `reading ${this.#topic}`, done.promise);
    } finally {
      await consumer.disconnect().catch(() => undefined);
      await withAdmin(this.#kafka, (admin) => admin.deleteGroups([groupId])).catch(() => undefined);
    }
    return found;
  }
}
