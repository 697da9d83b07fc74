import kafkajs from 'kafkajs';
import type { Admin, Kafka } from 'kafkajs';
import { withAdmin } from './kafka-client.ts';

export interface TopicPlan {
  readonly topic: string;
  readonly partitions: number;
  /** Copies of each partition; at most as many as there are brokers. */
  readonly replication: number;
  /** How long messages stay, milliseconds; -1 for ever. */
  readonly retentionMs: number;
}

const create = async (admin: Admin, plans: readonly TopicPlan[]): Promise<void> => {
  const existing = new Set(await admin.listTopics());
  const missing = plans.filter(({ topic }) => !existing.has(topic));
  if (missing.length === 0) return;
  const { brokers } = await admin.describeCluster();
  const topics = missing.map(({ topic, partitions, replication, retentionMs }) => {
    const copies = Math.min(replication, brokers.length);
    return {
      topic,
      numPartitions: partitions,
      replicationFactor: copies,
      configEntries: [
        { name: 'cleanup.policy', value: 'delete' },
        { name: 'retention.ms', value: String(retentionMs) },
        // An acknowledged message must be in two places before one of them may be lost.
        { name: 'min.insync.replicas', value: String(Math.min(2, Math.max(1, copies - 1))) },
      ],
    };
  });
  // False when another process was faster; the topics are there all the same.
  await admin.createTopics({ topics, waitForLeaders: true }).catch((error: unknown) => {
    if (!isNotYetKnown(error)) throw error;
  });
};

/** The controller made the topics, and the broker that is asked for their leaders has not heard of them yet: publishing waits for it. */
const isNotYetKnown = (error: unknown): boolean =>
  error instanceof kafkajs.KafkaJSProtocolError && error.type === 'UNKNOWN_TOPIC_OR_PARTITION';

/** Makes sure, once in the life of a client, that topics exist; one that exists keeps its own settings. */
export const topicsReady = (kafka: Kafka, plans: readonly TopicPlan[]): (() => Promise<void>) => {
  let ready: Promise<void> | undefined;
  return () => {
    ready ??= withAdmin(kafka, (admin) => create(admin, plans)).catch((error: unknown) => {
      ready = undefined;
      throw error;
    });
    return ready;
  };
};

export type TopicSettings = Omit<TopicPlan, 'topic'>;

const DAY_MS = 24 * 60 * 60 * 1_000;

/** Long enough to stop a consumer for a while and to find out why; what has to last lasts in the streams. */
export const DEFAULT_TOPIC_SETTINGS: TopicSettings = {
  partitions: 12,
  replication: 3,
  retentionMs: 14 * DAY_MS,
};
