import type { Kysely } from 'kysely';
import type { RealClock } from '../ports/clock.ts';
import type { ConsumerProgress, OperationMark, PublicEvent } from '../ports/event-bus.ts';
import type { LogPosition } from '../ports/event-store.ts';
import { changeRow, compareAndSet } from '../sql/compare-and-set.ts';
import { placeMove } from '../coordination/stored-places.ts';
import type { Schema } from '../sql/schema.ts';
import { GuardFailedError } from '../sql/sql-database.ts';
import type { SqlDatabase, Statement, StatementResult, TransactionOptions } from '../sql/sql-database.ts';
import { asStatements, inColumns, prepared, preparedList, preparedRows } from '../sql/prepared-query.ts';

/** How far a batch brings whoever handles it: in a topic, or in the log itself, from the place that is stored under this name. */
export type Progress =
  | ConsumerProgress
  | {
      readonly name: string;
      readonly from: LogPosition | 'start';
      readonly to: LogPosition;
      /** Of their own, in the transaction of the place. */
      readonly effects: readonly Statement[];
    };

const overtaken = (progress: Progress): string => {
  if ('name' in progress) return `${progress.name}: another process has moved on from ${progress.from}`;
  const { group, topic, partition, from } = progress;
  return `group ${group} is no longer at offset ${from} of ${topic}/${partition}`;
};

/** The stored place was not the expected one: another process has moved it, or an earlier try did commit. Nothing was stored. */
export class PlaceMovedError extends Error {
  override readonly name = 'PlaceMovedError';
  constructor(progress: Progress) {
    super(overtaken(progress));
  }
}

/** A handler for what comes over a bus or straight from the log. @throws PlaceMovedError */
export type EventDelivery = (
  events: readonly PublicEvent[],
  progress?: Progress,
) => Promise<void | 'progress_stored'>;

const moveOffset = (builder: Kysely<Schema>) =>
  prepared(
    (row: { group: string; topic: string; partition: number; from: number; to: number; now: string }) =>
      compareAndSet(builder, 'consumer_offset', {
        key: { consumer_group: row.group, topic: row.topic, partition: row.partition },
        from: { next_offset: row.from },
        to: { next_offset: row.to, updated_at: row.now },
      }),
  );

const markColumns = ({ sequence, eventIds, handled }: OperationMark) => ({
  sequence,
  event_ids: JSON.stringify(eventIds),
  handled: handled ?? null,
});

const MARK = ['consumer_group', 'operation', 'sequence', 'event_ids', 'handled'] as const;

const writeMarks = (builder: Kysely<Schema>) =>
  preparedRows((rows: readonly Schema['consumer_mark'][]) =>
    builder
      .insertInto('consumer_mark')
      .values(rows.map((row) => inColumns(row, MARK)))
      .onConflict((conflict) =>
        conflict.columns(['consumer_group', 'operation']).doUpdateSet((eb) => ({
          sequence: eb.ref('excluded.sequence'),
          event_ids: eb.ref('excluded.event_ids'),
          handled: eb.ref('excluded.handled'),
        })),
      ),
  );

export class ProgressWriter {
  readonly #database: SqlDatabase;
  readonly #offset: ReturnType<typeof moveOffset>;
  readonly #marks: ReturnType<typeof writeMarks>;

  constructor(database: SqlDatabase) {
    this.#database = database;
    this.#offset = moveOffset(database.builder);
    this.#marks = writeMarks(database.builder);
  }

