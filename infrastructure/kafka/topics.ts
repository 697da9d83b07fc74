import kafkajs from 'kafkajs';
import type { Admin, Kafka } from 'kafkajs';
import type { ConsumerOffsets } from '../../application/processors/consumer-offsets.ts';
import type { Logger } from '../../application/ports/logger.ts';
import { messageOf } from '../../application/support/failures.ts';
import { retry } from '../../application/support/retry.ts';
import { pause } from '../support/time.ts';
import { isAnswer, withAdmin } from './kafka-client.ts';
import type { KafkaConnection } from './kafka-client.ts';
import { minInsyncReplicas, shortfallsOf } from './topic-check.ts';
import type { BusMetrics, TopicFacts, TopicPlan, TopicPlans, TopicShortfall } from './topic-check.ts';

class TooFewBrokersError extends Error {
  override readonly name = 'TooFewBrokersError';
  constructor(topics: readonly string[], wanted: number, found: number) {
    super(
      `${topics.join(', ')} not made: ${wanted} copies need ${wanted} brokers and ${found} ${found === 1 ? 'is' : 'are'} up; start the others, or set KAFKA_REPLICATION to the copies that are wanted`,
    );
  }
}

class PartitionsChangedError extends Error {
  override readonly name = 'PartitionsChangedError';
  constructor(topic: string, kept: number, found: number) {
    super(
      `${topic} has ${found} partitions, and its operations are spread over ${kept}: with another number the events of an operation would overtake each other; ` +
        `what is in the first ${kept} is still consumed, then run receivables topics accept-partitions ${topic}`,
    );
  }
}

interface Dependencies extends Pick<KafkaConnection, 'brokers' | 'tls' | 'sasl' | 'logger'> {
  readonly kafka: Kafka;
  /** The order of the first hangs on its number of partitions. */
  readonly plans: TopicPlans;
  readonly offsets: ConsumerOffsets;
  readonly metrics?: Partial<BusMetrics> | undefined;
  readonly logger: Logger;
  readonly brokersWaitMs?: number;
}

/** Shorter than a send may take, so that the reason is told; what needs the topic tries again for as long as it takes. */
const BROKERS_WAIT_MS = 10_000;
const LOOK_AGAIN_MS = 500;
/** What was below the plan is looked at so often until it is mended. */
const CHECK_AGAIN_MS = 60_000;

const isNotYetKnown = (error: unknown): boolean => isAnswer(error, 'UNKNOWN_TOPIC_OR_PARTITION');

const settingsOf = async (admin: Admin, topics: readonly string[]) => {
  const configNames = ['min.insync.replicas', 'retention.ms', 'cleanup.policy'];
  const { resources } = await admin.describeConfigs({
    includeSynonyms: false,
    resources: topics.map((name) => ({ type: kafkajs.ConfigResourceTypes.TOPIC, name, configNames })),
  });
  return new Map(
    resources.map(({ resourceName, configEntries }) => [
      resourceName,
      new Map(configEntries.map(({ configName, configValue }) => [configName, configValue])),
    ]),
  );
};

/** A broker that is asked for topics right after they were made may not have heard of them yet. */
const NOT_YET_KNOWN = { pausesMs: Array<number>(19).fill(100), mayPass: isNotYetKnown };

/** What the brokers know of these topics. @throws errors of kafkajs */
export const factsOf = (
  admin: Admin,
  topics: readonly string[],
  settingsUnknown: (error: unknown) => void,
): Promise<ReadonlyMap<string, TopicFacts>> => {
  const facts = async () => {
    const [metadata, cluster, settings] = await Promise.all([
      admin.fetchTopicMetadata({ topics: [...topics] }),
      admin.describeCluster(),
      // A user may be allowed to use a topic and not to see its settings.
      settingsOf(admin, topics).catch((error: unknown) => {
        if (isNotYetKnown(error)) throw error;
        settingsUnknown(error);
        return new Map<string, ReadonlyMap<string, string>>();
      }),
    ]);
    const brokers = cluster.brokers.map(({ nodeId }) => nodeId).sort((a, b) => a - b);
    return new Map(
      metadata.topics.map(({ name, partitions }) => [
        name,
        { partitions, brokers, settings: settings.get(name) ?? new Map<string, string>() },
      ]),
    );
  };
  return retry(facts, NOT_YET_KNOWN, pause);
};

/** The topics of one client: made where they are missing, looked at when it starts, and their numbers of partitions held. */
export class KafkaTopics {
  readonly #deps: Dependencies;
  readonly #closing = new AbortController();
  readonly #ordered: string;
  #kept: number | undefined;
  #changed: PartitionsChangedError | undefined;
  #ready: Promise<void> | undefined;
  #checking: NodeJS.Timeout | undefined;
  #told = '';

  constructor(dependencies: Dependencies) {
    this.#deps = dependencies;
    this.#ordered = dependencies.plans[0].topic;
  }

