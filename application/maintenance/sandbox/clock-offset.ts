import type { RealClock } from '../../ports/clock.ts';
import { changeRow } from '../../sql/compare-and-set.ts';
import type { SqlDatabase } from '../../sql/sql-database.ts';

/** The only row. */
const ID = 'sandbox';

/**
 * How far the business time of a sandbox is ahead of the real time, in milliseconds; one number for all processes: a row that is compared and
 * set, so that of two moves at once none is lost.
 */
export class SqlClockOffset {
  readonly #database: SqlDatabase;
  readonly #clock: RealClock;

  constructor(database: SqlDatabase, clock: RealClock) {
    this.#database = database;
    this.#clock = clock;
  }

  /** 0 before the first move. */
  async read(): Promise<number> {
    const query = this.#database.builder.selectFrom('clock_offset').select('offset_ms').where('id', '=', ID);
    const [row] = await this.#database.read(query);
    return row?.offset_ms ?? 0;
  }

  /** Durable when it resolves to true; false when the offset is not `from` any more, and nothing changed. */
  replace(from: number, to: number): Promise<boolean> {
    return changeRow(this.#database, 'clock_offset', {
      key: { id: ID },
      from: from === 0 ? undefined : { offset_ms: from },
      to: { offset_ms: to, moved_at: this.#clock.realNow() },
    });
  }
}
