import { randomUUID } from 'node:crypto';
import { withAdmin } from '../../../infrastructure/kafka/kafka-client.ts';
import { KafkaBroker } from './kafka-broker.ts';
import { rawKafka } from './topic-reader.ts';

export interface TestKafka {
  readonly brokers: readonly string[];
  /** A prefix for topics and groups that no other test has. */
  readonly prefix: () => string;
  /** Deletes the topics of these prefixes. */
  close(): Promise<void>;
}

let broker: Promise<KafkaBroker> | undefined;

/** The cluster of KAFKA_BROKERS where it is given, else a real broker for all files of this process, with which it ends. */
export const testKafka = async (): Promise<TestKafka> => {
  const address = process.env['KAFKA_BROKERS'] ?? (await (broker ??= KafkaBroker.forThisProcess())).brokers;
  const brokers = address.split(',');
  const begin = `test-${randomUUID().slice(0, 8)}`;
  let prefixes = 0;
  return {
    brokers,
    prefix: () => `${begin}-${prefixes++}.`,
    close: () =>
      withAdmin(rawKafka(brokers), async (admin) => {
        const topics = (await admin.listTopics()).filter((topic) => topic.startsWith(begin));
        if (topics.length > 0) await admin.deleteTopics({ topics });
      }),
  };
};
