import { sql } from 'kysely';
import type { LogPosition } from '../../application/ports/event-store.ts';
import type {
  CopyState,
  ProjectionCopies,
  ProjectionPlaces,
  RowComparison,
  RowDifference,
} from '../../application/ports/projection-copies.ts';
import type { Projection, TableWrite } from '../../projections/engine/projection.ts';
import { compareTable, rowDifference } from './copy-comparison.ts';
import { START, emptied, place, stored, switchStatements } from './copy-statements.ts';
import type { SlotPlaces } from './copy-statements.ts';
import { alone } from './locks.ts';
import { SLOT_TABLES, otherSlot, physicalName } from './read-model-slots.ts';
import type { Slot } from './slot.ts';
import { GuardFailedError } from './sql-database.ts';
import type { SqlDatabase, Statement } from './sql-database.ts';
import { TableWriteStatements } from './table-write-statements.ts';

const guarded = async (work: () => Promise<unknown>): Promise<boolean> => {
  try {
    await work();
    return true;
  } catch (error) {
    if (error instanceof GuardFailedError) return false;
    throw error;
  }
};

export class SqlProjectionCopies implements ProjectionCopies {
  readonly #database: SqlDatabase;
  readonly #statements: Readonly<Record<Slot, TableWriteStatements>>;

  /** @param database the tables themselves, not as readers see them */
  constructor(database: SqlDatabase) {
    this.#database = database;
    this.#statements = {
      a: new TableWriteStatements(database.builder, SLOT_TABLES.a),
      b: new TableWriteStatements(database.builder, SLOT_TABLES.b),
    };
  }

  async places(name: string): Promise<SlotPlaces> {
    return this.#placesFrom(await this.#database.snapshot(this.#placeQueries(name)));
  }

  async rows(projection: Projection): Promise<{ readonly live: number; readonly copy: number }> {
    const { live } = await this.places(projection.name);
    const slot = live?.slot ?? 'a';
    const count = async (of: Slot): Promise<number> => {
      const counts = projection.tables.map(
        (table) => sql`(select count(*) from ${sql.table(physicalName(table, of))})`,
      );
      const total = sql<{ rows: number }>`select ${sql.join(counts, sql` + `)} as rows`;
      const [row] = await this.#database.read({ compile: () => total.compile(this.#database.builder) });
      return Number(row!.rows);
    };
    return { live: await count(slot), copy: await count(otherSlot(slot)) };
  }

  async begin(projection: Projection): Promise<boolean> {
    const { builder } = this.#database;
    const { name, version } = projection;
    const { live, copy } = await this.places(name);
    const slot = otherSlot(live?.slot ?? 'a');
    const forget = builder
      .deleteFrom('projection_copy')
      .where('name', '=', name)
      .where('position', '=', stored(copy?.position ?? 'start'));
    const create = builder
      .insertInto('projection_copy')
      .values({ name, slot, version, position: START, state: 'building' })
      .onConflict((conflict) => conflict.column('name').doNothing());
    return guarded(() =>
      this.#database.transaction([
        ...alone(this.#database, `projection ${name}`),
        { query: forget.compile(), expectChanges: copy ? 1 : 0 },
        this.#stillServes(name, live?.slot),
        { query: create.compile(), expectChanges: 1 },
        ...emptied(this.#database, projection, slot),
      ]),
    );
  }

  async apply(
    projection: Projection,
    writes: readonly TableWrite[],
    expected: LogPosition | 'start',
    checkpoint: LogPosition,
  ): Promise<boolean> {
    const { name, version } = projection;
    const { copy } = await this.places(name);
    if (!copy || copy.state === 'old') return false;
    const advance = this.#database.builder
      .updateTable('projection_copy')
      .set({ position: checkpoint })
      .where('name', '=', name)
      .where('version', '=', version)
      .where('slot', '=', copy.slot)
      .where('state', '!=', 'old')
      .where('position', '=', stored(expected));
    const statements = writes.flatMap((write) => this.#statements[copy.slot].of(write));
    return guarded(() =>
      this.#database.transaction([{ query: advance.compile(), expectChanges: 1 }, ...statements], {
        durability: 'relaxed',
      }),
    );
  }

  async *compare(projection: Projection): AsyncGenerator<readonly RowDifference[]> {
    const { live } = await this.places(projection.name);
    for (const table of projection.tables) yield* compareTable(this.#database, table, live?.slot ?? 'a');
  }

  async compareRow(name: string, row: RowDifference): Promise<RowComparison> {
    const { live } = await this.places(name);
    const slot = live?.slot ?? 'a';
    const looked = rowDifference(this.#database.builder, row, slot);
    const [lives, copies, liveRows, copyRows] = await this.#database.snapshot([
      ...this.#placeQueries(name),
      ...looked.queries,
    ]);
    const places = this.#placesFrom([lives, copies]);
    // The other copy serves since a moment ago, so these rows are no longer what they are called.
    if ((places.live?.slot ?? 'a') !== slot) return this.compareRow(name, row);
    return { places, difference: looked.differenceOf(liveRows, copyRows) };
  }

  async markReady(name: string, position: LogPosition): Promise<boolean> {
    const ready = this.#database.builder
      .updateTable('projection_copy')
      .set({ state: 'ready' })
      .where('name', '=', name)
      .where('state', '!=', 'old')
      .where('position', '=', position);
    return guarded(() => this.#database.transaction([{ query: ready.compile(), expectChanges: 1 }]));
  }

  async switchOver(name: string, seen: ProjectionPlaces): Promise<boolean> {
    const now = await this.places(name);
    if (now.live?.position !== seen.live?.position || now.copy?.position !== seen.copy?.position)
      return false;
    return guarded(() => this.#database.transaction(switchStatements(this.#database.builder, name, now)));
  }

  async drop(projection: Projection): Promise<boolean> {
    const { name } = projection;
    const { copy } = await this.places(name);
    if (!copy) return false;
    const forget = this.#database.builder
      .deleteFrom('projection_copy')
      .where('name', '=', name)
      .where('slot', '=', copy.slot);
    return guarded(() =>
      this.#database.transaction([
        ...alone(this.#database, `projection ${name}`),
        { query: forget.compile(), expectChanges: 1 },
        ...emptied(this.#database, projection, copy.slot),
      ]),
    );
  }

  /** Locks the row that says so, and refuses when it says something else by now. */
  #stillServes(name: string, slot: Slot | undefined): Statement {
    const same = this.#database.builder
      .updateTable('projection_checkpoint')
      .set((columns) => ({ version: columns.ref('version') }))
      .where('name', '=', name);
    const query = slot === undefined ? same : same.where('slot', '=', slot);
    return { query: query.compile(), expectChanges: slot === undefined ? 0 : 1 };
  }

  #placeQueries(name: string) {
    const { builder } = this.#database;
    return [
      builder
        .selectFrom('projection_checkpoint')
        .select(['version', 'position', 'slot'])
        .where('name', '=', name),
      builder
        .selectFrom('projection_copy')
        .select(['version', 'position', 'slot', 'state'])
        .where('name', '=', name),
    ] as const;
  }

  #placesFrom([lives, copies]: readonly [
    readonly { version: number; position: string; slot: Slot }[],
    readonly { version: number; position: string; slot: Slot; state: CopyState }[],
  ]): SlotPlaces {
    const [live, copy] = [lives[0], copies[0]];
    return {
      live: live && { ...live, position: place(live.position) },
      copy: copy && { ...copy, position: place(copy.position) },
    };
  }
}
