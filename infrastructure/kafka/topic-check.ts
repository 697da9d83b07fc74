import type { ITopicMetadata } from 'kafkajs';
import { TOPICS } from '../../application/publication/catalogue.ts';
import type { KafkaConnection } from './kafka-client.ts';

export interface TopicPlan {
  readonly topic: string;
  readonly partitions: number;
  /** Copies of each partition: a topic is never made with fewer. */
  readonly replication: number;
  /** How long messages stay, milliseconds; -1 for ever. */
  readonly retentionMs: number;
}

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

/** What a topic is, as the brokers tell it; settings that they do not tell are absent. */
export interface TopicFacts {
  readonly partitions: ITopicMetadata['partitions'];
  readonly settings: ReadonlyMap<string, string>;
  /** Ids of the brokers that are up. */
  readonly brokers: readonly number[];
}

type CheckedSetting =
  | 'replication_factor'
  | 'min.insync.replicas'
  | 'retention.ms'
  | 'cleanup.policy'
  | 'partitions'
  | 'partitions_changed';

export interface TopicShortfall {
  readonly topic: string;
  readonly setting: CheckedSetting;
  readonly found: string;
  readonly wanted: string;
  /** For a shell on a machine with the brokers' tools. */
  readonly command: string;
}

export interface BusMetrics {
  deadLettered(topic: string, group: string): void;
  /** After every look at a topic. @param short settings in which it is below what it should be */
  topicChecked(topic: string, short: readonly CheckedSetting[]): void;
}

/** An acknowledged message must be in so many places, so that one of the copies may be away. */
export const minInsyncReplicas = (replication: number): number => Math.max(1, replication - 1);

type Reached = Pick<KafkaConnection, 'brokers' | 'tls' | 'sasl'>;

/** The properties file holds what the tools need to sign on. */
const toolCommand = (script: string, { brokers, tls, sasl }: Reached, options: string): string => {
  const isSecured = (tls !== undefined && tls !== false) || sasl !== undefined;
  const signOn = isSecured ? ' --command-config client.properties' : '';
  return `${script} --bootstrap-server ${brokers.join(',')}${signOn} ${options}`;
};

const alter = (topic: string, setting: string, value: string, reached: Reached): string =>
  toolCommand(
    'kafka-configs.sh',
    reached,
    `--alter --entity-type topics --entity-name ${topic} --add-config ${setting}=${value}`,
  );

/** Each partition keeps the copies that it has, and gets further ones from the brokers behind them. */
export const reassignment = (
  { topic, replication }: TopicPlan,
  { partitions, brokers }: Pick<TopicFacts, 'partitions' | 'brokers'>,
): string => {
  const wanted = partitions
    .toSorted((a, b) => a.partitionId - b.partitionId)
    .map(({ partitionId: partition, replicas }) => {
      const begin = Math.max(0, brokers.indexOf(replicas[0] ?? -1));
      const others = brokers.map((_, n) => brokers[(begin + n) % brokers.length]!);
      const all = [...new Set([...replicas, ...others])];
      return { topic, partition, replicas: all.slice(0, Math.max(replicas.length, replication)) };
    });
  return JSON.stringify({ version: 1, partitions: wanted });
};

const moreCopies = (plan: TopicPlan, facts: TopicFacts, reached: Reached): string => {
  const file = `${plan.topic}.json`;
  const options = `--reassignment-json-file ${file} --execute`;
  const reassign = toolCommand('kafka-reassign-partitions.sh', reached, options);
  return `echo '${reassignment(plan, facts)}' > ${file} && ${reassign}`;
};

/** Over more of them the operations are spread only once the old ones were consumed to their ends. */
const morePartitions = ({ topic, partitions }: TopicPlan, reached: Reached): string =>
  `${toolCommand('kafka-topics.sh', reached, `--alter --topic ${topic} --partitions ${partitions}`)} && receivables topics accept-partitions ${topic}`;

const durationOf = (ms: number): string => (ms === -1 ? 'for ever' : `${ms} ms`);
const isShorter = (ms: number, wanted: number): boolean => ms !== -1 && (wanted === -1 || ms < wanted);

/** What of a topic is below its plan. A setting that is not told is not judged. */
export const shortfallsOf = (
  plan: TopicPlan,
  facts: TopicFacts,
  reached: Reached,
): readonly TopicShortfall[] => {
  const { topic, replication, retentionMs } = plan;
  const { partitions, settings } = facts;
  const found: TopicShortfall[] = [];
  const add = (setting: CheckedSetting, is: string, wanted: string, command: string): void =>
    void found.push({ topic, setting, found: is, wanted, command });
  const copies = Math.min(...partitions.map(({ replicas }) => replicas.length));
  if (copies < replication)
    add('replication_factor', String(copies), String(replication), moreCopies(plan, facts, reached));
  if (partitions.length < plan.partitions)
    add('partitions', String(partitions.length), String(plan.partitions), morePartitions(plan, reached));
  const [insync, wanted] = [settings.get('min.insync.replicas'), minInsyncReplicas(replication)];
  if (insync !== undefined && Number(insync) < wanted)
    add(
      'min.insync.replicas',
      insync,
      String(wanted),
      alter(topic, 'min.insync.replicas', String(wanted), reached),
    );
  const retention = settings.get('retention.ms');
  if (retention !== undefined && isShorter(Number(retention), retentionMs))
    add(
      'retention.ms',
      durationOf(Number(retention)),
      durationOf(retentionMs),
      alter(topic, 'retention.ms', String(retentionMs), reached),
    );
  const policy = settings.get('cleanup.policy');
  if (policy !== undefined && policy !== 'delete')
    add('cleanup.policy', policy, 'delete', alter(topic, 'cleanup.policy', 'delete', reached));
  return found;
};
