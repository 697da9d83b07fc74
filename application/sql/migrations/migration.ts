export type SqlDialect = 'sqlite' | 'postgres';

/** One step of a schema, run once per database in one transaction. What was shipped never changes; a correction is a new step. */
export interface Migration {
  /** Unique over all sets, such as `webhooks-001`: in some engines every set shares one database. */
  readonly id: string;
  statements(dialect: DdlDialect): readonly string[];
}

/** The words in which the engines differ when tables are made; everything else is written the same for each of them. */
export interface DdlDialect {
  /** Compared by code point, whatever the database's own collation. */
  readonly text: string;
  /** 64 bits. */
  readonly integer: string;
  readonly real: string;
  /** End of a table whose rows lie in the order of its key, where the engine can do that. */
  readonly clustered: string;
  /** End of any other table. */
  readonly strict: string;
  /** Stands before `table`: lost in a crash of the server, and waits for no disk. */
  readonly unlogged: string;
  /** End of a clustered table whose pages are filled to this percentage only, where the engine lets rows be updated in place. */
  readonly fill: (percent: number) => string;
  readonly either: <Text>(texts: Readonly<Record<SqlDialect, Text>>) => Text;
}