  /** In one transaction; answers what the effects gave. @throws PlaceMovedError */
  async commit(
    progress: Progress,
    now: string,
    effects: readonly Statement[] = [],
    options?: TransactionOptions,
  ): Promise<readonly StatementResult[]> {
    // The guard comes first: who is behind writes nothing else.
    const own = this.#statements(progress, now);
    try {
      return (await this.#database.transaction([...own, ...effects], options)).slice(own.length);
    } catch (error) {
      throw error instanceof GuardFailedError && error.index === 0 ? new PlaceMovedError(progress) : error;
    }
  }

  #statements(progress: Progress, now: string): readonly Statement[] {
    if ('name' in progress) {
      const move = placeMove(progress.name, progress.from, progress.to, now);
      const query = compareAndSet(this.#database.builder, 'checkpoint', move).compile();
      return [{ query, expectChanges: 1 }, ...progress.effects];
    }
    const { group, topic, partition, from, to, operations } = progress;
    const rows = operations.map((mark) => ({
      consumer_group: group,
      operation: mark.operation,
      ...markColumns(mark),
    }));
    const marks = asStatements(this.#marks(rows));
    return [{ query: this.#offset({ group, topic, partition, from, to, now }), expectChanges: 1 }, ...marks];
  }
}

const readMarks = (builder: Kysely<Schema>) =>
  preparedList((operations, p: { group: string }) =>
    builder
      .selectFrom('consumer_mark')
      .select(['operation', 'sequence', 'event_ids', 'handled'])
      .where('consumer_group', '=', p.group)
      .where('operation', 'in', operations),
  );

/** The truth, which the broker's own record only follows. Errors of the store pass through. */
export class ConsumerOffsets {
  readonly #database: SqlDatabase;
  readonly #clock: RealClock;
  readonly #progress: ProgressWriter;
  readonly #marks: ReturnType<typeof readMarks>;

  constructor(database: SqlDatabase, clock: RealClock) {
    this.#database = database;
    this.#clock = clock;
    this.#progress = new ProgressWriter(database);
    this.#marks = readMarks(database.builder);
  }

  /** Next offset by partition; no entry for a partition that the group never had. */
  async load(group: string, topic: string): Promise<ReadonlyMap<number, number>> {
    const query = this.#database.builder
      .selectFrom('consumer_offset')
      .select(['partition', 'next_offset'])
      .where('consumer_group', '=', group)
      .where('topic', '=', topic);
    const rows = await this.#database.read(query);
    return new Map(rows.map((row) => [row.partition, row.next_offset]));
  }

  /** First offset of a partition; changes nothing where there is one. */
  async begin(group: string, topic: string, partition: number, offset: number): Promise<void> {
    await changeRow(this.#database, 'consumer_offset', {
      key: { consumer_group: group, topic, partition },
      from: undefined,
      to: { next_offset: offset, updated_at: this.#clock.realNow() },
    });
  }

  /** For effects that are kept elsewhere, or that are none. @throws PlaceMovedError */
  async advance(progress: ConsumerProgress): Promise<void> {
    await this.#progress.commit(progress, this.#clock.realNow());
  }

  /** Changes the mark of one operation and no offset. False, and nothing changes, where the mark is not `before` any more. */
  mark(group: string, before: OperationMark | undefined, after: OperationMark): Promise<boolean> {
    return changeRow(this.#database, 'consumer_mark', {
      key: { consumer_group: group, operation: after.operation },
      from: before && markColumns(before),
      to: markColumns(after),
    });
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

  /** The first number told stays, until another is accepted; where none was, offsets that groups have say it. */
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
    await changeRow(this.#database, 'consumer_topic', {
      key: { topic },
      from: undefined,
      to: { partitions: newest ? newest.partition + 1 : partitions, updated_at: this.#clock.realNow() },
    });
    return (await this.keptPartitions(topic)) ?? partitions;
  }

  /** Undefined before the first. */
  async keptPartitions(topic: string): Promise<number | undefined> {
    const query = this.#database.builder
      .selectFrom('consumer_topic')
      .select('partitions')
      .where('topic', '=', topic);
    return (await this.#database.read(query))[0]?.partitions;
  }

  /** False, and nothing changes, when another number than `from` is kept. */
  acceptPartitions(topic: string, from: number, to: number): Promise<boolean> {
    return changeRow(this.#database, 'consumer_topic', {
      key: { topic },
      from: { partitions: from },
      to: { partitions: to, updated_at: this.#clock.realNow() },
    });
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
