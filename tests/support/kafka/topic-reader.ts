import { randomUUID } from 'node:crypto';
import type { Kafka } from 'kafkajs';
import { kafkaClient, watermarks } from '../../../infrastructure/kafka/kafka-client.ts';
import { recordOf } from '../../../infrastructure/kafka/records.ts';
import type { KafkaRecord } from '../../../infrastructure/kafka/records.ts';
import { RecordingLogger } from '../recording-logger.ts';
import { addressesOf, everyBroker } from './each-broker.ts';
import { until } from '../within.ts';

export const rawKafka = (brokers: readonly string[]): Kafka =>
  kafkaClient({ brokers, clientId: 'outsider', logger: new RecordingLogger() });

/** Writes as somebody else would, to a partition of choice. */
export const writeRaw = async (
  kafka: Kafka,
  topic: string,
  messages: readonly {
    readonly partition?: number;
    key?: string;
    value: Buffer | string | null;
    headers?: Record<string, string>;
  }[],
): Promise<void> => {
  await everyBroker(await addressesOf(kafka), topic, () => true, `every broker knows ${topic}`);
  const producer = kafka.producer({
    createPartitioner:
      () =>
      ({ message }) =>
        message.partition ?? 0,
  });
  await producer.connect();
  await producer.send({ topic, messages: messages.map((message) => ({ ...message })) });
  await producer.disconnect();
};

/** The broker puts a mark of its own behind what is written so, at a place as a message has it. */
export const writeInTransaction = async (
  kafka: Kafka,
  topic: string,
  values: readonly string[],
  end: 'commit' | 'abort',
): Promise<void> => {
  const producer = kafka.producer({
    transactionalId: randomUUID(),
    maxInFlightRequests: 1,
    idempotent: true,
  });
  await producer.connect();
  const transaction = await producer.transaction();
  for (const value of values) await transaction.send({ topic, messages: [{ partition: 0, value }] });
  await transaction[end]();
  await producer.disconnect();
};

/** Everything that is on a topic now, in the order of its partitions. */
export const readTopic = async (kafka: Kafka, topic: string): Promise<readonly KafkaRecord[]> => {
  const marks = await watermarks(kafka, topic);
  const count = [...marks.values()].reduce((sum, { low, high }) => sum + high - low, 0);
  const records: KafkaRecord[] = [];
  const consumer = kafka.consumer({ groupId: `reader-${randomUUID()}`, maxWaitTimeInMs: 50 });
  await consumer.connect();
  await consumer.subscribe({ topic, fromBeginning: true });
  await consumer.run({
    autoCommit: false,
    eachMessage: async ({ partition, message }) => void records.push(recordOf(topic, partition, message)),
  });
  await until(() => records.length >= count, `${count} messages on ${topic}`);
  await consumer.disconnect();
  return records.toSorted((one, other) => one.partition - other.partition || one.offset - other.offset);
};
