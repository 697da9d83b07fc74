import { connect } from 'node:net';
import { Kafka, logLevel } from 'kafkajs';
import { withAdmin } from '../../../infrastructure/kafka/kafka-client.ts';
import type { TopicFacts } from '../../../infrastructure/kafka/topic-check.ts';
import { factsOf } from '../../../infrastructure/kafka/topics.ts';
import { until } from '../within.ts';

/** Asks this broker alone: the library asks any broker of the cluster, so here each connection that it makes leads to the one. */
export const only = (address: string): Kafka => {
  const { hostname: host, port } = new URL(`kafka://${address}`);
  return new Kafka({
    brokers: [address],
    clientId: 'outsider',
    logLevel: logLevel.NOTHING,
    retry: { retries: 0 },
    socketFactory: ({ onConnect }) => connect({ host, port: Number(port) }, onConnect),
  });
};

const factsAt = (address: string, topic: string): Promise<TopicFacts> =>
  withAdmin(only(address), async (admin) => {
    const rethrow = (error: unknown): never => {
      throw error;
    };
    return (await factsOf(admin, [topic], rethrow)).get(topic)!;
  });

/**
 * Waits until every one of the brokers tells of the topic what is expected. Each applies a change of a topic in its own time, so
 * what one of them tells says nothing of the one that is asked next.
 */
export const everyBroker = (
  brokers: readonly string[],
  topic: string,
  holds: (facts: TopicFacts) => boolean,
  what: string,
): Promise<void> =>
  until(
    () =>
      Promise.all(brokers.map((address) => factsAt(address, topic))).then(
        (all) => all.every(holds),
        () => false,
      ),
    what,
    60_000,
  );

/** Every broker that is up, as one of them tells. */
export const addressesOf = (kafka: Kafka): Promise<readonly string[]> =>
  withAdmin(kafka, async (admin) =>
    (await admin.describeCluster()).brokers.map(({ host, port }) => `${host}:${port}`),
  );
