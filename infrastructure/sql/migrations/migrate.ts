import { messageOf } from '../../../application/support/failures.ts';
import { alone } from '../coordination.ts';
import { ConstraintError } from '../sql-database.ts';
import type { SqlDatabase, SqlDialect } from '../sql-database.ts';
import { CompiledQuery } from 'kysely';

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

const CLUSTERED = ' strict, without rowid';
const DDL: Readonly<Record<SqlDialect, DdlDialect>> = {
  sqlite: {
    text: 'text',
    integer: 'integer',
    real: 'real',
    clustered: CLUSTERED,
    strict: ' strict',
    unlogged: '',
    fill: () => CLUSTERED,
    either: ({ sqlite }) => sqlite,
  },
  postgres: {
    text: 'text collate "C"',
    integer: 'bigint',
    real: 'double precision',
    clustered: '',
    strict: '',
    unlogged: 'unlogged ',
    fill: (percent) => ` with (fillfactor = ${percent})`,
    either: ({ postgres }) => postgres,
  },
};

const CREATE_LEDGER =
  'create table if not exists schema_migration (id text not null primary key, applied_at text not null)';

/** Two processes often start together, and engines do not let two create the same table at once, existing or not. */
const LOCK = 'schema migration';

const isApplied = async (database: SqlDatabase, id: string): Promise<boolean> => {
  const query = database.builder.selectFrom('schema_migration').select('id').where('id', '=', id);
  return (await database.read(query)).length > 0;
};

/** Claims the step and runs it in one transaction, so of two processes that start at once exactly one runs it. */
const apply = async (database: SqlDatabase, migration: Migration, now: string): Promise<void> => {
  const claim = database.builder.insertInto('schema_migration').values({ id: migration.id, applied_at: now });
  const steps = migration.statements(DDL[database.dialect]).map((text) => CompiledQuery.raw(text));
  await database.transaction([
    ...alone(database, LOCK),
    { query: claim.compile() },
    ...steps.map((query) => ({ query })),
  ]);
};

/** Brings a database to the end of the list; answers the ids that this call applied. @throws Error naming the step that failed */
export const migrate = async (
  database: SqlDatabase,
  migrations: readonly Migration[],
  now: string,
): Promise<readonly string[]> => {
  await database.transaction([...alone(database, LOCK), { query: CompiledQuery.raw(CREATE_LEDGER) }]);
  const applied: string[] = [];
  for (const migration of migrations) {
    if (await isApplied(database, migration.id)) continue;
    try {
      await apply(database, migration, now);
      applied.push(migration.id);
    } catch (error) {
      // The other process was faster; any other broken constraint is the step's own.
      if (error instanceof ConstraintError && (await isApplied(database, migration.id))) continue;
      const reason = messageOf(error);
      throw new Error(`schema step ${migration.id} failed: ${reason}`, { cause: error });
    }
  }
  return applied;
};
