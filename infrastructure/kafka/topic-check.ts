import type { ITopicMetadata } from 'kafkajs';

export interface TopicPlan {
  readonly topic: string;
  readonly partitions: number;
  /** Copies of each partition: a topic is never made with fewer. */
  readonly replication: number;
  /** How long messages stay, milliseconds; -1 for ever. */
  readonly retentionMs: number;
}

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

export type ToolOptions = { readonly brokers: readonly string[]; readonly secured: boolean };

/** The properties file holds what the tools need to sign on. */
const toolCommand = (script: string, { brokers, secured }: ToolOptions, options: string): string => {
  const signOn = secured ? ' --command-config client.properties' : '';
  return `${script} --bootstrap-server ${brokers.join(',')}${signOn} ${options}`;
};

const alter = (topic: string, setting: string, value: string, tools: ToolOptions): string =>
  toolCommand(
    'kafka-configs.sh',
    tools,
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

const moreCopies = (plan: TopicPlan, facts: TopicFacts, tools: ToolOptions): string => {
  const file = `${plan.topic}.json`;
  const options = `--reassignment-json-file ${file} --execute`;
  const reassign = toolCommand('kafka-reassign-partitions.sh', tools, options);
  return `echo '${reassignment(plan, facts)}' > ${file} && ${reassign}`;
};

/** Over more of them the operations are spread only once the old ones were consumed to their ends. */
const morePartitions = ({ topic, partitions }: TopicPlan, tools: ToolOptions): string =>
  `${toolCommand('kafka-topics.sh', tools, `--alter --topic ${topic} --partitions ${partitions}`)} && receivables topics accept-partitions ${topic}`;

const durationOf = (ms: number): string => (ms === -1 ? 'for ever' : `${ms} ms`);
const isShorter = (ms: number, wanted: number): boolean => ms !== -1 && (wanted === -1 || ms < wanted);

/** What of a topic is below its plan. A setting that is not told is not judged. */
export const shortfallsOf = (
  plan: TopicPlan,
  facts: TopicFacts,
  tools: ToolOptions,
): readonly TopicShortfall[] => {
  const { topic, replication, retentionMs } = plan;
  const { partitions, settings } = facts;
  const found: TopicShortfall[] = [];
  const add = (setting: CheckedSetting, is: string, wanted: string, command: string): void =>
    void found.push({ topic, setting, found: is, wanted, command });
  const copies = Math.min(...partitions.map(({ replicas }) => replicas.length));
  if (copies < replication)
    add('replication_factor', String(copies), String(replication), moreCopies(plan, facts, tools));
  if (partitions.length < plan.partitions)
    add('partitions', String(partitions.length), String(plan.partitions), morePartitions(plan, tools));
  const [insync, wanted] = [settings.get('min.insync.replicas'), minInsyncReplicas(replication)];
  if (insync !== undefined && Number(insync) < wanted)
    add(
      'min.insync.replicas',
      insync,
      String(wanted),
      alter(topic, 'min.insync.replicas', String(wanted), tools),
    );
  const retention = settings.get('retention.ms');
  if (retention !== undefined && isShorter(Number(retention), retentionMs))
    add(
      'retention.ms',
      durationOf(Number(retention)),
      durationOf(retentionMs),
      alter(topic, 'retention.ms', String(retentionMs), tools),
    );
  const policy = settings.get('cleanup.policy');
  if (policy !== undefined && policy !== 'delete')
    add('cleanup.policy', policy, 'delete', alter(topic, 'cleanup.policy', 'delete', tools));
  return found;
};
