import type { Kysely } from 'kysely';
import type { RealClock } from '../../application/ports/clock.ts';
import { PartitionLostError } from '../../application/ports/event-bus.ts';
import type { ConsumerOffsets, ConsumerProgress, OperationMark } from '../../application/ports/event-bus.ts';
import type { Schema } from './schema.ts';
import { GuardFailedError } from './sql-database.ts';
import type { SqlDatabase, Statement } from './sql-database.ts';
import { asStatements, prepared, preparedList, preparedRows } from './prepared-query.ts';

const moveOffset = (builder: Kysely<Schema>) =>
  prepared(
    (row: { group: string; topic: string; partition: number; from: number; to: number; now: string }) =>
      builder
        .updateTable('consumer_offset')
        .set({ next_offset: row.to, updated_at: row.now })
        .where('consumer_group', '=', row.group)
        .where('topic', '=', row.topic)
        .where('partition', '=', row.partition)
        .where('next_offset', '=', row.from),
  );

interface MarkRow {
  group: string;
  operation: string;
  sequence: number;
  ids: string;
  handled: string | null;
}

const writeMarks = (builder: Kysely<Schema>) =>
  preparedRows((rows: readonly MarkRow[]) =>
    builder
      .insertInto('consumer_mark')
      .values(
        rows.map((row) => ({
          consumer_group: row.group,
          operation: row.operation,
          sequence: row.sequence,
          event_ids: row.ids,
          handled: row.handled,
        })),
      )
      .onConflict((conflict) =>
        conflict.columns(['consumer_group', 'operation']).doUpdateSet((eb) => ({
          sequence: eb.ref('excluded.sequence'),
          event_ids: eb.ref('excluded.event_ids'),
          handled: eb.ref('excluded.handled'),
        })),
      ),
  );

/** The statements that store a batch's progress beside its effects. */
export class ProgressStatements {
  readonly #offset: ReturnType<typeof moveOffset>;
  readonly #marks: ReturnType<typeof writeMarks>;

  constructor(builder: Kysely<Schema>) {
    this.#offset = moveOffset(builder);
    this.#marks = writeMarks(builder);
  }

