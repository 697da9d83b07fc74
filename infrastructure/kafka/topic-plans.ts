import { TOPICS } from '../../application/publication/event-names.ts';
import type { KafkaConnection } from './kafka-client.ts';
import type { ToolOptions, TopicPlan } from './topic-check.ts';

type TopicSettings = Omit<TopicPlan, 'topic'>;

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

export interface TopicNames {
  /** Put before the names of topics and groups, where several systems share a cluster; default none. */
  readonly topicPrefix?: string;
  readonly topics?: Partial<TopicSettings>;
}

/** Of a topic, and of its dead letters. */
export type TopicPlans = readonly [TopicPlan, TopicPlan];

const plansOf =
  (topic: string, deadLetter: string, defaults: TopicSettings) =>
  ({ topicPrefix = '', topics }: TopicNames): TopicPlans => {
    const settings = { ...defaults, ...topics };
    return [
      { ...settings, topic: topicPrefix + topic },
      { ...settings, ...DEAD_LETTERS, topic: topicPrefix + deadLetter },
    ];
  };

export const eventTopicPlans = plansOf(TOPICS.events, TOPICS.eventsDeadLetter, DEFAULT_TOPIC_SETTINGS);

export const decisionTopicPlans = plansOf(TOPICS.decisions, TOPICS.decisionsDeadLetter, {
  ...DEFAULT_TOPIC_SETTINGS,
  retentionMs: DECISIONS_RETENTION_MS,
});

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
