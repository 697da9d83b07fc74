import type { Kafka } from 'kafkajs';
import type { ConsumerOffsets } from '../../application/processors/consumer-offsets.ts';
import { kafkaClient } from './kafka-client.ts';
import type { KafkaConnection } from './kafka-client.ts';
import { DEFAULT_PRODUCER_SETTINGS, OrderedProducer } from './ordered-producer.ts';
import type { ProducerSettings } from './ordered-producer.ts';
import { DEFAULT_CONSUMER_SETTINGS, KafkaTopicConsumer } from './topic-consumer.ts';
import type { ConsumerSettings, TopicConsumerOptions } from './topic-consumer.ts';
import type { BusMetrics, TopicNames, TopicPlans } from './topic-check.ts';
import { KafkaTopics } from './topics.ts';

export interface TopicPairOptions extends KafkaConnection, TopicNames {
  /** In the store that holds the consumers' effects. */
  readonly offsets: ConsumerOffsets;
  readonly metrics?: Partial<BusMetrics> | undefined;
  /** A missing topic waits so long for as many brokers as it is to have copies; then what needs it fails, and may be tried again. */
  readonly brokersWaitMs?: number;
  readonly producer?: Partial<ProducerSettings>;
  readonly consumer?: Partial<ConsumerSettings>;
}

type Member<W> = Pick<TopicConsumerOptions<W>, 'group' | 'handle' | 'putAside' | 'commit'>;

/** A topic whose order hangs on its partitions, and that of its dead letters: one client for what consumes and produces there. */
export class TopicPair {
  readonly topic: string;
  readonly deadLetter: string;
  readonly #options: TopicPairOptions;
  readonly #kafka: Kafka;
  readonly #topics: KafkaTopics;
  readonly #consumers: Pick<KafkaTopicConsumer, 'close'>[] = [];
  readonly #producers: OrderedProducer[] = [];

  /** Connects when it is needed. */
  constructor(options: TopicPairOptions, plans: TopicPlans) {
    const [{ topic }, { topic: deadLetter }] = plans;
    this.topic = topic;
    this.deadLetter = deadLetter;
    this.#options = options;
    this.#kafka = kafkaClient(options);
    this.#topics = new KafkaTopics({ ...options, kafka: this.#kafka, plans });
  }

  producerFor(topic: string): OrderedProducer {
    const { logger, producer: settings } = this.#options;
    const producer = new OrderedProducer({
      kafka: this.#kafka,
      topic,
      topics: this.#topics,
      logger,
      settings: { ...DEFAULT_PRODUCER_SETTINGS, ...settings },
    });
    this.#producers.push(producer);
    return producer;
  }

  /** The name of a group as the brokers know it. */
  groupOf(name: string): string {
    return (this.#options.topicPrefix ?? '') + name;
  }

  /** Joins its group as soon as the brokers can be reached. */
  consume<W>(member: Member<W>): KafkaTopicConsumer<W> {
    const { offsets, logger, consumer: settings } = this.#options;
    const consumer = new KafkaTopicConsumer<W>({
      ...member,
      kafka: this.#kafka,
      topic: this.topic,
      topics: this.#topics,
      offsets,
      logger,
      settings: { ...DEFAULT_CONSUMER_SETTINGS, ...settings },
    });
    this.#consumers.push(consumer);
    consumer.start();
    return consumer;
  }

  async close(): Promise<void> {
    this.#topics.close();
    await Promise.all(this.#consumers.map((consumer) => consumer.close()));
    await Promise.all(this.#producers.map((producer) => producer.close()));
  }
}