  /** Once in the life of a client, and again after a failure. @throws TooFewBrokersError and errors of kafkajs and of the store */
  ready(): Promise<void> {
    this.#ready ??= this.#prepare().catch((error: unknown) => {
      this.#ready = undefined;
      throw error;
    });
    return this.#ready;
  }

  /** Over so many partitions operations are spread, as it is stored now: another process may have accepted another number. */
  async keptNow(): Promise<number | undefined> {
    const kept = await this.#deps.offsets.keptPartitions(this.#ordered);
    this.#kept = kept ?? this.#kept;
    return kept;
  }

  /**
   * To be called with what a message is about to be sent over. @throws PartitionsChangedError, and the next call of `ready` looks at
   * the topic and at the stored number again
   */
  requirePartitions(topic: string, found: number): void {
    if (topic !== this.#ordered || this.#kept === undefined || this.#kept === found) return;
    this.#ready = undefined;
    throw new PartitionsChangedError(topic, this.#kept, found);
  }

  close(): void {
    this.#closing.abort();
    clearTimeout(this.#checking);
  }

  async #prepare(): Promise<void> {
    const { kafka, plans } = this.#deps;
    await withAdmin(kafka, async (admin) => {
      const existing = new Set(await admin.listTopics());
      const missing = plans.filter(({ topic }) => !existing.has(topic));
      if (missing.length > 0) await this.#create(admin, missing);
      await this.#check(admin);
    });
  }

  /** Another process may have been faster, and then with other plans. */
  async #create(admin: Admin, missing: readonly TopicPlan[]): Promise<void> {
    await this.#enoughBrokers(admin, missing);
    const topics = missing.map(({ topic, partitions, replication, retentionMs }) => ({
      topic,
      numPartitions: partitions,
      replicationFactor: replication,
      configEntries: [
        { name: 'cleanup.policy', value: 'delete' },
        { name: 'retention.ms', value: String(retentionMs) },
        { name: 'min.insync.replicas', value: String(minInsyncReplicas(replication)) },
      ],
    }));
    await admin.createTopics({ topics, waitForLeaders: true }).catch((error: unknown) => {
      if (!isNotYetKnown(error)) throw error;
    });
  }

  async #enoughBrokers(admin: Admin, missing: readonly TopicPlan[]): Promise<void> {
    const { logger, brokersWaitMs = BROKERS_WAIT_MS } = this.#deps;
    const wanted = Math.max(...missing.map(({ replication }) => replication));
    const topics = missing.map(({ topic }) => topic);
    const until = performance.now() + brokersWaitMs;
    for (let told = false; ; told = true) {
      const found = (await admin.describeCluster()).brokers.length;
      if (found >= wanted) return;
      if (!told)
        logger.warn(
          { topics, brokers: found, wanted, wait_ms: brokersWaitMs },
          'topics are made when as many brokers are up as they are to have copies (KAFKA_REPLICATION)',
        );
      if (performance.now() > until || this.#closing.signal.aborted)
        throw new TooFewBrokersError(topics, wanted, found);
      await pause(LOOK_AGAIN_MS, this.#closing.signal);
    }
  }

  async #check(admin: Admin): Promise<void> {
    const { plans, logger, metrics } = this.#deps;
    const facts = await factsOf(
      admin,
      plans.map(({ topic }) => topic),
      (error) => logger.warn({ reason: messageOf(error) }, 'the settings of topics could not be looked at'),
    );
    const short = plans.flatMap((plan) => shortfallsOf(plan, facts.get(plan.topic)!, this.#deps));
    await this.#keep(facts.get(this.#ordered)!.partitions.length);
    for (const { topic } of plans) {
      const settings = short.filter((one) => one.topic === topic).map(({ setting }) => setting);
      const isChanged = topic === this.#ordered && this.#changed !== undefined;
      metrics?.topicChecked?.(topic, isChanged ? [...settings, 'partitions_changed'] : settings);
    }
    this.#tell(short);
    if (short.length > 0 || this.#changed) this.#checkAgain();
  }

  async #keep(found: number): Promise<void> {
    const kept = await this.#deps.offsets.keepPartitions(this.#ordered, found);
    this.#kept = kept;
    this.#changed = kept === found ? undefined : new PartitionsChangedError(this.#ordered, kept, found);
  }

  /** Once for each state. */
  #tell(short: readonly TopicShortfall[]): void {
    const { logger } = this.#deps;
    const all = JSON.stringify([short, this.#changed?.message]);
    if (all === this.#told) return;
    this.#told = all;
    for (const shortfall of short) logger.warn({ ...shortfall }, 'a topic is below what it should be');
    if (this.#changed) {
      const fields = { topic: this.#ordered, reason: this.#changed.message };
      logger.error(fields, 'a topic has another number of partitions');
    }
  }

  #checkAgain(): void {
    if (this.#closing.signal.aborted) return;
    clearTimeout(this.#checking);
    this.#checking = setTimeout(() => {
      withAdmin(this.#deps.kafka, (admin) => this.#check(admin)).catch((error: unknown) => {
        this.#deps.logger.debug({ reason: messageOf(error) }, 'topics could not be looked at');
        this.#checkAgain();
      });
    }, CHECK_AGAIN_MS).unref();
  }
}
