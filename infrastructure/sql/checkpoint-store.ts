import type { CheckpointStore } from '../../application/ports/coordination.ts';
import type { RealClock } from '../../application/ports/clock.ts';
import type { LogPosition } from '../../application/ports/event-store.ts';
import type { SqlDatabase } from './sql-database.ts';

export class SqlCheckpointStore implements CheckpointStore {
  readonly #database: SqlDatabase;
  readonly #clock: RealClock;

  constructor(database: SqlDatabase, clock: RealClock) {
    this.#database = database;
    this.#clock = clock;
  }

  async load(name: string): Promise<LogPosition | 'start'> {
    const query = this.#database.builder.selectFrom('checkpoint').select('position').where('name', '=', name);
    const [row] = await this.#database.read(query);
    return row ? (row.position as LogPosition) : 'start';
  }

  async advance(name: string, expected: LogPosition | 'start', position: LogPosition): Promise<boolean> {
    const { builder } = this.#database;
    const at = { position, updated_at: this.#clock.realNow() };
    const query =
      expected === 'start'
        ? builder
            .insertInto('checkpoint')
            .values({ name, ...at })
            .onConflict((conflict) => conflict.column('name').doNothing())
            .compile()
        : builder
            .updateTable('checkpoint')
            .set(at)
            .where('name', '=', name)
            .where('position', '=', expected)
            .compile();
    // Stored after the work it stands for, which is safe to repeat from an older position.
    const [result] = await this.#database.transaction([{ query }], { durability: 'relaxed' });
    return result!.changes === 1;
  }
}
