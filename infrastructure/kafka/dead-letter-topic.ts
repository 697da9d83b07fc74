import { MessageTooLargeError } from '../../application/ports/event-bus.ts';
import type { Logger } from '../../application/ports/logger.ts';
import type { OrderedProducer, OutgoingMessage } from './ordered-producer.ts';
import type { KafkaRecord } from './records.ts';
import type { TopicPairOptions } from './topic-pair.ts';

/** Much longer reasons would make a message too large that was not. */
const LONGEST_REASON = 2_000;

/** Key, value and headers stay as they were found; where it stood and what was wrong with it stand in further headers. */
const deadLetterOf = (record: KafkaRecord, group: string, reason: string): OutgoingMessage => ({
  key: record.key,
  value: record.value,
  headers: {
    ...Object.fromEntries(Object.entries(record.headers).map(([name, value]) => [name, value ?? ''])),
    dead_letter_reason: reason.slice(0, LONGEST_REASON),
    dead_letter_group: group,
    dead_letter_topic: record.topic,
    dead_letter_partition: String(record.partition),
    dead_letter_offset: String(record.offset),
  },
});

/** Keeps what a group could never handle, until people have looked at it. */
export class DeadLetterTopic {
  readonly #producer: OrderedProducer;
  readonly #logger: Logger;
  readonly #metrics: TopicPairOptions['metrics'];

  constructor(producer: OrderedProducer, { logger, metrics }: TopicPairOptions) {
    this.#producer = producer;
    this.#logger = logger;
    this.#metrics = metrics;
  }

  /** Durable when it resolves; the same record may be put again after a crash. */
  async put(record: KafkaRecord, group: string, reason: string): Promise<void> {
    await this.#send(deadLetterOf(record, group, reason));
    const { topic, partition, offset } = record;
    const event_id = record.headers['event_id'];
    this.#logger.error(
      { group, topic, partition, offset, event_id, reason },
      'message put to the dead letters',
    );
    this.#metrics?.deadLettered?.(topic, group);
  }

  /** What does not fit goes without its value: it can still be read where it stood. */
  async #send(message: OutgoingMessage): Promise<void> {
    try {
      await this.#producer.send([message]);
    } catch (error) {
      if (!(error instanceof MessageTooLargeError)) throw error;
      const headers = { ...message.headers, dead_letter_value: 'left out, too large' };
      await this.#producer.send([{ key: message.key, value: null, headers }]);
    }
  }
}
