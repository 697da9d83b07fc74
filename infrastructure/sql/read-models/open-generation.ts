import { sql } from 'kysely';
import type { LogPosition } from '../../../application/ports/event-store.ts';
import type {
  Generation,
  Pair,
  Places,
  RowComparison,
  RowDifference,
} from '../../../application/ports/read-models.ts';
import type { Projection } from '../../../projections/projection.ts';
import { SqlProjectionStore } from './projection-store.ts';
import type { Query, SqlDatabase, Statement } from '../sql-database.ts';
import { compareTable, rowDifference } from './table-comparison.ts';
import type { Schemas } from './table-comparison.ts';

interface StoredPlace {
  readonly name: string;
  readonly version: number;
  readonly position: string;
}

const placesFrom = (rows: readonly StoredPlace[]): Places =>
  new Map(
    rows.map(({ name, version, position }) => [
      name,
      { version, position: position === '' ? 'start' : (position as LogPosition) },
    ]),
  );

const raw = <Row>({ builder }: SqlDatabase, text: ReturnType<typeof sql<Row>>): Query<Row> => ({
  compile: () => text.compile(builder),
});

/** The tables of one generation. */
export class OpenGeneration implements Generation {
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
    const [row] = await this.database.read(raw(this.database, total));
    return Number(row!.rows);
  }

  /**
   * Names the generation that serves instead, where every writer has to pass and every reader looks. The places must still be those
   * that were seen; a projection without a place gets one, so that no projector begins it here.
   */
  succession(successor: number, seen: Places, projections: readonly Projection[]): readonly Statement[] {
    const { builder } = this.database;
    return projections.map(({ name, version }) => {
      const place = seen.get(name);
      const query = place
        ? builder
            .updateTable('projection_checkpoint')
            .set({ successor })
            .where('name', '=', name)
            .where('position', '=', place.position === 'start' ? '' : place.position)
            .where('successor', 'is', null)
        : builder
            .insertInto('projection_checkpoint')
            .values({ name, version, position: '', successor })
            .onConflict((conflict) => conflict.column('name').doNothing());
      return { query: query.compile(), expectChanges: 1 };
    });
  }

  close(): Promise<void> {
    return this.database.close();
  }
}

/** The tables of two generations, on connections that reach both. */
export class OpenPair implements Pair {
  readonly #database: SqlDatabase;
  readonly #schemas: Schemas;

  constructor(database: SqlDatabase, schemas: Schemas) {
    this.#database = database;
    this.#schemas = schemas;
  }

  async *compare({ tables }: Projection): AsyncGenerator<readonly RowDifference[]> {
    for (const table of tables) yield* compareTable(this.#database, table, this.#schemas);
  }

  async compareRow({ name }: Projection, row: RowDifference): Promise<RowComparison> {
    const { queries, differenceOf } = rowDifference(this.#database.builder, row, this.#schemas);
    const [lives, copies, liveRows, copyRows] = await this.#database.snapshot([
      this.#placeIn(this.#schemas.live, name),
      this.#placeIn(this.#schemas.copy, name),
      ...queries,
    ]);
    const [live, copy] = [placesFrom(lives).get(name), placesFrom(copies).get(name)];
    return { live, copy, difference: differenceOf(liveRows, copyRows) };
  }

  close(): Promise<void> {
    return this.#database.close();
  }

  #placeIn(schema: string, name: string): Query<StoredPlace> {
    const table = sql.table(`${schema}.projection_checkpoint`);
    return raw(
      this.#database,
      sql<StoredPlace>`select name, version, position from ${table} where name = ${name}`,
    );
  }
}
