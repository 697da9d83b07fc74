import { randomUUID } from 'node:crypto';
import { KafkaBroker } from './kafka-broker.ts';

export interface TestKafka {
  readonly brokers: readonly string[];
  /** A prefix for topics and groups that no other test has. */
  readonly prefix: () => string;
  close(): Promise<void>;
}

/** The cluster of KAFKA_BROKERS where it is given, else a real broker that lives as long as the tests of one file. */
export const testKafka = async (): Promise<TestKafka> => {
  const prefix = (): string => `test-${randomUUID().slice(0, 8)}.`;
  const given = process.env['KAFKA_BROKERS'];
  if (given) return { brokers: given.split(','), prefix, close: async () => undefined };
  const broker = await KafkaBroker.start();
  return { brokers: [broker.brokers], prefix, close: () => broker.close() };
};
