import type { DdlDialect } from './migrations/migration.ts';

type Kind = 'text' | 'text?' | 'integer' | 'integer?';
type ValueOf<K extends Kind> = {
  readonly text: string;
  readonly 'text?': string | null;
  readonly integer: number;
  readonly 'integer?': number | null;
}[K];

type KindOf<Value> = [Value] extends [string]
  ? 'text'
  : [Value] extends [number]
    ? 'integer'
    : [Value] extends [string | null]
      ? 'text?'
      : 'integer?';
export type ColumnsFor<Row> = { readonly [Column in keyof Row]: KindOf<Row[Column]> };
/** The rows of such tables, which may be made column by column. */
export type RowsOf<Tables extends Readonly<Record<string, Table>>> = {
  readonly [Name in keyof Tables]: {
    -readonly [Column in keyof Tables[Name]['columns']]: ValueOf<Tables[Name]['columns'][Column]>;
  };
};

export interface Table<Columns extends Readonly<Record<string, Kind>> = Readonly<Record<string, Kind>>> {
  readonly columns: Columns;
  /** Of its primary key, in its order; rows lie in this order where the engine can do that. */
  readonly key: readonly string[];
  /** What follows `create index <name> on <table>`, by name. */
  readonly indexes?: Readonly<Record<string, string>>;
  readonly unique?: string;
}

export const table = <const Columns extends Readonly<Record<string, Kind>>>(
  definition: Table<Columns> & { readonly key: readonly (keyof Columns)[] },
): Table<Columns> => definition;

const columnText = (name: string, kind: Kind, dialect: DdlDialect): string =>
  `${name} ${kind.startsWith('text') ? dialect.text : dialect.integer}${kind.endsWith('?') ? '' : ' not null'}`;

export const statementsOf = (
  name: string,
  { columns, key, unique, indexes = {} }: Table,
  dialect: DdlDialect,
) => {
  const lines = Object.entries(columns).map(([column, kind]) => columnText(column, kind, dialect));
  const all = [...lines, `primary key (${key.join(', ')})`, ...(unique ? [`unique (${unique})`] : [])];
  // SQLite keeps the rows of a table with one integer as its key in the order of that key by itself.
  const byNumber = key.length === 1 && columns[key[0]!] === 'integer';
  return [
    `create table ${name} (${all.join(', ')})${byNumber ? dialect.strict : dialect.clustered}`,
    ...Object.entries(indexes).map(([index, on]) => `create index ${index} on ${name} ${on}`),
  ];
};
