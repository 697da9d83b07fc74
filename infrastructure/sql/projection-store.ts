import type { Selectable } from 'kysely';
import type { LogPosition } from '../../application/ports/event-store.ts';
import { OutcomeUnknownError, StoreUnavailableError } from '../../application/ports/event-store.ts';
import type { ProjectionStore } from '../../application/ports/projection-store.ts';
import type { Projection, TableWrite } from '../../projections/engine/projection.ts';
import { RefusedWritesError } from '../../projections/engine/projector-ports.ts';
import { alone } from './locks.ts';
import { emptied, switchStatements } from './copy-statements.ts';
import { SqlProjectionCopies } from './projection-copies.ts';
import { GuardFailedError } from './sql-database.ts';
import type { SqlDatabase, Statement } from './sql-database.ts';
import type { CoreTables } from './tables.ts';
import { SLOT_TABLES } from './read-model-slots.ts';
import type { Slot } from './slot.ts';
import { TableWriteStatements } from './table-write-statements.ts';

type StoredCheckpoint = Pick<
  Selectable<CoreTables['projection_checkpoint']>,
  'version' | 'position' | 'slot'
>;

/** The tables of the read models that this program knows. */
export const READ_MODEL_TABLES = SLOT_TABLES.a;

/** What may pass by itself; every other failure of these statements would come again. */
const mayPass = (error: unknown): boolean =>
  error instanceof StoreUnavailableError || error instanceof OutcomeUnknownError;

/** Writes go to the copy of the tables that serves; the checkpoint says which, so nothing is written beside a switch. */
export class SqlProjectionStore implements ProjectionStore {
  readonly #database: SqlDatabase;
  readonly #statements: Readonly<Record<Slot, TableWriteStatements>>;
  readonly #slots = new Map<string, Slot>();

  constructor(database: SqlDatabase) {
    this.#database = database;
    this.#statements = {
      a: new TableWriteStatements(database.builder, SLOT_TABLES.a),
      b: new TableWriteStatements(database.builder, SLOT_TABLES.b),
    };
  }

  /**
   * Rows of an older version of the projection give way to a copy that was built beside them, or are emptied.
   * @throws RefusedWritesError for rows of a newer version
   */
  async checkpoint(projection: Projection): Promise<LogPosition | 'start'> {
    const { name, version } = projection;
    const row = await this.#stored(name);
    this.#slots.set(name, row?.slot ?? 'a');
    if (!row) return 'start';
    if (row.version === version) return row.position as LogPosition;
    if (row.version > version) {
      throw new RefusedWritesError(
        `read model ${name} has version ${row.version}, this program writes ${version}`,
      );
    }
    try {
      if (!(await this.#adoptCopy(projection))) await this.#empty(projection, row.version);
    } catch (error) {
      if (!(error instanceof GuardFailedError)) throw error;
    }
    return this.checkpoint(projection);
  }

  async apply(
    projection: Projection,
    writes: readonly TableWrite[],
    expected: LogPosition | 'start',
    checkpoint: LogPosition,
  ): Promise<boolean> {
    try {
      const { name } = projection;
      const slot = this.#slots.get(name) ?? (await this.#stored(name))?.slot ?? 'a';
      // The checkpoint goes first: who loses the race must not meet rows of the winner.
      const advance = this.#advance(projection, slot, { expected, position: checkpoint });
      const statements = writes.flatMap((write) => this.#statements[slot].of(write));
      // Once there is a checkpoint, its row is what others wait for.
      const lock = expected === 'start' ? this.#lock(projection) : [];
      await this.#database.transaction([...lock, advance, ...statements]);
      return true;
    } catch (error) {
      if (error instanceof GuardFailedError) return false;
      if (mayPass(error)) throw error;
      throw new RefusedWritesError(error instanceof Error ? error.message : String(error), { cause: error });
    }
  }

  async reset(projection: Projection): Promise<void> {
    await this.#empty(projection);
  }

  async #stored(name: string): Promise<StoredCheckpoint | undefined> {
    const [row] = await this.#database.read(
      this.#database.builder
        .selectFrom('projection_checkpoint')
        .select(['version', 'position', 'slot'])
        .where('name', '=', name),
    );
    return row;
  }

  /** False when no finished copy of this version waits. @throws GuardFailedError another process was faster */
  async #adoptCopy({ name, version }: Projection): Promise<boolean> {
    const copies = new SqlProjectionCopies(this.#database);
    const { live, copy } = await copies.places(name);
    if (copy?.state !== 'ready' || copy.version !== version || copy.position === 'start') return false;
    await this.#database.transaction(switchStatements(this.#database.builder, name, { live, copy }));
    return true;
  }

  #advance(
    { name, version }: Projection,
    slot: Slot,
    { expected, position }: { readonly expected: LogPosition | 'start'; readonly position: LogPosition },
  ): Statement {
    const { builder } = this.#database;
    const query =
      expected === 'start'
        ? builder
            .insertInto('projection_checkpoint')
            .values({ name, version, position, slot })
            .onConflict((conflict) => conflict.column('name').doNothing())
        : builder
            .updateTable('projection_checkpoint')
            .set({ position })
            .where('name', '=', name)
            .where('version', '=', version)
            .where('slot', '=', slot)
            .where('position', '=', expected);
    return { query: query.compile(), expectChanges: 1 };
  }

  async #empty(projection: Projection, onlyVersion?: number): Promise<void> {
    const { builder } = this.#database;
    let forget = builder.deleteFrom('projection_checkpoint').where('name', '=', projection.name);
    if (onlyVersion !== undefined) forget = forget.where('version', '=', onlyVersion);
    const guard = onlyVersion === undefined ? {} : { expectChanges: 1 };
    await this.#database.transaction([
      ...this.#lock(projection),
      { query: forget.compile(), ...guard },
      { query: builder.deleteFrom('projection_copy').where('name', '=', projection.name).compile() },
      ...emptied(this.#database, projection, 'a'),
      ...emptied(this.#database, projection, 'b'),
    ]);
    this.#slots.set(projection.name, 'a');
  }

  #lock({ name }: Projection): readonly Statement[] {
    return alone(this.#database, `projection ${name}`);
  }
}
