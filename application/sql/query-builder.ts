import {
  DummyDriver,
  Kysely,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
} from 'kysely';
import type { Schema } from './schema.ts';
import type { SqlDialect } from './sql-database.ts';

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
