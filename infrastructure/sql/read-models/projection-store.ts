import { sql } from 'kysely';
import type { CompiledQuery, Kysely } from 'kysely';
import { OutcomeUnknownError, StoreUnavailableError } from '../../../application/ports/event-store.ts';
import type { LogPosition } from '../../../application/ports/event-store.ts';
import { RefusedWritesError } from '../../../application/ports/read-models.ts';
import type { ProjectionStore, QuarantinedStream } from '../../../application/ports/read-models.ts';
import { QUARANTINE_TABLE } from '../../../application/projecting/quarantine.ts';
import { messageOf } from '../../../application/support/failures.ts';
import type { Projection, Row, TableWrite, Value } from '../../../projections/projection.ts';
import { alone } from '../coordination.ts';
import { READ_MODEL_NAMES } from '../schema.ts';
import type { Schema } from '../schema.ts';
import { GuardFailedError } from '../sql-database.ts';
import type { Query, SqlDatabase, Statement } from '../sql-database.ts';
import { chunks } from '../prepared-query.ts';

interface Template {
  readonly query: CompiledQuery;
  /** For each parameter of the query, its index among the write's values. */
  readonly order: readonly number[];
}

/**
 * Rows of one table that are inserted one after the other become one insert. Between them may stand writes of other tables, which know
 * nothing of each other.
 */
const joined = (writes: readonly TableWrite[]): readonly TableWrite[] => {
  const open = new Map<string, { readonly op: 'insert'; readonly table: string; readonly rows: Row[] }>();
  return writes.flatMap((write): readonly TableWrite[] => {
    const { table } = write;
    const last = open.get(table);
    if (write.op !== 'insert') {
      open.delete(table);
      return [write];
    }
    const alike =
      last?.rows[0] && Object.keys(last.rows[0]).join() === Object.keys(write.rows[0] ?? {}).join();
    if (last && alike) {
      last.rows.push(...write.rows);
      return [];
    }
    const first = { ...write, rows: [...write.rows] };
    open.set(table, first);
    return [first];
  });
};

const expecting = (statement: Statement, changes: number | undefined): Statement =>
  changes === undefined ? statement : { ...statement, expectChanges: changes };

type Build = (value: (index: number) => Value) => Query<unknown>;

/** Compiles one statement for each shape of write and binds it for each write: building a query costs more than running it. */
class TableWriteStatements {
  // Column lists come from projections' code and tables are checked below, so names are not checked against types here.
  readonly #builder: Kysely<Record<string, Record<string, Value>>>;
  readonly #templates = new Map<string, Template>();

  constructor(builder: Kysely<Schema>) {
    this.#builder = builder as unknown as Kysely<Record<string, Record<string, Value>>>;
  }

  /** @throws RangeError for a table of no read model, or rows of one insert that differ in their columns */
  of(write: TableWrite): readonly Statement[] {
    if (!READ_MODEL_NAMES.includes(write.table) && write.table !== QUARANTINE_TABLE)
      throw new RangeError(`no table ${write.table} in this store`);
    switch (write.op) {
      case 'insert':
        return this.#insert(write.table, write.rows);
      case 'update':
        return [expecting(this.#update(write), write.expect)];
      case 'delete':
        return [expecting(this.#delete(write.table, write.where), write.expect)];
    }
  }

  #insert(table: string, rows: readonly Row[]): readonly Statement[] {
    const columns = Object.keys(rows[0] ?? {});
    for (const row of rows) {
      const fits = Object.keys(row).length === columns.length && columns.every((column) => column in row);
      if (!fits) throw new RangeError(`rows of one insert into ${table} differ in their columns`);
    }
    return chunks(rows).map((chunk) => {
      const key = `insert ${table} ${chunk.length} ${columns.join()}`;
      const values = chunk.flatMap((row) => columns.map((column) => row[column]!));
      return this.#bind(key, values, (value) => {
        const rowOf = (_: Row, r: number) =>
          Object.fromEntries(columns.map((column, c) => [column, value(r * columns.length + c)]));
        return this.#builder.insertInto(table).values(chunk.map(rowOf));
      });
    });
  }

  #update({ table, where, set, add = {} }: Extract<TableWrite, { op: 'update' }>): Statement {
    const [setting, adding, keys] = [Object.keys(set), Object.keys(add), Object.keys(where)];
    const key = `update ${table} ${setting.join()} ${adding.join()} ${keys.join()}`;
    const values = [...Object.values(set), ...Object.values(add), ...Object.values(where)];
    return this.#bind(key, values, (value) => {
      const assigned = setting.map((column, i) => [column, value(i)] as const);
      const increased = adding.map(
        (column, i) => [column, sql<number>`${sql.ref(column)} + ${value(setting.length + i)}`] as const,
      );
      const update = this.#builder
        .updateTable(table)
        .set(Object.fromEntries<unknown>([...assigned, ...increased]) as Record<string, Value>);
      return keys.reduce(
        (query, column, i) => query.where(column, '=', value(values.length - keys.length + i)),
        update,
      );
    });
  }

  #delete(table: string, where: Row): Statement {
    const keys = Object.keys(where);
    return this.#bind(`delete ${table} ${keys.join()}`, Object.values(where), (value) =>
      keys.reduce((query, column, i) => query.where(column, '=', value(i)), this.#builder.deleteFrom(table)),
    );
  }

  #bind(key: string, values: readonly Value[], build: Build): Statement {
    let template = this.#templates.get(key);
    if (!template) {
      // Indexes stand in for the values, so the compiled parameters tell in which order it wants them.
      const query = build((index) => index).compile();
      template = { query, order: query.parameters.map(Number) };
      this.#templates.set(key, template);
    }
    return { query: { ...template.query, parameters: template.order.map((index) => values[index]) } };
  }
}

