import { messageOf } from '../../support/failures.ts';
import { alone, rawQuery } from '../engine.ts';
import { ConstraintError } from '../sql-database.ts';
import type { SqlDatabase } from '../sql-database.ts';
import type { DdlDialect, Migration, SqlDialect } from './migration.ts';
import { CompiledQuery, sql } from 'kysely';
import type { RawBuilder } from 'kysely';

export type { DdlDialect, Migration };

const CLUSTERED = ' strict, without rowid';
export const DDL: Readonly<Record<SqlDialect, DdlDialect>> = {
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

const LEDGER: Readonly<Record<SqlDialect, RawBuilder<object>>> = {
  sqlite: sql`select 1 from sqlite_schema where name = 'schema_migration'`,
  postgres: sql`select 1 where to_regclass('schema_migration') is not null`,
};

export const isUntouched = async (database: SqlDatabase): Promise<boolean> =>
  (await database.read(rawQuery(database, LEDGER[database.dialect]))).length === 0;

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
      // Another process has applied the step first; any other broken constraint is the step's own.
      if (error instanceof ConstraintError && (await isApplied(database, migration.id))) continue;
      const reason = messageOf(error);
      throw new Error(`schema step ${migration.id} failed: ${reason}`, { cause: error });
    }
  }
  return applied;
};
