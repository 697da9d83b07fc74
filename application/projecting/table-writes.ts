import { sql } from 'kysely';
import type { CompiledQuery, Kysely, RawBuilder } from 'kysely';
import { QUARANTINE_TABLE } from './quarantine.ts';
import type { Row, TableWrite, Value } from '../../projections/projection.ts';
import { chunks, lookedUp, valuesOf } from '../sql/prepared-query.ts';
import { READ_MODEL_NAMES } from '../sql/read-model-tables.ts';
import type { Query, SqlDatabase, SqlDialect, Statement } from '../sql/sql-database.ts';

type Update = Extract<TableWrite, { op: 'update' }>;

type Group = { readonly table: string; readonly shape: string } & (
  | { readonly op: 'insert'; readonly rows: Row[] }
  | { readonly op: 'update'; readonly byKey: Map<string, Update> }
  | { readonly op: 'alone'; readonly write: Exclude<TableWrite, { op: 'insert' }> }
);

type Columns = (row: Row) => string;

const columnsOf: Columns = (row) => Object.keys(row).join();
/** With the type of each value: PostgreSQL has to be told what it is handed in rows. */
const typedColumnsOf: Columns = (row) =>
  Object.entries(row)
    .map(([column, value]) => `${column}:${value === null ? 'null' : typeof value}`)
    .join();

/** Updates that touch rows of their own, whatever the others of their shape do. */
const isApart = ({ where, set, add = {}, expect }: Update): boolean =>
  expect === undefined &&
  Object.entries(where).every(([column, value]) => value !== null && !(column in set) && !(column in add));

const shapeOf = ({ where, set, add }: Update, columns: Columns): string =>
  `${columns(where)} ${columns(set)} ${add ? columns(add) : ''}`;

const groupOf = (write: TableWrite, columns: Columns): Group => {
  const { table } = write;
  if (write.op === 'insert')
    return { op: 'insert', table, shape: columnsOf(write.rows[0] ?? {}), rows: [...write.rows] };
  if (write.op === 'delete' || !isApart(write)) return { op: 'alone', table, shape: '', write };
  return { op: 'update', table, shape: shapeOf(write, columns), byKey: new Map([[keyOf(write), write]]) };
};

/** Of two updates of one shape, so that only values differ. */
const keyOf = ({ where }: Update): string => {
  const values = Object.values(where);
  return values.length === 1 ? String(values[0]) : JSON.stringify(values);
};

const merged = (first: Update, second: Update): Update => {
  const add = Object.entries(second.add ?? {}).map(([column, by]) => [column, by + first.add![column]!]);
  return { ...second, ...(second.add && { add: Object.fromEntries(add) as Record<string, number> }) };
};

/** Takes the next one into the group; false, and nothing done, where they are not alike. */
const isAdded = (group: Group | undefined, next: Group): boolean => {
  if (group?.shape !== next.shape) return false;
  if (group.op === 'insert' && next.op === 'insert') {
    group.rows.push(...next.rows);
    return true;
  }
  if (group.op !== 'update' || next.op !== 'update') return false;
  for (const [key, update] of next.byKey) {
    const before = group.byKey.get(key);
    group.byKey.set(key, before ? merged(before, update) : update);
  }
  return true;
};

/** Between writes of one table may stand those of others, which know nothing of each other. */
const grouped = (writes: readonly TableWrite[], columns: Columns): readonly Group[] => {
  const open = new Map<string, Group>();
  return writes.flatMap((write) => {
    const next = groupOf(write, columns);
    if (isAdded(open.get(write.table), next)) return [];
    open.set(write.table, next);
    return [next];
  });
};

interface Template {
  readonly query: CompiledQuery;
  /** For each parameter of the query, its index among the write's values; undefined where it takes them in their order. */
  readonly order: readonly number[] | undefined;
}

type Build = (value: (index: number) => Value) => Query<unknown>;
type Tables = Record<string, Record<string, Value>>;

const ROWS = 'changed';

const assignments = (
  { table, set, add = {} }: Update,
  given: (column: string) => RawBuilder<unknown> | Value,
): Record<string, Value> =>
  Object.fromEntries<unknown>([
    ...Object.keys(set).map((column) => [column, given(column)] as const),
    ...Object.keys(add).map(
      (column) => [column, sql`${sql.ref(`${table}.${column}`)} + ${given(column)}`] as const,
    ),
  ]) as Record<string, Value>;

/** Compiles one statement for each shape of write and binds it for each write: building a query costs more than running it. */
export class TableWriteStatements {
  // Column lists come from projections' code and tables are checked below, so names are not checked against types here.
  readonly #builder: Kysely<Tables>;
  readonly #dialect: SqlDialect;
  readonly #templates = new Map<string, Template>();

  constructor({ builder, dialect }: Pick<SqlDatabase, 'builder' | 'dialect'>) {
    this.#builder = builder as unknown as Kysely<Tables>;
    this.#dialect = dialect;
  }

