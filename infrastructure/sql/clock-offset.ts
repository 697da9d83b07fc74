import type { ClockOffset, RealClock } from '../../application/ports/clock.ts';
import type { SqlDatabase } from './sql-database.ts';

/** The only row. */
const ID = 'sandbox';

/** One row that is compared and set, so that of two moves at once none is lost. */
export class SqlClockOffset implements ClockOffset {
  readonly #database: SqlDatabase;
  readonly #clock: RealClock;

  constructor(database: SqlDatabase, clock: RealClock) {
    this.#database = database;
    this.#clock = clock;
  }

  async read(): Promise<number> {
    const query = this.#database.builder.selectFrom('clock_offset').select('offset_ms').where('id', '=', ID);
    const [row] = await this.#database.read(query);
    return row?.offset_ms ?? 0;
  }

  async replace(from: number, to: number): Promise<boolean> {
    const moved = { offset_ms: to, moved_at: this.#clock.realNow() };
    const { builder } = this.#database;
    const query =
      from === 0
        ? builder
            .insertInto('clock_offset')
            .values({ id: ID, ...moved })
            .onConflict((conflict) => conflict.column('id').doNothing())
        : builder.updateTable('clock_offset').set(moved).where('id', '=', ID).where('offset_ms', '=', from);
    const [result] = await this.#database.transaction([{ query: query.compile() }]);
    return result!.changes === 1;
  }
}
