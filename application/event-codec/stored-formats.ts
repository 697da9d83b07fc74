import type { SqlDatabase } from '../sql/sql-database.ts';

/** Private texts are sealed, disbursements name the rule of an exit, rejections may follow an approval, secrets are hashed in one step. */
const SEALED_TEXTS = 2;
const FUND_NAMES = 3;
/** What is seen and done at the desk is logged, and funds may ask for two people. */
const DESK = 4;
const LOOK_AGAIN_AFTER_MS = 5_000;

/** In which formats the stores are written: they follow the oldest release that may still be at work on them. A row of the service data. A store that was filled before there was one has none, which stands for the first level. */
export class StoredFormats {
  readonly #database: SqlDatabase;
  readonly #now: () => number;
  #level = 1;
  #lookedAt = -Infinity;

  /** @param now milliseconds of any origin */
  constructor(database: SqlDatabase, now: () => number = () => performance.now()) {
    this.#database = database;
    this.#now = now;
  }

  /** True while processes of release 2026.11.1 may run: nothing is written that they cannot read. */
  async forEarlierRelease(): Promise<boolean> {
    return (await this.#reached(SEALED_TEXTS)) < SEALED_TEXTS;
  }

  async forReleaseWithoutNames(): Promise<boolean> {
    return (await this.#reached(FUND_NAMES)) < FUND_NAMES;
  }

  async forReleaseWithoutDesk(): Promise<boolean> {
    return (await this.#reached(DESK)) < DESK;
  }

  /** The highest level that is written, as it was a moment ago: none is ever left again. */
  async #reached(wanted: number): Promise<number> {
    if (this.#level >= wanted || this.#now() - this.#lookedAt < LOOK_AGAIN_AFTER_MS) return this.#level;
    const rows = await this.#database.read(
      this.#database.builder.selectFrom('stored_format').select('level'),
    );
    this.#level = Math.max(1, ...rows.map(({ level }) => Number(level)));
    this.#lookedAt = this.#now();
    return this.#level;
  }

  /** None of them runs any more, and none will. For good. */
  async leaveEarlierRelease(): Promise<void> {
    const insert = this.#database.builder
      .insertInto('stored_format')
      .values({ level: DESK })
      .onConflict((conflict) => conflict.column('level').doNothing());
    await this.#database.transaction([{ query: insert.compile() }]);
    this.#level = DESK;
  }
}

/** What only this release reads would be stored, while others may still run. */
export class EarlierReleaseError extends Error {
  override readonly name = 'EarlierReleaseError';
}
