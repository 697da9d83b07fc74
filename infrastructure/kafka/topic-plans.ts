import { TOPICS } from '../../application/publication/event-names.ts';
import type { KafkaConnection } from './kafka-client.ts';
import type { ToolOptions, TopicPlan } from './topic-check.ts';

export type TopicSettings = Omit<TopicPlan, 'topic'>;

const DAY_MS = 24 * 60 * 60 * 1_000;

/** Long enough to stop a consumer for a while and to find out why; what has to last lasts in the streams. */
const DEFAULT_TOPIC_SETTINGS: TopicSettings = {
  partitions: 12,
  replication: 3,
  retentionMs: 14 * DAY_MS,
};

/** The topic is the only copy of a decision until it is carried out, so it outlasts events, which the streams hold as well. */
const DECISIONS_RETENTION_MS = 90 * DAY_MS;

const DEAD_LETTERS = { partitions: 1, retentionMs: -1 };

interface TopicNames {
  readonly topicPrefix?: string;
  readonly topics?: Partial<TopicSettings>;
}

export const eventTopicPlans = ({
  topicPrefix = '',
  topics,
}: TopicNames): readonly [TopicPlan, TopicPlan] => {
  const settings = { ...DEFAULT_TOPIC_SETTINGS, ...topics };
  return [
    { ...settings, topic: topicPrefix + TOPICS.events },
    { ...settings, ...DEAD_LETTERS, topic: topicPrefix + TOPICS.eventsDeadLetter },
  ];
};

export const decisionTopicPlans = ({
  topicPrefix = '',
  topics,
}: TopicNames): readonly [TopicPlan, TopicPlan] => {
  const settings = { ...DEFAULT_TOPIC_SETTINGS, retentionMs: DECISIONS_RETENTION_MS, ...topics };
  return [
    { ...settings, topic: topicPrefix + TOPICS.decisions },
    { ...settings, ...DEAD_LETTERS, topic: topicPrefix + TOPICS.decisionsDeadLetter },
  ];
};

export const topicPlans = (names: TopicNames): readonly TopicPlan[] => [
  ...eventTopicPlans(names),
  ...decisionTopicPlans(names),
];

export const toolOptions = ({
  brokers,
  tls,
  sasl,
}: Pick<KafkaConnection, 'brokers' | 'tls' | 'sasl'>): ToolOptions => ({
  brokers,
  secured: (tls !== undefined && tls !== false) || sasl !== undefined,
});
