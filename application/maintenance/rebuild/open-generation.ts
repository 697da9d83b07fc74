import { rawQuery } from '../../sql/engine.ts';
import { sql } from 'kysely';
import { DamagedStoreError } from '../../ports/event-store.ts';
import type { LogPosition } from '../../ports/event-store.ts';
import { messageOf } from '../../support/failures.ts';
import { mayPass } from '../../support/retry.ts';
import type { Projection } from '../../../projections/projection.ts';
import { compareAndSet } from '../../sql/compare-and-set.ts';
import { columnsOf } from '../../sql/read-model-tables.ts';
import type { ReadModelTables } from '../../sql/read-model-tables.ts';
import { SqlProjectionStore } from '../../projecting/projection-store.ts';
import type { SqlDatabase, Statement } from '../../sql/sql-database.ts';

export interface ProjectionPlace {
  readonly version: number;
  readonly position: LogPosition | 'start';
}

export type Places = ReadonlyMap<string, ProjectionPlace>;

export interface StoredPlace {
  readonly name: string;
  readonly version: number;
  readonly position: string;
}

export const placesFrom = (rows: readonly StoredPlace[]): Places =>
  new Map(
    rows.map(({ name, version, position }) => [
      name,
      { version, position: position === '' ? 'start' : (position as LogPosition) },
    ]),
  );

export class Generation implements AsyncDisposable {
  readonly number: number;
  readonly store: SqlProjectionStore;
  readonly database: SqlDatabase;

  constructor(number: number, database: SqlDatabase) {
    this.number = number;
    this.database = database;
    this.store = new SqlProjectionStore(database);
  }

  async places(): Promise<Places> {
    const { builder } = this.database;
    const query = builder.selectFrom('projection_checkpoint').select(['name', 'version', 'position']);
    return placesFrom(await this.database.read(query));
  }

  async rows({ tables }: Projection): Promise<number> {
    const counts = tables.map((table) => sql`(select count(*) from ${sql.table(table)})`);
    const total = sql<{ rows: number }>`select ${sql.join(counts, sql` + `)} as rows`;
    const [row] = await this.database.read(rawQuery(this.database, total));
    return Number(row!.rows);
  }

  /** Whether its tables are as this program makes them, and nothing in them is of another version. */
  async isOf(projections: readonly Projection[]): Promise<boolean> {
    for (const table of projections.flatMap(({ tables }) => tables))
      if (!(await this.#hasColumns(table))) return false;
    const places = await this.places();
    return projections.every(({ name, version }) => (places.get(name)?.version ?? version) === version);
  }

  async #hasColumns(table: string): Promise<boolean> {
    const columns = sql.join(columnsOf(table as keyof ReadModelTables).map((column) => sql.ref(column)));
    try {
      await this.database.read(
        rawQuery(this.database, sql`select ${columns} from ${sql.table(table)} limit 0`),
      );
      return true;
    } catch (error) {
      if (mayPass(error)) throw error;
      return false;
    }
  }

  /** @throws DamagedStoreError a table is gone, or its first page cannot be read */
  async ensureTables(projections: readonly Projection[]): Promise<void> {
    for (const table of projections.flatMap(({ tables }) => tables)) {
      const query = rawQuery(
        this.database,
        sql<{ one: number }>`select 1 as one from ${sql.table(table)} limit 1`,
      );
      try {
        await this.database.read(query);
      } catch (error) {
        if (mayPass(error)) throw error;
        throw new DamagedStoreError(`generation ${this.number} of the read models: ${messageOf(error)}`, {
          cause: error,
        });
      }
    }
  }

  /** Places must be as seen; a projection without one gets one, so that no projector begins it here. */
  succession(successor: number, seen: Places, projections: readonly Projection[]): readonly Statement[] {
    return projections.map(({ name, version }) => {
      const place = seen.get(name);
      const query = compareAndSet(this.database.builder, 'projection_checkpoint', {
        key: { name },
        from: place && { position: place.position === 'start' ? '' : place.position, successor: null },
        to: place ? { successor } : { version, position: '', successor },
      });
      return { query: query.compile(), expectChanges: 1 };
    });
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.database.close();
  }
}
