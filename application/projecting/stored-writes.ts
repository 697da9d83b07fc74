import { LRUCache } from 'lru-cache';
import { loanStream } from '../command-handling/operation.ts';
import { RefusedWritesError } from '../ports/read-models.ts';
import { isByOperation, storedRow } from './stored-rows.ts';
import type { OperationKey } from './stored-rows.ts';
import type { Row, TableWrite } from '../../projections/projection.ts';
import { preparedList } from '../sql/prepared-query.ts';
import type { Query, SqlDatabase } from '../sql/sql-database.ts';

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
export class StoredWrites {
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
