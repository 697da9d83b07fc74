import type { Kafka } from 'kafkajs';
import type { ConsumerOffsets } from '../../application/processors/consumer-offsets.ts';
import { TOPICS } from '../../application/publication/catalogue.ts';
import { NotAcceptedError } from '../../application/ports/event-bus.ts';
import type { ListedTopic, Topics } from '../../application/ports/event-bus.ts';
import { pause } from '../support/time.ts';
import { kafkaClient, waitingBehind, watermarks, withAdmin } from './kafka-client.ts';
import type { KafkaConnection, Watermarks } from './kafka-client.ts';
import { METADATA_MAX_AGE_MS } from './ordered-producer.ts';
import { shortfallsOf, topicPlans } from './topic-check.ts';
import type { TopicFacts, TopicNames, TopicPlan } from './topic-check.ts';
import { factsOf } from './topics.ts';

interface TopicAdministrationOptions extends KafkaConnection, TopicNames {
  readonly offsets: ConsumerOffsets;
  /** Nothing may be published for so long before another number of partitions is accepted. */
  readonly quietMs?: number;
}

/** Every producer has asked for the topic's partitions again by then, and refuses to publish until the number is accepted. */
const QUIET_MS = METADATA_MAX_AGE_MS + 5_000;

const LOOK_EVERY_MS = 500;

const total = (numbers: Iterable<number>): number => [...numbers].reduce((sum, one) => sum + one, 0);

/** For operators, beside the processes that use the topics. */
export class TopicAdministration implements Topics {
  readonly #options: TopicAdministrationOptions;
  readonly #kafka: Kafka;

  constructor(options: TopicAdministrationOptions) {
    this.#options = options;
    this.#kafka = kafkaClient(options);
  }

  async list(): Promise<readonly ListedTopic[]> {
    const plans = topicPlans(this.#options);
    const existing = new Set(await withAdmin(this.#kafka, (admin) => admin.listTopics()));
    const topics = plans.map(({ topic }) => topic).filter((topic) => existing.has(topic));
    const facts = await withAdmin(this.#kafka, (admin) =>
      factsOf(admin, topics, (error) => {
        throw error;
      }),
    );
    return Promise.all(plans.map((plan) => this.#listed(plan, facts.get(plan.topic))));
  }

  async #listed(plan: TopicPlan, facts: TopicFacts | undefined): Promise<ListedTopic> {
    const { topic } = plan;
    const kept = await this.#options.offsets.keptPartitions(topic);
    const [partitions = 0, replicas] = [
      facts?.partitions.length,
      facts?.partitions.map((one) => one.replicas),
    ];
    const numberOf = (setting: string): number | undefined => {
      const text = facts?.settings.get(setting);
      return text === undefined ? undefined : Number(text);
    };
    const changed = {
      problem: `has ${partitions} partitions, operations are spread over ${kept}`,
      command: `receivables topics accept-partitions ${topic}`,
    };
    const shortfalls = facts ? shortfallsOf(plan, facts, this.#options) : [];
    return {
      topic,
      partitions,
      spreadOver: kept,
      waiting: kept === undefined || !facts ? 0 : (await this.#waiting(topic, kept)).messages,
      copies: replicas ? Math.min(...replicas.map(({ length }) => length)) : 0,
      minInsyncReplicas: numberOf('min.insync.replicas'),
      retentionMs: numberOf('retention.ms'),
      problems: [
        ...(facts && kept !== undefined && kept !== partitions ? [changed] : []),
        ...shortfalls.map(({ setting, found, wanted, command }) => ({
          problem: `${setting} is ${found}, should be ${wanted}`,
          command,
        })),
      ],
    };
  }

  /** In the partitions over which operations are spread, for all groups together. */
  async #waiting(topic: string, kept: number): Promise<{ readonly messages: number; readonly end: number }> {
    const marks = await this.#marks(topic, kept);
    const groups = await this.#options.offsets.groups(topic);
    const all = await Promise.all(groups.map((group) => this.#behind(group, topic, marks)));
    // Without a group nothing was handled at all.
    const untouched = groups.length === 0 ? total([...marks.values()].map(({ low, high }) => high - low)) : 0;
    return { messages: total(all) + untouched, end: total([...marks.values()].map(({ high }) => high)) };
  }

  async #marks(topic: string, kept: number): Promise<ReadonlyMap<number, Watermarks>> {
    const marks = await watermarks(this.#kafka, topic);
    return new Map([...marks].filter(([partition]) => partition < kept));
  }

  async #behind(group: string, topic: string, marks: ReadonlyMap<number, Watermarks>): Promise<number> {
    return waitingBehind(marks, await this.#options.offsets.load(group, topic));
  }

  /** Resolves once a group has handled all that the topic holds at the call. @throws Error naming what is left when that takes longer */
  async untilHandled(topic: string, group: string, ms: number): Promise<void> {
    const marks = await this.#marks(topic, (await this.#options.offsets.keptPartitions(topic)) ?? Infinity);
    const deadline = performance.now() + ms;
    for (;;) {
      const left = await this.#behind(group, topic, marks);
      if (left === 0) return;
      if (performance.now() > deadline)
        throw new Error(
          `${left} messages of ${topic} still wait for ${group}: give the command again once they are handled`,
        );
      await pause(LOOK_EVERY_MS);
    }
  }

  /**
   * Lets operations be spread over the partitions that the topic has now. Only when everything in the ones of before was handled, and
   * nothing is published to them any more: then no event can overtake an earlier one of its operation.
   *
   * @throws NotAcceptedError
   */
  async acceptPartitions(topic: string): Promise<{ readonly before: number; readonly partitions: number }> {
    const { offsets, topicPrefix = '', quietMs = QUIET_MS } = this.#options;
    const ordered = [TOPICS.events, TOPICS.decisions].map((name) => topicPrefix + name);
    if (!ordered.includes(topic)) throw new NotAcceptedError(`${topic} is none of ${ordered.join(', ')}`);
    const kept = await offsets.keptPartitions(topic);
    if (kept === undefined)
      throw new NotAcceptedError(`${topic} has not been used yet: there is nothing to accept`);
    const partitions = (await watermarks(this.#kafka, topic)).size;
    if (partitions === kept) return { before: kept, partitions };
    const before = await this.#requireHandled(topic, kept);
    await pause(quietMs);
    const after = await this.#requireHandled(topic, kept);
    if (after !== before)
      throw new NotAcceptedError(
        `${topic} was published to within the last ${quietMs} ms: producers find the new partitions within ${METADATA_MAX_AGE_MS} ms and stop by themselves; give the command again`,
      );
    if (!(await offsets.acceptPartitions(topic, kept, partitions)))
      throw new NotAcceptedError(`another process has accepted a number for ${topic} meanwhile`);
    return { before: kept, partitions };
  }

  async #requireHandled(topic: string, kept: number): Promise<number> {
    const { messages, end } = await this.#waiting(topic, kept);
    if (messages === 0) return end;
    throw new NotAcceptedError(
      `${messages} messages wait in the ${kept} partitions of before: let the consumers of ${topic} handle them, and give the command again`,
    );
  }
}
