import type { LogPosition } from '../../application/ports/event-store.ts';
import { RefusedWritesError } from '../../application/ports/read-models.ts';
import type { QuarantinedStream } from '../../application/ports/read-models.ts';
import type { ProjectionStore } from '../../application/projecting/projection-store.ts';
import { QUARANTINE_TABLE } from '../../application/projecting/quarantine.ts';
import type { Projection, Row, TableWrite } from '../../projections/projection.ts';
import { READ_MODEL_KEYS } from './read-model-keys.ts';

type Tables = ReadonlyMap<string, readonly Row[]>;

const matches = (row: Row, where: Row): boolean =>
  Object.entries(where).every(([column, value]) => row[column] === value);

const changed = (row: Row, { set, add = {} }: Extract<TableWrite, { op: 'update' }>): Row => {
  const increased = Object.entries(add).map(([column, by]) => [column, Number(row[column]) + by] as const);
  return { ...row, ...set, ...Object.fromEntries(increased) };
};

const refuseDuplicates = (table: string, rows: readonly Row[]): void => {
  const keys = rows.map((row) => JSON.stringify(READ_MODEL_KEYS[table]!.map((column) => row[column])));
  if (new Set(keys).size < keys.length) throw new RefusedWritesError(`${table} holds a key twice`);
};

/** What a write means, in the plainest way. */
export const applyWrite = (tables: Tables, write: TableWrite): Tables => {
  const rows = tables.get(write.table) ?? [];
  switch (write.op) {
    case 'insert':
      return new Map(tables).set(write.table, [...rows, ...write.rows]);
    case 'update': {
      const next = rows.map((row) => (matches(row, write.where) ? changed(row, write) : row));
      return new Map(tables).set(write.table, next);
    }
    case 'delete':
      return new Map(tables).set(
        write.table,
        rows.filter((row) => !matches(row, write.where)),
      );
  }
};

/** A projection store in memory: the meaning of the port without an engine. */
export class InMemoryTables implements ProjectionStore {
  #tables: Tables = new Map();
  readonly #checkpoints = new Map<string, { readonly version: number; readonly position: LogPosition }>();

  rows(table: string): readonly Row[] {
    return this.#tables.get(table) ?? [];
  }

  async checkpoint(projection: Projection): Promise<LogPosition | 'start'> {
    const stored = this.#checkpoints.get(projection.name);
    if (!stored) return 'start';
    if (stored.version === projection.version) return stored.position;
    throw new Error(`read model has version ${stored.version}`);
  }

  async quarantined({ name }: Projection): Promise<readonly QuarantinedStream[]> {
    return this.rows(QUARANTINE_TABLE)
      .filter(({ projection }) => projection === name)
      .toSorted((one, other) => (String(one['stream']) < String(other['stream']) ? -1 : 1))
      .map(({ stream, revision, event_type: eventType, reason, position }) => ({
        ...{ stream: String(stream), revision: BigInt(revision!), eventType: String(eventType) },
        ...{ reason: String(reason), position: String(position) as LogPosition },
      }));
  }

  async apply(
    { name, version }: Projection,
    writes: readonly TableWrite[],
    expected: LogPosition | 'start',
    position: LogPosition,
  ): Promise<boolean> {
    const stored = this.#checkpoints.get(name);
    if ((stored?.position ?? 'start') !== expected || (stored && stored.version !== version)) return false;
    for (const { table } of writes) {
      if (!(table in READ_MODEL_KEYS)) throw new RefusedWritesError(`no table ${table}`);
    }
    let next = this.#tables;
    for (const write of writes) {
      const touched = (next.get(write.table) ?? []).filter(
        (row) => write.op !== 'insert' && matches(row, write.where),
      );
      if (write.op !== 'insert' && write.expect !== undefined && touched.length !== write.expect)
        return false;
      next = applyWrite(next, write);
    }
    for (const [table, rows] of next) refuseDuplicates(table, rows);
    this.#tables = next;
    this.#checkpoints.set(name, { version, position });
    return true;
  }

  /** As a new generation has it. */
  async empty({ name, tables }: Projection): Promise<void> {
    this.#checkpoints.delete(name);
    this.#tables = new Map([...this.#tables].filter(([table]) => !tables.includes(table)));
  }
}
