import type { Logger } from '../../application/ports/logger.ts';
import { MessageTooLargeError } from '../../application/ports/event-bus.ts';
import type {
  ConsumerProgress,
  EventBus,
  EventHandler,
  PublicEvent,
} from '../../application/ports/event-bus.ts';
import type { ConsumerOffsets } from '../../application/processors/consumer-offsets.ts';
import { PoisonEventError } from '../../application/processors/processor.ts';
import { toBusMessage } from '../../application/publication/bus-message.ts';
import { eventOf, freshEvents } from './records.ts';
import type { KafkaRecord } from './records.ts';
import type { OrderedProducer, OutgoingMessage } from './ordered-producer.ts';
import type { ConsumerStatus, KafkaTopicConsumer } from './topic-consumer.ts';
import { TopicPair } from './topic-pair.ts';
import type { TopicPairOptions } from './topic-pair.ts';
import { eventTopicPlans } from './topic-check.ts';

interface KafkaEventBusStatus {
  /** Why the last publication failed; undefined after a success. */
  readonly publishingError: string | undefined;
  readonly groups: ReadonlyMap<string, ConsumerStatus>;
}

/** What is handled of a batch, and what is to be remembered of it. */
interface Handled {
  readonly events: readonly PublicEvent[];
  readonly operations: ConsumerProgress['operations'];
}

/** Its webhooks were never made, and now they could only be sent out of order. */
const overtaken = (
  record: KafkaRecord,
  { eventId, sequence, code }: PublicEvent,
  newest: number,
): PoisonEventError<KafkaRecord> => {
  const reason = `event ${eventId} (sequence ${sequence} of ${code}) comes after sequence ${newest}, and the group has not handled it`;
  return new PoisonEventError(record, new Error(reason));
};

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

/** Events on a Kafka topic, in order per operation because an operation's events share a key and so a partition. */
export class KafkaEventBus implements EventBus {
  readonly #offsets: ConsumerOffsets;
  readonly #logger: Logger;
  readonly #pair: TopicPair;
  readonly #producer: OrderedProducer;
  readonly #deadLetters: OrderedProducer;
  readonly #metrics: TopicPairOptions['metrics'];
  readonly #consumers = new Map<string, KafkaTopicConsumer<Handled>>();
  #closed = false;

  /** Connects when it is needed, so that a service starts while the brokers are away. */
  constructor(options: TopicPairOptions) {
    this.#offsets = options.offsets;
    this.#logger = options.logger;
    this.#pair = new TopicPair(options, eventTopicPlans(options));
    this.#producer = this.#pair.producerFor(this.#pair.topic);
    this.#deadLetters = this.#pair.producerFor(this.#pair.deadLetter);
    this.#metrics = options.metrics;
  }

  /** @throws MessageTooLargeError TimedOutError and errors of kafkajs: some of the events may be on the bus */
  async publish(events: readonly PublicEvent[]): Promise<void> {
    await this.#producer.send(events.map(toBusMessage));
  }

  async consume(group: string, handler: EventHandler): Promise<void> {
    if (this.#closed) throw new Error('the event bus is closed');
    if (this.#consumers.has(group)) throw new Error(`group ${group} already has a handler`);
    const name = this.#pair.groupOf(group);
    const member = this.#pair.consume<Handled>({
      group: name,
      handle: (records) => this.#handle(name, records),
      putAside: (record, reason) => this.#putAside(record, name, reason),
      commit: (place, writes) => this.#commit(handler, place, writes),
    });
    this.#consumers.set(group, member);
  }

  /** What the groups that consume here have not handled yet; asks the brokers and the store, so not for every request. */
  async lag(): Promise<Readonly<Record<string, number>>> {
    const lags = [...this.#consumers.values()].map(async (one) => [one.group, await one.lag()] as const);
    return Object.fromEntries(await Promise.all(lags));
  }

  status(): KafkaEventBusStatus {
    const groups = [...this.#consumers].map(([group, consumer]) => [group, consumer.status()] as const);
    return { publishingError: this.#producer.lastError, groups: new Map(groups) };
  }

  async close(): Promise<void> {
    this.#closed = true;
    await this.#pair.close();
  }

  async #handle(group: string, records: readonly KafkaRecord[]) {
    const read = records.map(eventOf);
    const { events, operations, late } = await freshEvents(read, group, this.#offsets);
    if (late) throw overtaken(records[read.indexOf(late.event)]!, late.event, late.newest);
    if (events.length < read.length) {
      const { topic, partition, offset } = records[0]!;
      const fields = { group, topic, partition, offset, count: read.length - events.length };
      this.#logger.info(fields, 'events that were handled before were left out');
    }
    return { writes: [{ events, operations }] };
  }

  /** What a group could never handle is kept until people have looked at it. Durable when it resolves; the same record may be put again after a crash. */
  async #putAside(record: KafkaRecord, group: string, reason: string): Promise<void> {
    const message = deadLetterOf(record, group, reason);
    try {
      await this.#deadLetters.send([message]);
    } catch (error) {
      if (!(error instanceof MessageTooLargeError)) throw error;
      // It can still be read where it stood.
      const headers = { ...message.headers, dead_letter_value: 'left out, too large' };
      await this.#deadLetters.send([{ key: message.key, value: null, headers }]);
    }
    const { topic, partition, offset } = record;
    const event_id = record.headers['event_id'];
    this.#logger.error(
      { group, topic, partition, offset, event_id, reason },
      'message put to the dead letters',
    );
    this.#metrics?.deadLettered?.(topic, group);
  }

  async #commit(handler: EventHandler, place: ConsumerProgress, writes: readonly Handled[]): Promise<void> {
    const events = writes.flatMap((one) => one.events);
    const progress = { ...place, operations: writes.flatMap((one) => one.operations) };
    const stored = events.length > 0 && (await handler(events, progress)) === 'progress_stored';
    if (!stored) await this.#offsets.advance(progress);
  }
}
