import { randomUUID } from 'node:crypto';
import type { EventHandler, PublicEvent } from '../../../application/ports/event-bus.ts';
import { KafkaEventBus } from '../../../infrastructure/kafka/kafka-event-bus.ts';
import type { TopicPairOptions } from '../../../infrastructure/kafka/topic-pair.ts';
import { ConsumerOffsets } from '../../../application/processors/consumer-offsets.ts';
import { openServiceDatabase } from '../sql/temporary-database.ts';
import { ManualClock } from '../manual-clock.ts';
import { RecordingLogger } from '../recording-logger.ts';

export const busEvent = (code: string, sequence: number): PublicEvent => {
  const event = {
    eventId: randomUUID(),
    name: 'installment_settled',
    applicationId: 'application-1',
    fundId: '6f2f9d6a-58f1-4a5e-9f0c-3d8f5f6f7a10',
    code,
    sequence,
    timestamp: '2026-01-15T12:00:00.000Z',
  };
  const { eventId: event_id, name, fundId: fund_id, timestamp } = event;
  const body = { event: name, event_id, originator_proposal_code: code, fund_id, timestamp, sequence };
  return { ...event, body: JSON.stringify(body) };
};

/** So many events of each of so many operations, those of all operations mixed. */
export const mixedEvents = (operations: number, each: number, from = 0): readonly PublicEvent[] =>
  Array.from({ length: operations * each }, (_, n) =>
    busEvent(`OP-${n % operations}`, from + Math.floor(n / operations)),
  );

/** What a consumer saw, by operation. */
export const sequencesByCode = (
  events: readonly PublicEvent[],
): Readonly<Record<string, readonly number[]>> => {
  const byCode: Record<string, number[]> = {};
  for (const { code, sequence } of events) (byCode[code] ??= []).push(sequence);
  return byCode;
};

/** The same for every operation: from 0, without a gap, none twice. */
export const whole = (operations: number, each: number): Readonly<Record<string, readonly number[]>> =>
  Object.fromEntries(
    Array.from({ length: operations }, (_, n) => [`OP-${n}`, Array.from({ length: each }, (__, k) => k)]),
  );

/** Whether the groups that consume there have handled all that there is. */
export const noLag = async (bus: KafkaEventBus): Promise<boolean> =>
  Object.values(await bus.lag()).every((lag) => lag === 0);

export interface Member {
  readonly bus: KafkaEventBus;
  readonly logger: RecordingLogger;
}

export interface BusWorld {
  readonly offsets: ConsumerOffsets;
  readonly prefix: string;
  /** A process of its own, as far as the brokers can tell. */
  member(options?: Partial<TopicPairOptions>): Member;
  /** A member that consumes in the group. */
  consumer(group: string, handler: EventHandler, options?: Partial<TopicPairOptions>): Promise<Member>;
  close(): Promise<void>;
}

/** Members of one system, over one topic and one store of offsets. */
export const busWorld = async (brokers: readonly string[], prefix: string): Promise<BusWorld> => {
  const { database, close } = await openServiceDatabase();
  const offsets = new ConsumerOffsets(database, new ManualClock());
  const members: Member[] = [];
  const member = (options: Partial<TopicPairOptions> = {}): Member => {
    const logger = new RecordingLogger();
    const bus = new KafkaEventBus({
      brokers,
      clientId: `member-${members.length}`,
      offsets,
      logger,
      topicPrefix: prefix,
      ...options,
      topics: { partitions: 4, replication: 1, ...options.topics },
      // Most tests publish once, to a broker that has just started on a busy machine.
      producer: { sendTimeoutMs: 60_000, patientSendTimeoutMs: 60_000, ...options.producer },
      consumer: { firstRetryMs: 5, longestRetryMs: 200, ...options.consumer },
    });
    members.push({ bus, logger });
    return { bus, logger };
  };
  return {
    offsets,
    prefix,
    member,
    consumer: async (group, handler, options) => {
      const opened = member(options);
      await opened.bus.consume(group, handler);
      return opened;
    },
    close: async () => {
      await Promise.all(members.map(({ bus }) => bus.close()));
      await close();
    },
  };
};
