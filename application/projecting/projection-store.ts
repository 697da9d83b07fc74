import { LRUCache } from 'lru-cache';
import { loanStream } from '../command-handling/operation.ts';
import { mayPass } from '../support/retry.ts';
import type { LogPosition } from '../ports/event-store.ts';
import { RefusedWritesError } from '../ports/read-models.ts';
import type { QuarantinedStream } from '../ports/read-models.ts';
import { messageOf } from '../support/failures.ts';
import type { Projection, Row, TableWrite } from '../../projections/projection.ts';
import { compareAndSet } from '../sql/compare-and-set.ts';
import { preparedList } from '../sql/prepared-query.ts';
import { GuardFailedError } from '../sql/sql-database.ts';
import type { Query, SqlDatabase, Statement } from '../sql/sql-database.ts';
import { isByOperation, storedRow } from './stored-rows.ts';
import type { OperationKey } from './stored-rows.ts';
import { TableWriteStatements } from './table-writes.ts';

const REMEMBERED = 10_000;
const AT_ONCE = 1_024;

interface KeyRow {
  readonly id: number;
  readonly stream: string;
  readonly fund_id: string;
}

/** Operations that another one replaces are known by their codes alone. */
const byStream = (write: Extract<TableWrite, { op: 'update' }>): TableWrite => {
  const { application_id: applicationId, code } = write.where;
  if (code === undefined) return write;
  return { ...write, where: { stream: loanStream(String(applicationId), String(code)) } };
};

const rowsOf = (write: TableWrite): readonly Row[] => (write.op === 'insert' ? write.rows : [write.where]);

/** Writes of projections, which name an operation by its stream, as the tables store them. What an operation has as its key never changes. */
class StoredWrites {
  readonly #database: SqlDatabase;
  readonly #lookUp: (streams: readonly string[]) => Query<KeyRow>;
  readonly #known = new LRUCache<string, OperationKey>({ max: REMEMBERED });

  constructor(database: SqlDatabase) {
    this.#database = database;
    const keys = preparedList((streams) =>
      database.builder.selectFrom('loan').select(['id', 'stream', 'fund_id']).where('stream', 'in', streams),
    );
    this.#lookUp = (streams) => keys(streams, {});
  }

  /** Of operations that are not there, nothing is changed. @throws RefusedWritesError for a row of such an operation */
  async of(writes: readonly TableWrite[]): Promise<readonly TableWrite[]> {
    const keys = await this.#keysOf(writes);
    return writes.flatMap((write) => {
      const { table } = write;
      if (!isByOperation(table)) return [table === 'loan' && write.op === 'update' ? byStream(write) : write];
      if (write.op === 'insert') {
        const rows = write.rows.map((row) => storedRow(table, row, keyIn(keys, row, table)));
        return [{ ...write, rows }];
      }
      const key = keys.get(String(write.where['stream']));
      return key ? [{ ...write, where: storedRow(table, write.where, key) }] : [];
    });
  }

  forget(): void {
    this.#known.clear();
  }

  async #keysOf(writes: readonly TableWrite[]): Promise<ReadonlyMap<string, OperationKey>> {
    const [keys, unknown] = [new Map<string, OperationKey>(), new Set<string>()];
    for (const write of writes) {
      if (write.table === 'loan' && write.op === 'insert')
        for (const row of write.rows)
          keys.set(String(row['stream']), { id: Number(row['id']), fundId: String(row['fund_id']) });
      if (!isByOperation(write.table)) continue;
      for (const row of rowsOf(write)) {
        const stream = String(row['stream']);
        const known = keys.get(stream) ?? this.#known.get(stream);
        if (known) keys.set(stream, known);
        else unknown.add(stream);
      }
    }
    const missing = [...unknown].filter((stream) => !keys.has(stream));
    for (let at = 0; at < missing.length; at += AT_ONCE)
      for (const row of await this.#database.read(this.#lookUp(missing.slice(at, at + AT_ONCE))))
        keys.set(row.stream, { id: row.id, fundId: row.fund_id });
    for (const [stream, key] of keys) this.#known.set(stream, key);
    return keys;
  }
}

