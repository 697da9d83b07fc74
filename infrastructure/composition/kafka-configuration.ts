import type { KafkaConnection } from '../kafka/kafka-client.ts';
import type { TopicPairOptions } from '../kafka/topic-pair.ts';
import type { EnvironmentReader } from './environment-reader.ts';

const MECHANISMS = ['plain', 'scram-sha-256', 'scram-sha-512'] as const;
const BROKER = /^(?:[^\s,/:]+|\[[0-9a-f:]+\]):(\d{1,5})$/i;
const HIGHEST_PORT = 65_535;
/** One may be lost while another is being replaced. */
const USUAL_COPIES = 3;
const MOST_COPIES = 9;
const PREFIX = /^[A-Za-z0-9._-]{0,100}$/;

const isBroker = (text: string): boolean => {
  const port = Number(BROKER.exec(text)?.[1]);
  return port >= 1 && port <= HIGHEST_PORT;
};

const readSasl = (variables: EnvironmentReader): KafkaConnection['sasl'] => {
  const mechanism = variables.oneOf('KAFKA_SASL_MECHANISM', MECHANISMS, 'scram-sha-512');
  const username = variables.text('KAFKA_USERNAME');
  const password = variables.text('KAFKA_PASSWORD');
  if ((username === undefined) !== (password === undefined)) {
    const missing = username === undefined ? 'KAFKA_USERNAME' : 'KAFKA_PASSWORD';
    throw variables.invalid(missing, 'is missing: user name and password belong together');
  }
  if (username === undefined || password === undefined) return undefined;
  return { mechanism, username, password };
};

/**
 * How to reach the brokers; it may hold a password. Undefined without KAFKA_BROKERS; what else is set has to be right all the same.
 * @throws ConfigurationError
 */
export const readKafka = (variables: EnvironmentReader) => {
  const named = variables.text('KAFKA_BROKERS') !== undefined;
  const brokers = named ? variables.list('KAFKA_BROKERS', '') : [];
  if (!brokers.every(isBroker)) {
    throw variables.invalid(
      'KAFKA_BROKERS',
      `must be a comma list of host:port, ports from 1 to ${HIGHEST_PORT}`,
    );
  }
  const topicPrefix = variables.text('KAFKA_TOPIC_PREFIX') ?? '';
  if (!PREFIX.test(topicPrefix)) {
    throw variables.invalid('KAFKA_TOPIC_PREFIX', 'must be at most 100 letters, digits, ".", "_" or "-"');
  }
  const copies = Math.max(1, Math.min(USUAL_COPIES, new Set(brokers).size));
  const replication = variables.integer('KAFKA_REPLICATION', copies, { from: 1, to: MOST_COPIES });
  // Additional roots need no variable of ours: Node.js reads NODE_EXTRA_CA_CERTS.
  const tls = variables.boolean('KAFKA_TLS');
  const sasl = readSasl(variables);
  return named ? Object.freeze({ brokers, tls, sasl, topicPrefix, replication }) : undefined;
};

export const kafkaOptions = (
  { brokers, tls, sasl, topicPrefix, replication }: NonNullable<ReturnType<typeof readKafka>>,
  watched: Pick<TopicPairOptions, 'logger' | 'offsets' | 'metrics'>,
) => ({
  ...watched,
  brokers,
  clientId: 'receivables',
  tls,
  ...(sasl && { sasl }),
  topicPrefix,
  topics: { replication },
});
