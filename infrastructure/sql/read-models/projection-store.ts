import { sql } from 'kysely';
import { OutcomeUnknownError, StoreUnavailableError } from '../../../application/ports/event-store.ts';
import type { LogPosition } from '../../../application/ports/event-store.ts';
import { RefusedWritesError } from '../../../application/ports/read-models.ts';
import type { ProjectionStore, QuarantinedStream } from '../../../application/ports/read-models.ts';
import { messageOf } from '../../../application/support/failures.ts';
import type { Projection, TableWrite } from '../../../projections/projection.ts';
import { alone } from '../coordination.ts';
import { GuardFailedError } from '../sql-database.ts';
import type { SqlDatabase, Statement } from '../sql-database.ts';
import { TableWriteStatements } from './table-writes.ts';

/** What may pass by itself; every other failure of these statements would come again. */
const mayPass = (error: unknown): boolean =>
  error instanceof StoreUnavailableError || error instanceof OutcomeUnknownError;

/** Writes into one generation, or into the one that serves; a generation that another has succeeded refuses each of them. */
export class SqlProjectionStore implements ProjectionStore {
  readonly #database: SqlDatabase;
  readonly #statements: TableWriteStatements;

  constructor(database: SqlDatabase) {
    this.#database = database;
    this.#statements = new TableWriteStatements(database);
  }

  /**
   * Rows of an older version of the projection are emptied.
   * @throws RefusedWritesError for rows of a newer version
   */
  async checkpoint(projection: Projection): Promise<LogPosition | 'start'> {
    const { name, version } = projection;
    const [row] = await this.#database.read(
      this.#database.builder
        .selectFrom('projection_checkpoint')
        .select(['version', 'position'])
        .where('name', '=', name),
    );
    if (!row) return 'start';
    if (row.version === version) return row.position as LogPosition;
    if (row.version > version) {
      throw new RefusedWritesError(
        `read model ${name} has version ${row.version}, this program writes ${version}`,
      );
    }
    try {
      await this.#empty(projection, row.version);
    } catch (error) {
      if (!(error instanceof GuardFailedError)) throw error;
    }
    return this.checkpoint(projection);
  }

  async quarantined({ name }: Projection): Promise<readonly QuarantinedStream[]> {
    const query = this.#database.builder
      .selectFrom('quarantined_operation')
      .select(['stream', 'revision', 'event_type', 'reason', 'position'])
      .where('projection', '=', name)
      .orderBy('stream');
    const rows = await this.#database.read(query);
    return rows.map(({ stream, revision, event_type: eventType, reason, position }) => ({
      stream,
      revision: BigInt(revision),
      eventType,
      reason,
      position: position as LogPosition,
    }));
  }

  async apply(
    projection: Projection,
    writes: readonly TableWrite[],
    expected: LogPosition | 'start',
    checkpoint: LogPosition,
  ): Promise<boolean> {
    try {
      // The checkpoint goes first: who loses the race must not meet rows of the winner.
      const advance = this.#advance(projection, expected, checkpoint);
      const statements = this.#statements.of(writes);
      // Once there is a checkpoint, its row is what others wait for.
      const lock = expected === 'start' ? this.#lock(projection) : [];
      await this.#database.transaction([...lock, advance, ...statements], { lookUps: true });
      return true;
    } catch (error) {
      if (error instanceof GuardFailedError) return false;
      if (mayPass(error)) throw error;
      throw new RefusedWritesError(messageOf(error), { cause: error });
    }
  }

  async reset(projection: Projection): Promise<void> {
    await this.#empty(projection);
  }

  #advance({ name, version }: Projection, expected: LogPosition | 'start', position: LogPosition): Statement {
    const { builder } = this.#database;
    const query =
      expected === 'start'
        ? builder
            .insertInto('projection_checkpoint')
            .values({ name, version, position })
            .onConflict((conflict) => conflict.column('name').doNothing())
        : builder
            .updateTable('projection_checkpoint')
            .set({ position })
            .where('name', '=', name)
            .where('version', '=', version)
            .where('position', '=', expected)
            .where('successor', 'is', null);
    return { query: query.compile(), expectChanges: 1 };
  }

  async #empty(projection: Projection, onlyVersion?: number): Promise<void> {
    const { builder } = this.#database;
    let forget = builder
      .deleteFrom('projection_checkpoint')
      .where('name', '=', projection.name)
      .where('successor', 'is', null);
    if (onlyVersion !== undefined) forget = forget.where('version', '=', onlyVersion);
    const free = builder.deleteFrom('quarantined_operation').where('projection', '=', projection.name);
    const guard = onlyVersion === undefined ? {} : { expectChanges: 1 };
    await this.#database.transaction([
      ...this.#lock(projection),
      { query: forget.compile(), ...guard },
      { query: free.compile() },
      ...this.#emptied(projection),
    ]);
  }

  /** PostgreSQL deletes row by row, for longer than a statement may take; SQLite drops the pages of a table. */
  #emptied({ tables }: Projection): readonly Statement[] {
    const { builder, dialect } = this.#database;
    if (tables.length === 0) return [];
    const names = tables.map((table) => sql.table(table));
    if (dialect === 'sqlite')
      return names.map((name) => ({ query: sql`delete from ${name}`.compile(builder) }));
    return [{ query: sql`truncate ${sql.join(names)}`.compile(builder) }];
  }

  #lock({ name }: Projection): readonly Statement[] {
    return alone(this.#database, `projection ${name}`);
  }
}