const keyIn = (keys: ReadonlyMap<string, OperationKey>, row: Row, table: string): OperationKey => {
  const key = keys.get(String(row['stream']));
  if (key) return key;
  throw new RefusedWritesError(`${table} is to hold a row of ${row['stream']}, which is not there`);
};

export type ProjectionStore = Pick<SqlProjectionStore, keyof SqlProjectionStore>;

/** Writes of a batch and its checkpoint commit together. A generation that another has succeeded refuses them. */
export class SqlProjectionStore {
  readonly #database: SqlDatabase;
  readonly #statements: TableWriteStatements;
  readonly #stored: StoredWrites;
  /** Where each projection's place was read: in another generation rows have other keys, and the place may be of another log. */
  readonly #readIn = new Map<string, number | undefined>();

  constructor(database: SqlDatabase) {
    this.#database = database;
    this.#statements = new TableWriteStatements(database);
    this.#stored = new StoredWrites(database);
  }

  /** @throws RefusedWritesError for rows of another version: each has generations of its own */
  async checkpoint(projection: Projection): Promise<LogPosition | 'start'> {
    const { name, version } = projection;
    this.#stored.forget();
    const { generation } = this.#database;
    const [row] = await this.#database.read(
      this.#database.builder
        .selectFrom('projection_checkpoint')
        .select(['version', 'position'])
        .where('name', '=', name),
    );
    // It may have been read in either of two.
    if (generation !== this.#database.generation) return this.checkpoint(projection);
    this.#readIn.set(name, generation);
    if (!row) return 'start';
    if (row.version === version) return row.position as LogPosition;
    throw new RefusedWritesError(
      `read model ${name} has version ${row.version}, this program writes ${version}`,
    );
  }

  async quarantined({ name }: Projection): Promise<readonly QuarantinedStream[]> {
    const query = this.#database.builder
      .selectFrom('quarantined_operation')
      .select(['stream', 'revision', 'event_type as eventType', 'reason', 'position'])
      .where('projection', '=', name)
      .orderBy('stream');
    const rows = await this.#database.read(query);
    return rows.map((row) => ({
      ...row,
      revision: BigInt(row.revision),
      position: row.position as LogPosition,
    }));
  }

  /**
   * @param expected the checkpoint that these writes follow; when the stored one differs (another projector was faster), another
   *   generation serves than where it was read, or a write does not touch as many rows as it expects, nothing is written and the answer is
   *   false
   * @throws RefusedWritesError
   */
  async apply(
    projection: Projection,
    writes: readonly TableWrite[],
    expected: LogPosition | 'start',
    checkpoint: LogPosition,
  ): Promise<boolean> {
    try {
      // The checkpoint goes first: who loses the race must not meet rows of the winner.
      const advance = this.#advance(projection, expected, checkpoint);
      const statements = this.#statements.of(await this.#stored.of(writes));
      const generation = this.#readIn.get(projection.name);
      await this.#database.transaction([advance, ...statements], { lookUps: true, generation });
      return true;
    } catch (error) {
      this.#stored.forget();
      if (error instanceof GuardFailedError) return false;
      if (mayPass(error) || error instanceof RefusedWritesError) throw error;
      throw new RefusedWritesError(messageOf(error), { cause: error });
    }
  }

  #advance({ name, version }: Projection, expected: LogPosition | 'start', position: LogPosition): Statement {
    const query = compareAndSet(this.#database.builder, 'projection_checkpoint', {
      key: { name },
      from: expected === 'start' ? undefined : { version, position: expected, successor: null },
      to: { version, position },
    });
    return { query: query.compile(), expectChanges: 1 };
  }
}
