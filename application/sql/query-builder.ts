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

/** Refuses to run a query: the dummy driver would silently answer no rows. */
class BuildingOnly extends DummyDriver {
  override acquireConnection(): Promise<never> {
    return Promise.reject(new Error('this builder only compiles: hand the query to SqlDatabase'));
  }
}

export const sqliteQueryBuilder = (): Kysely<Schema> =>
  new Kysely<Schema>({
    dialect: {
      createAdapter: () => new SqliteAdapter(),
      createDriver: () => new BuildingOnly(),
      createIntrospector: (builder) => new SqliteIntrospector(builder),
      createQueryCompiler: () => new SqliteQueryCompiler(),
    },
  });

export const postgresQueryBuilder = (): Kysely<Schema> =>
  new Kysely<Schema>({
    dialect: {
      createAdapter: () => new PostgresAdapter(),
      createDriver: () => new BuildingOnly(),
      createIntrospector: (builder) => new PostgresIntrospector(builder),
      createQueryCompiler: () => new PostgresQueryCompiler(),
    },
  });