  /** @throws RangeError for a table of no read model, or rows of one insert that differ in their columns */
  of(writes: readonly TableWrite[]): readonly Statement[] {
    const columns = this.#dialect === 'sqlite' ? columnsOf : typedColumnsOf;
    return grouped(writes, columns).flatMap((group) => this.#group(group));
  }

  #group(group: Group): readonly Statement[] {
    const { table } = group;
    if (!READ_MODEL_NAMES.includes(table) && table !== QUARANTINE_TABLE)
      throw new RangeError(`no table ${table} in this store`);
    if (group.op === 'insert') return this.#insert(table, group.rows);
    if (group.op === 'update') return this.#updates([...group.byKey.values()], group.shape);
    const { write } = group;
    const statement =
      write.op === 'update'
        ? this.#update(write, shapeOf(write, columnsOf))
        : this.#delete(table, write.where);
    return [write.expect === undefined ? statement : { ...statement, expectChanges: write.expect }];
  }

  #insert(table: string, rows: readonly Row[]): readonly Statement[] {
    const columns = Object.keys(rows[0] ?? {});
    for (const row of rows) {
      const fits = Object.keys(row).length === columns.length && columns.every((column) => column in row);
      if (!fits) throw new RangeError(`rows of one insert into ${table} differ in their columns`);
    }
    return chunks(rows).map((chunk) => {
      // A column that none of them names is null as well, and costs nothing to hand over.
      const told = columns.filter((column) => chunk.some((row) => row[column] !== null));
      const values: Value[] = [];
      for (const row of chunk) for (const column of told) values.push(row[column]!);
      return this.#bind(`insert ${table} ${chunk.length} ${told.join()}`, values, (value) => {
        const rowOf = (_: Row, r: number) =>
          Object.fromEntries(told.map((column, c) => [column, value(r * told.length + c)]));
        return this.#inserting(table).values(chunk.map(rowOf));
      });
    });
  }

  /** Whoever carries them out takes all back when one fails, so that SQLite need not keep a copy of each page for that before a statement. */
  #inserting(table: string) {
    const insert = this.#builder.insertInto(table);
    return this.#dialect === 'sqlite' ? insert.orFail() : insert;
  }

  /** SQLite runs each where it stands; to PostgreSQL each is a round trip, so they go as the rows of one. */
  #updates(updates: readonly Update[], shape: string): readonly Statement[] {
    if (this.#dialect === 'sqlite') return updates.map((update) => this.#update(update, shape));
    return chunks(updates).map((chunk) =>
      chunk.length === 1 ? this.#update(chunk[0]!, shape) : this.#together(chunk, shape),
    );
  }

  /** Of one shape and different keys. What all set to null is written out, since null has no type. */
  #together(updates: readonly Update[], shape: string): Statement {
    const [{ table, where, set, add = {} }] = updates as readonly [Update];
    const [setting, adding, keys] = [Object.keys(set), Object.keys(add), Object.keys(where)];
    const brought = [...keys, ...setting.filter((column) => set[column] !== null), ...adding];
    const rows = updates.map((update): Row => ({ ...update.where, ...update.set, ...update.add }));
    const values = rows.flatMap((row) => brought.map((column) => row[column]!));
    return this.#bind(`update ${updates.length} ${table} ${shape}`, values, (value) => {
      const typed = (column: string, index: number): unknown =>
        typeof rows[0]![column] === 'number' ? sql`cast(${value(index)} as bigint)` : value(index);
      const handed = rows.map((_, r) => brought.map((column, c) => typed(column, r * brought.length + c)));
      const given = (column: string) => (set[column] === null ? sql`null` : sql.ref(`${ROWS}.${column}`));
      const keyed = keys.map((column) => [`${table}.${column}`, `${ROWS}.${column}`] as const);
      return this.#builder
        .with(`${ROWS}(${brought.join()})`, () => valuesOf<Row>(handed))
        .updateTable(table)
        .from(ROWS)
        .set(assignments(updates[0]!, given))
        .where(lookedUp(this.#dialect, keyed));
    });
  }

  #update(update: Update, shape: string): Statement {
    const { table, where, set, add = {} } = update;
    const values = [...Object.values(set), ...Object.values(add), ...Object.values(where)];
    return this.#bind(`update ${table} ${shape}`, values, (value) => {
      const [setting, adding, keys] = [Object.keys(set), Object.keys(add), Object.keys(where)];
      const changed = [...setting, ...adding];
      const given = (column: string) => value(changed.indexOf(column));
      return keys.reduce(
        (query, column, i) => query.where(column, '=', value(changed.length + i)),
        this.#builder.updateTable(table).set(assignments(update, given)),
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
      const order = query.parameters.map(Number);
      const isInOrder = order.length === values.length && order.every((index, at) => index === at);
      template = { query, order: isInOrder ? undefined : order };
      this.#templates.set(key, template);
    }
    const { query, order } = template;
    return { query: { ...query, parameters: order ? order.map((index) => values[index]) : values } };
  }
}
