import {
  CompiledQuery,
  sql,
  DummyDriver,
  Kysely,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
} from 'kysely';
import type { RawBuilder } from 'kysely';
import type { Query, SqlDatabase, SqlDialect, Statement } from './sql-database.ts';
import type { Schema } from './schema.ts';

type Engine = Pick<SqlDatabase, 'dialect'>;

const EXCLUSIVE = 'select pg_advisory_xact_lock(hashtextextended($1, 0))';
const SHARED = 'select pg_advisory_xact_lock_shared(hashtextextended($1, 0))';

/** SQLite has one writer at a time, so there is nothing to wait for. */
const lock = ({ dialect }: Engine, text: string, name: string): readonly Statement[] =>
  dialect === 'sqlite' ? [] : [{ query: CompiledQuery.raw(text, [name]) }];

/** Until its transaction ends, no other holds this name. What the next statements read is what the one before has left. */
export const alone = (engine: Engine, name: string): readonly Statement[] => lock(engine, EXCLUSIVE, name);

const BRIEF_MS = 50;

/** What follows in the transaction waits for locks only so long. What is refused then is repeated a few times, as a whole. */
export const briefly = ({ dialect }: Engine): readonly Statement[] =>
  dialect === 'sqlite'
    ? []
    : [{ query: CompiledQuery.raw(`select set_config('lock_timeout', '${BRIEF_MS}', true)`) }];

/** Any number hold the name like this at a time, but none while another holds it `alone`. */
export const notAlone = (engine: Engine, name: string): readonly Statement[] => lock(engine, SHARED, name);

export const rawQuery = <Row>(
  { builder }: Pick<SqlDatabase, 'builder'>,
  text: RawBuilder<Row>,
): Query<Row> => ({ compile: () => text.compile(builder) });

/** Texts as rows with one column, `value`: one bound value, however many they are. */
export const textRows = ({ dialect }: Engine, texts: readonly string[]): RawBuilder<{ value: string }> => {
  const list = JSON.stringify(texts);
  return dialect === 'sqlite'
    ? sql`json_each(${list})`
    : sql`json_array_elements_text(cast(${list} as json))`;
};

/** The engine's own clock, in milliseconds since 1970: the same for every process that asks it. */
export const engineNow: Readonly<Record<SqlDialect, RawBuilder<number>>> = {
  sqlite: sql<number>`cast(unixepoch('subsec') * 1000 as integer)`,
  // Unlike now(), it goes on while a transaction waits for a row.
  postgres: sql<number>`cast(floor(extract(epoch from clock_timestamp()) * 1000) as bigint)`,
};

/** UNIX milliseconds by the engine's clock. */
export const engineTime = async (database: SqlDatabase): Promise<number> => {
  const query = database.builder.selectNoFrom(engineNow[database.dialect].as('now'));
  const [row] = await database.read(query);
  return Number(row!.now);
};

/** Refuses to run a query: the dummy driver would silently answer no rows. */
class BuildingOnly extends DummyDriver {
  override acquireConnection(): Promise<never> {
    return Promise.reject(new Error('this builder only compiles: hand the query to SqlDatabase'));
  }
}

const DIALECTS = {
  sqlite: [SqliteAdapter, SqliteIntrospector, SqliteQueryCompiler],
  postgres: [PostgresAdapter, PostgresIntrospector, PostgresQueryCompiler],
} as const;

export const queryBuilder = (dialect: SqlDialect): Kysely<Schema> => {
  const [Adapter, Introspector, QueryCompiler] = DIALECTS[dialect];
  return new Kysely<Schema>({
    dialect: {
      createAdapter: () => new Adapter(),
      createDriver: () => new BuildingOnly(),
      createIntrospector: (builder) => new Introspector(builder),
      createQueryCompiler: () => new QueryCompiler(),
    },
  });
};
