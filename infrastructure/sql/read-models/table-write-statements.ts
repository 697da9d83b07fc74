import { sql } from 'kysely';
import type { CompiledQuery, Kysely } from 'kysely';
import type { Row, TableWrite, Value } from '../../../projections/projection.ts';
import { QUARANTINE_TABLE } from '../../../application/projecting/quarantine.ts';
import { READ_MODEL_NAMES } from '../schema.ts';
import type { Schema } from '../schema.ts';
import type { Query, Statement } from '../sql-database.ts';

interface Template {
  readonly query: CompiledQuery;
  /** For each parameter of the query, its index among the write's values. */
  readonly order: readonly number[];
}

/** Larger inserts are cut into powers of two, so that the engine sees few different statements. */
const LARGEST_INSERT = 64;

const chunks = <T>(rows: readonly T[]): readonly (readonly T[])[] => {
  const cut: (readonly T[])[] = [];
  for (let at = 0, size = LARGEST_INSERT; at < rows.length;) {
    if (size > rows.length - at) size /= 2;
    else cut.push(rows.slice(at, (at += size)));
  }
  return cut;
};

const expecting = (statement: Statement, changes: number | undefined): Statement =>
  changes === undefined ? statement : { ...statement, expectChanges: changes };

type Build = (value: (index: number) => Value) => Query<unknown>;

/** Compiles one statement for each shape of write and binds it for each write: building a query costs more than running it. */
export class TableWriteStatements {
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
