import type { Kafka } from 'kafkajs';
import { deadLetterText } from '../../application/administrator/decisions.ts';
import type {
  DecisionDeadLetters,
  ReceivedDecision,
  RefusedDecision,
} from '../../application/ports/decision-dead-letters.ts';
import { MessageTooLargeError } from '../../application/ports/event-bus.ts';
import type { ConsumerOffsets } from '../../application/processors/consumer-offsets.ts';
import { SCHEMA_VERSION } from '../../application/publication/event-names.ts';
import { aborted } from '../support/time.ts';
import { kafkaClient } from './kafka-client.ts';
import type { KafkaConnection } from './kafka-client.ts';
import { DEFAULT_PRODUCER_SETTINGS, OrderedProducer } from './ordered-producer.ts';
import type { KafkaRecord } from './records.ts';
import { DEFAULT_CONSUMER_SETTINGS, KafkaTopicConsumer } from './topic-consumer.ts';
import type { ConsumerSettings, ConsumerStatus } from './topic-consumer.ts';
import { decisionTopicPlans } from './topic-plans.ts';
import type { TopicSettings } from './topic-plans.ts';
import { KafkaTopics, NO_TOPIC_METRICS } from './topics.ts';
import type { TopicMetrics } from './topics.ts';

interface KafkaDecisionTopicsOptions extends KafkaConnection {
  /** In the store of the service; decisions themselves are told apart by their ids. */
  readonly offsets: ConsumerOffsets;
  readonly topicPrefix?: string;
  readonly topics?: Partial<TopicSettings>;
  readonly topicMetrics?: TopicMetrics | undefined;
  readonly consumer?: Partial<ConsumerSettings>;
}

/** Consumer group of all processes that carry out decisions. */
const DECISIONS_GROUP = 'administrator';

const LONGEST_SHORTENED_TEXT = 10_000;

/** Bytes that are no text become an unreadable decision, which the one who carries them out refuses like any other. */
const received = ({ id, value }: KafkaRecord): ReceivedDecision => ({
  text: value?.toString('utf8') ?? '',
  origin: id,
});

/** The administrator's decisions as they come in on a topic, and those that were refused as they go out on another. */
export class KafkaDecisionTopics implements DecisionDeadLetters {
  readonly #options: KafkaDecisionTopicsOptions;
  readonly #kafka: Kafka;
  readonly #topic: string;
  readonly #topics: KafkaTopics;
  readonly #refused: OrderedProducer;
  #consumer: KafkaTopicConsumer<never> | undefined;

  private constructor(options: KafkaDecisionTopicsOptions) {
    const plans = decisionTopicPlans(options);
    const [{ topic }, { topic: deadLetter }] = plans;
    this.#options = options;
    this.#topic = topic;
    this.#kafka = kafkaClient(options);
    this.#topics = new KafkaTopics({
      ...options,
      kafka: this.#kafka,
      metrics: options.topicMetrics ?? NO_TOPIC_METRICS,
      ordered: [topic],
      plans,
    });
    this.#refused = new OrderedProducer({
      kafka: this.#kafka,
      topic: deadLetter,
      topics: this.#topics,
      logger: options.logger,
      settings: DEFAULT_PRODUCER_SETTINGS,
    });
  }

  /** Connects when it is needed. */
  static open(options: KafkaDecisionTopicsOptions): KafkaDecisionTopics {
    return new KafkaDecisionTopics(options);
  }

  /**
   * Decisions from outside, at least once, those on one operation in the order in which they were sent (the topic is keyed like the
   * event stream: application and operation). Hands over one batch after the other until the signal ends, and resolves once the batch
   * at hand is finished. A batch counts as done when the handler resolves; when it throws, the same batch comes again after a growing
   * pause, for ever: whatever can never succeed is the handler's to put aside.
   */
  async run(
    handle: (decisions: readonly ReceivedDecision[], signal: AbortSignal) => Promise<void>,
    signal: AbortSignal,
  ): Promise<void> {
    const { topicPrefix = '', offsets, logger, consumer } = this.#options;
    const member = new KafkaTopicConsumer<never>({
      kafka: this.#kafka,
      topic: this.#topic,
      group: topicPrefix + DECISIONS_GROUP,
      topics: this.#topics,
      offsets,
      handle: async (records, ofMember) => {
        await handle(records.map(received), ofMember);
        return { writes: [] };
      },
      commit: (progress) => offsets.advance(progress),
      logger,
      settings: { ...DEFAULT_CONSUMER_SETTINGS, ...consumer },
    });
    this.#consumer = member;
    member.start();
    await aborted(signal);
    await member.close();
  }

  async put(refused: RefusedDecision): Promise<void> {
    try {
      await this.#send(refused);
    } catch (error) {
      if (!(error instanceof MessageTooLargeError)) throw error;
      // Escaping may make a text larger than it came in; the whole of it still lies at its origin.
      await this.#send({ ...refused, text: refused.text.slice(0, LONGEST_SHORTENED_TEXT) }, 'shortened');
    }
  }

  async #send(refused: RefusedDecision, text: 'whole' | 'shortened' = 'whole'): Promise<void> {
    const { decisionId, origin } = refused;
    const headers = {
      schema_version: SCHEMA_VERSION,
      origin,
      text,
      ...(decisionId !== undefined && { decision_id: decisionId }),
    };
    await this.#refused.send([{ key: decisionId ?? null, value: deadLetterText(refused), headers }]);
  }

  /** Undefined until `run`. */
  status(): ConsumerStatus | undefined {
    return this.#consumer?.status();
  }

  async close(): Promise<void> {
    this.#topics.close();
    await Promise.all([this.#consumer?.close(), this.#refused.close()]);
  }
}
