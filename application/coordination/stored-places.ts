import type { RealClock } from '../ports/clock.ts';
import type { LogPosition } from '../ports/event-store.ts';
import { compareAndSet, guarded } from '../sql/compare-and-set.ts';
import type { SqlDatabase, Statement } from '../sql/sql-database.ts';

const START = 'start';

export const placeMove = (
  name: string,
  from: LogPosition | 'start',
  to: LogPosition | 'start',
  now: string,
) => ({
  key: { name },
  from: from === START ? undefined : { position: from },
  to: to === START ? undefined : { position: to, updated_at: now },
});

export interface StoredPlace {
  readonly name: string;
  readonly position: LogPosition;
  readonly updatedAt: string;
}

export type CheckpointStore = Pick<SqlCheckpointStore, keyof SqlCheckpointStore>;

export class SqlCheckpointStore {
  readonly #database: SqlDatabase;
  readonly #clock: RealClock;

  constructor(database: SqlDatabase, clock: RealClock) {
    this.#database = database;
    this.#clock = clock;
  }

  async load(name: string): Promise<LogPosition | 'start'> {
    const query = this.#database.builder.selectFrom('checkpoint').select('position').where('name', '=', name);
    const [row] = await this.#database.read(query);
    return row ? (row.position as LogPosition) : START;
  }

  /** False, and nothing stored, when it is not at `from`. A crash may take back the last moves, newest first, each with its effects. */
  move(
    name: string,
    from: LogPosition | 'start',
    to: LogPosition | 'start',
    effects: readonly Statement[] = [],
  ): Promise<boolean> {
    const move = placeMove(name, from, to, this.#clock.realNow());
    const query = compareAndSet(this.#database.builder, 'checkpoint', move).compile();
    // A position is stored after the work it stands for, which is safe to repeat from an older one.
    const durability = to === START ? 'full' : 'relaxed';
    return guarded(this.#database.transaction([{ query, expectChanges: 1 }, ...effects], { durability }));
  }

  /** All of them, for whoever has to set one right, in the order of their names; one that is at the start has none. */
  async list(): Promise<readonly StoredPlace[]> {
    const query = this.#database.builder
      .selectFrom('checkpoint')
      .select(['name', 'position', 'updated_at as updatedAt'])
      .orderBy('name');
    return (await this.#database.read(query)) as readonly StoredPlace[];
  }
}
