import { sql } from 'kysely';
import type { CompiledQuery, Expression, RawBuilder, SqlBool } from 'kysely';
import type { Query, SqlDialect, Statement } from './sql-database.ts';

type Value = string | number | null;

class Slot {
  readonly row: number;
  readonly name: string;
  constructor(row: number, name: string) {
    this.row = row;
    this.name = name;
  }
}

const slotsOf = (row: number): object =>
  new Proxy(Object.create(null) as object, { get: (_, name) => new Slot(row, String(name)) });

const slots = slotsOf(0);

const LISTED = '';

const bind = <Row>(template: CompiledQuery<Row>, valueOf: (slot: Slot) => Value): CompiledQuery<Row> => ({
  ...template,
  parameters: template.parameters.map((p) => (p instanceof Slot ? valueOf(p) : p)),
});

const bySize = <Row>(build: (size: number) => Query<Row>): ((size: number) => CompiledQuery<Row>) => {
  const templates = new Map<number, CompiledQuery<Row>>();
  return (size) => {
    let template = templates.get(size);
    if (!template) templates.set(size, (template = build(size).compile()));
    return template;
  };
};

/**
 * Compiles once and binds many times. Building a query costs more than running it, and these run thousands of times a second.
 * `build` sees placeholders instead of values, so it must not look into them.
 */
export const prepared = <Parameters extends { readonly [Name in keyof Parameters]: Value }, Row>(
  build: (parameters: Parameters) => Query<Row>,
): ((values: Parameters) => CompiledQuery<Row>) => {
  const template = build(slots as Parameters).compile();
  return (values) => bind(template, ({ name }) => values[name as keyof Parameters]);
};

/** Lists of few different lengths, so that few different statements have to be kept prepared. */
const padded = (values: readonly string[]): readonly string[] => {
  const length = 2 ** Math.ceil(Math.log2(values.length));
  return [...values, ...Array<string>(length - values.length).fill(values[0]!)];
};

/** Prepares a query that names a list, of one value or more: it is compiled for few lengths, so what is bound may repeat the first of the list. */
export const preparedList = <Parameters extends { readonly [Name in keyof Parameters]: Value }, Result>(
  build: (list: readonly string[], parameters: Parameters) => Query<Result>,
): ((list: readonly string[], values: Parameters) => Query<Result>) => {
  const templateOf = bySize((length) => {
    const list = Array.from({ length }, (_, index) => new Slot(index, LISTED) as unknown as string);
    return build(list, slots as Parameters);
  });
  return (list, values) => {
    const listed = padded(list);
    const query = bind(templateOf(listed.length), ({ row, name }) =>
      name === LISTED ? listed[row]! : values[name as keyof Parameters],
    );
    return { compile: () => query };
  };
};

/** Rows of one statement, largest first: every small list is one statement, and the engine sees few different ones of each. */
const SIZES = [64, 32, 16, 8, 7, 6, 5, 4, 3, 2, 1];

export const chunks = <T>(rows: readonly T[]): readonly (readonly T[])[] => {
  const cut: (readonly T[])[] = [];
  for (let at = 0; at < rows.length;) {
    const size = SIZES.find((one) => one <= rows.length - at)!;
    cut.push(rows.slice(at, (at += size)));
  }
  return cut;
};

/** Prepares a query that takes rows together: as few statements as their sizes allow, in the order of the rows. */
export const preparedRows = <Row extends { readonly [Name in keyof Row]: Value }, Result>(
  build: (rows: readonly Row[]) => Query<Result>,
): ((rows: readonly Row[]) => readonly CompiledQuery<Result>[]) => {
  const templateOf = bySize((length) => build(Array.from({ length }, (_, row) => slotsOf(row) as Row)));
  return (rows) =>
    chunks(rows).map((chunk) =>
      bind(templateOf(chunk.length), ({ row, name }) => chunk[row]![name as keyof Row]),
    );
};

/** What a row holds in these columns; the rows of a template answer by name only. */
export const inColumns = <Row, Name extends keyof Row>(row: Row, names: readonly Name[]): Pick<Row, Name> =>
  Object.fromEntries(names.map((name) => [name, row[name]])) as Pick<Row, Name>;

export const asStatements = (queries: readonly CompiledQuery[]): readonly Statement[] =>
  queries.map((query) => ({ query }));

export const valuesOf = <Row>(rows: readonly (readonly unknown[])[]): RawBuilder<Row> =>
  sql<Row>`(values ${sql.join(rows.map((row) => sql`(${sql.join(row)})`))})`;

/**
 * The columns of a key, in its order, have the values of those of a row that the statement brings along. PostgreSQL can then only look
 * each row up, in their order: it neither hashes nor merges arrays, which it takes for as cheap while the table is empty.
 */
export const lookedUp = (
  dialect: SqlDialect,
  columns: readonly (readonly [column: string, value: string])[],
): Expression<SqlBool> =>
  sql.join(
    columns.map(([column, value], index) =>
      dialect === 'postgres' && index === 0
        ? sql`${sql.ref(column)} = any(array[${sql.ref(value)}])`
        : sql`${sql.ref(column)} = ${sql.ref(value)}`,
    ),
    sql` and `,
  );
