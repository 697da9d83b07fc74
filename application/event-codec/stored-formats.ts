import type { SqlDatabase } from '../sql/sql-database.ts';

/** 2: private texts are sealed, disbursements name the rule of an exit, rejections may follow an approval, secrets are hashed in one step. */
const LEVEL = 2;
/** Another process may have been told meanwhile. */
const LOOK_AGAIN_AFTER_MS = 5_000;

/** In which formats the stores are written: they follow the oldest release that may still be at work on them. A row of the service data. A store that was filled before there was one has none, which stands for the first level. */
export class StoredFormats {
  readonly #database: SqlDatabase;
  readonly #now: () => number;
  #earlier = true;
  #lookedAt = -Infinity;

  /** @param now milliseconds of any origin */
  constructor(database: SqlDatabase, now: () => number = () => performance.now()) {
    this.#database = database;
    this.#now = now;
  }

  /**
   * True while processes of release 2026.11.1 may run beside this one: until they have ended, nothing is written that they cannot
   * read, or would read as something else.
   */
  async forEarlierRelease(): Promise<boolean> {
    if (!this.#earlier || this.#now() - this.#lookedAt < LOOK_AGAIN_AFTER_MS) return this.#earlier;
    const rows = await this.#database.read(
      this.#database.builder.selectFrom('stored_format').select('level'),
    );
    this.#earlier = !rows.some(({ level }) => Number(level) >= LEVEL);
    this.#lookedAt = this.#now();
    return this.#earlier;
  }

  /** None of them runs any more, and none will. For good. */
  async leaveEarlierRelease(): Promise<void> {
    const insert = this.#database.builder
      .insertInto('stored_format')
      .values({ level: LEVEL })
      .onConflict((conflict) => conflict.column('level').doNothing());
    await this.#database.transaction([{ query: insert.compile() }]);
    this.#earlier = false;
  }
}
