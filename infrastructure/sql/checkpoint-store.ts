import type { CheckpointStore } from '../../application/ports/checkpoint-store.ts';
import type { Clock } from '../../application/ports/clock.ts';
import type { LogPosition } from '../../application/ports/event-store.ts';
import type { SqlDatabase } from './sql-database.ts';

export class SqlCheckpointStore implements CheckpointStore {
  readonly #database: SqlDatabase;
  readonly #clock: Pick<Clock, 'now'>;

  constructor(database: SqlDatabase, clock: Pick<Clock, 'now'>) {
    this.#database = database;
    this.#clock = clock;
  }

  async load(name: string): Promise<LogPosition | 'start'> {
    const query = this.#database.builder.selectFrom('checkpoint').select('position').where('name', '=', name);
    const [row] = await this.#database.read(query);
    return row ? (row.position as LogPosition) : 'start';
  }

  async store(name: string, position: LogPosition): Promise<void> {
    const at = { position, updated_at: this.#clock.now() };
    const query = this.#database.builder
      .insertInto('checkpoint')
      .values({ name, ...at })
      .onConflict((conflict) => conflict.column('name').doUpdateSet(at));
    await this.#database.transaction([{ query: query.compile() }]);
  }
}