  /** The guard comes first: a consumer that lost the partition writes nothing else. */
  of({ group, topic, partition, from, to, operations }: ConsumerProgress, now: string): readonly Statement[] {
    const rows = operations.map(({ operation, sequence, eventIds, handled = null }) => {
      return { group, operation, sequence, ids: JSON.stringify(eventIds), handled };
    });
    const marks = asStatements(this.#marks(rows));
    return [{ query: this.#offset({ group, topic, partition, from, to, now }), expectChanges: 1 }, ...marks];
  }
}

/** Names the failed guard of a progress; everything else stays what it is. `index` is where its statements begin. */
export const asPartitionLost = (error: unknown, progress: ConsumerProgress, index: number): unknown =>
  error instanceof GuardFailedError && error.index === index ? new PartitionLostError(progress) : error;

const readMarks = (builder: Kysely<Schema>) =>
  preparedList((operations, p: { group: string }) =>
    builder
      .selectFrom('consumer_mark')
      .select(['operation', 'sequence', 'event_ids', 'handled'])
      .where('consumer_group', '=', p.group)
      .where('operation', 'in', operations),
  );

export class SqlConsumerOffsets implements ConsumerOffsets {
  readonly #database: SqlDatabase;
  readonly #clock: RealClock;
  readonly #progress: ProgressStatements;
  readonly #marks: ReturnType<typeof readMarks>;

  constructor(database: SqlDatabase, clock: RealClock) {
    this.#database = database;
    this.#clock = clock;
    this.#progress = new ProgressStatements(database.builder);
    this.#marks = readMarks(database.builder);
  }

  async load(group: string, topic: string): Promise<ReadonlyMap<number, number>> {
    const query = this.#database.builder
      .selectFrom('consumer_offset')
      .select(['partition', 'next_offset'])
      .where('consumer_group', '=', group)
      .where('topic', '=', topic);
    const rows = await this.#database.read(query);
    return new Map(rows.map((row) => [row.partition, row.next_offset]));
  }

  async begin(group: string, topic: string, partition: number, offset: number): Promise<void> {
    const query = this.#database.builder
      .insertInto('consumer_offset')
      .values({
        consumer_group: group,
        topic,
        partition,
        next_offset: offset,
        updated_at: this.#clock.realNow(),
      })
      .onConflict((conflict) => conflict.columns(['consumer_group', 'topic', 'partition']).doNothing());
    await this.#database.transaction([{ query: query.compile() }]);
  }

  async advance(progress: ConsumerProgress): Promise<void> {
    try {
      await this.#database.transaction(this.#progress.of(progress, this.#clock.realNow()));
    } catch (error) {
      throw asPartitionLost(error, progress, 0);
    }
  }

  async mark(group: string, before: OperationMark | undefined, after: OperationMark): Promise<boolean> {
    const { builder } = this.#database;
    const { operation, sequence, eventIds, handled = null } = after;
    const values = { sequence, event_ids: JSON.stringify(eventIds), handled };
    const query = before
      ? builder
          .updateTable('consumer_mark')
          .set(values)
          .where('consumer_group', '=', group)
          .where('operation', '=', operation)
          .where('sequence', '=', before.sequence)
          .where('event_ids', '=', JSON.stringify(before.eventIds))
          .where('handled', before.handled === undefined ? 'is' : '=', before.handled ?? null)
          .compile()
      : builder
          .insertInto('consumer_mark')
          .values({ consumer_group: group, operation, ...values })
          .onConflict((conflict) => conflict.columns(['consumer_group', 'operation']).doNothing())
          .compile();
    try {
      await this.#database.transaction([{ query, expectChanges: 1 }]);
      return true;
    } catch (error) {
      if (error instanceof GuardFailedError) return false;
      throw error;
    }
  }

  async marks(group: string, operations: readonly string[]): Promise<ReadonlyMap<string, OperationMark>> {
    if (operations.length === 0) return new Map();
    const rows = await this.#database.read(this.#marks(operations, { group }));
    return new Map(
      rows.map(({ operation, sequence, event_ids, handled }) => [
        operation,
        {
          operation,
          sequence,
          eventIds: JSON.parse(event_ids) as readonly string[],
          ...(handled !== null && { handled }),
        },
      ]),
    );
  }

  async keepPartitions(topic: string, partitions: number): Promise<number> {
    const kept = await this.keptPartitions(topic);
    if (kept !== undefined) return kept;
    const { builder } = this.#database;
    const [newest] = await this.#database.read(
      builder
        .selectFrom('consumer_offset')
        .select('partition')
        .where('topic', '=', topic)
        .orderBy('partition', 'desc')
        .limit(1),
    );
    const insert = builder
      .insertInto('consumer_topic')
      .values({
        topic,
        partitions: newest ? newest.partition + 1 : partitions,
        updated_at: this.#clock.realNow(),
      })
      .onConflict((conflict) => conflict.column('topic').doNothing());
    await this.#database.transaction([{ query: insert.compile() }]);
    return (await this.keptPartitions(topic)) ?? partitions;
  }

  async keptPartitions(topic: string): Promise<number | undefined> {
    const query = this.#database.builder
      .selectFrom('consumer_topic')
      .select('partitions')
      .where('topic', '=', topic);
    return (await this.#database.read(query))[0]?.partitions;
  }

  async acceptPartitions(topic: string, from: number, to: number): Promise<boolean> {
    const update = this.#database.builder
      .updateTable('consumer_topic')
      .set({ partitions: to, updated_at: this.#clock.realNow() })
      .where('topic', '=', topic)
      .where('partitions', '=', from);
    try {
      await this.#database.transaction([{ query: update.compile(), expectChanges: 1 }]);
      return true;
    } catch (error) {
      if (error instanceof GuardFailedError) return false;
      throw error;
    }
  }

  async groups(topic: string): Promise<readonly string[]> {
    const query = this.#database.builder
      .selectFrom('consumer_offset')
      .select('consumer_group')
      .distinct()
      .where('topic', '=', topic)
      .orderBy('consumer_group');
    return (await this.#database.read(query)).map(({ consumer_group }) => consumer_group);
  }
}