/** What may pass by itself; every other failure of these statements would come again. */
const mayPass = (error: unknown): boolean =>
  error instanceof StoreUnavailableError || error instanceof OutcomeUnknownError;

/** Writes into one generation, or into the one that serves; a generation that another has succeeded refuses each of them. */
export class SqlProjectionStore implements ProjectionStore {
  readonly #database: SqlDatabase;
  readonly #statements: TableWriteStatements;

  constructor(database: SqlDatabase) {
    this.#database = database;
    this.#statements = new TableWriteStatements(database.builder);
  }

  /**
   * Rows of an older version of the projection are emptied.
   * @throws RefusedWritesError for rows of a newer version
   */
  async checkpoint(projection: Projection): Promise<LogPosition | 'start'> {
    const { name, version } = projection;
    const [row] = await this.#database.read(
      this.#database.builder
        .selectFrom('projection_checkpoint')
        .select(['version', 'position'])
        .where('name', '=', name),
    );
    if (!row) return 'start';
    if (row.version === version) return row.position as LogPosition;
    if (row.version > version) {
      throw new RefusedWritesError(
        `read model ${name} has version ${row.version}, this program writes ${version}`,
      );
    }
    try {
      await this.#empty(projection, row.version);
    } catch (error) {
      if (!(error instanceof GuardFailedError)) throw error;
    }
    return this.checkpoint(projection);
  }

  async quarantined({ name }: Projection): Promise<readonly QuarantinedStream[]> {
    const query = this.#database.builder
      .selectFrom('quarantined_operation')
      .select(['stream', 'revision', 'event_type', 'reason', 'position'])
      .where('projection', '=', name)
      .orderBy('stream');
    const rows = await this.#database.read(query);
    return rows.map(({ stream, revision, event_type: eventType, reason, position }) => ({
      stream,
      revision: BigInt(revision),
      eventType,
      reason,
      position: position as LogPosition,
    }));
  }

  async apply(
    projection: Projection,
    writes: readonly TableWrite[],
    expected: LogPosition | 'start',
    checkpoint: LogPosition,
  ): Promise<boolean> {
    try {
      // The checkpoint goes first: who loses the race must not meet rows of the winner.
      const advance = this.#advance(projection, expected, checkpoint);
      const statements = joined(writes).flatMap((write) => this.#statements.of(write));
      // Once there is a checkpoint, its row is what others wait for.
      const lock = expected === 'start' ? this.#lock(projection) : [];
      await this.#database.transaction([...lock, advance, ...statements]);
      return true;
    } catch (error) {
      if (error instanceof GuardFailedError) return false;
      if (mayPass(error)) throw error;
      throw new RefusedWritesError(messageOf(error), { cause: error });
    }
  }

  async reset(projection: Projection): Promise<void> {
    await this.#empty(projection);
  }

  #advance({ name, version }: Projection, expected: LogPosition | 'start', position: LogPosition): Statement {
    const { builder } = this.#database;
    const query =
      expected === 'start'
        ? builder
            .insertInto('projection_checkpoint')
            .values({ name, version, position })
            .onConflict((conflict) => conflict.column('name').doNothing())
        : builder
            .updateTable('projection_checkpoint')
            .set({ position })
            .where('name', '=', name)
            .where('version', '=', version)
            .where('position', '=', expected)
            .where('successor', 'is', null);
    return { query: query.compile(), expectChanges: 1 };
  }

  async #empty(projection: Projection, onlyVersion?: number): Promise<void> {
    const { builder } = this.#database;
    let forget = builder
      .deleteFrom('projection_checkpoint')
      .where('name', '=', projection.name)
      .where('successor', 'is', null);
    if (onlyVersion !== undefined) forget = forget.where('version', '=', onlyVersion);
    const free = builder.deleteFrom('quarantined_operation').where('projection', '=', projection.name);
    const guard = onlyVersion === undefined ? {} : { expectChanges: 1 };
    await this.#database.transaction([
      ...this.#lock(projection),
      { query: forget.compile(), ...guard },
      { query: free.compile() },
      ...this.#emptied(projection),
    ]);
  }

  /** PostgreSQL deletes row by row, for longer than a statement may take; SQLite drops the pages of a table. */
  #emptied({ tables }: Projection): readonly Statement[] {
    const { builder, dialect } = this.#database;
    if (tables.length === 0) return [];
    const names = tables.map((table) => sql.table(table));
    if (dialect === 'sqlite')
      return names.map((name) => ({ query: sql`delete from ${name}`.compile(builder) }));
    return [{ query: sql`truncate ${sql.join(names)}`.compile(builder) }];
  }

  #lock({ name }: Projection): readonly Statement[] {
    return alone(this.#database, `projection ${name}`);
  }
}
