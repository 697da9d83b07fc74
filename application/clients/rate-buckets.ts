import { sql } from 'kysely';
import type { RawBuilder } from 'kysely';
import { engineNow } from '../sql/engine.ts';
import type { SqlDatabase, SqlDialect } from '../sql/sql-database.ts';

interface BucketDemand {
  readonly key: string;
  /** Capacity, in tokens. */
  readonly burst: number;
  /** Refill, in tokens. */
  readonly perMinute: number;
  readonly asked: number;
}

interface BucketSupply {
  readonly key: string;
  readonly granted: number;
  /** Left after that, fractions included, as of `atMs` by the engine's clock. */
  readonly tokens: number;
  readonly atMs: number;
}

/** Sums of fractions of a token may fall short of a whole one by this much. */
const ROUNDING = 1e-9;
const MS_PER_MINUTE = 60_000;

const LEAST: Readonly<Record<SqlDialect, RawBuilder<unknown>>> = { sqlite: sql`min`, postgres: sql`least` };
const GREATEST: Readonly<Record<SqlDialect, RawBuilder<unknown>>> = {
  sqlite: sql`max`,
  postgres: sql`greatest`,
};

/** Token buckets in one table, so that all processes draw from the same ones, by the engine's clock. */
export class SqlRateBuckets {
  readonly #database: SqlDatabase;

  constructor(database: SqlDatabase) {
    this.#database = database;
  }

  /** One statement for all of them; each key at most once, one answer each, in any order. A bucket that was never drawn from is full. */
  async draw(demands: readonly BucketDemand[]): Promise<readonly BucketSupply[]> {
    // Always in the same order, so that two processes never wait for each other's rows.
    const sorted = [...demands].sort((a, b) => (a.key < b.key ? -1 : 1));
    const query = this.#upsert(sorted).compile(this.#database.builder);
    const [result] = await this.#database.transaction([{ query }], { durability: 'relaxed' });
    return result!.rows as unknown as readonly BucketSupply[];
  }

  /** Forgets the buckets that have filled up again: they are as good as new. */
  async forgetFull(): Promise<number> {
    const now = engineNow[this.#database.dialect];
    const query = sql`
      delete from rate_bucket
      where tokens + (${now} - at_ms) * per_minute / ${sql.lit(MS_PER_MINUTE)} >= burst
    `.compile(this.#database.builder);
    const [result] = await this.#database.transaction([{ query }], { durability: 'relaxed' });
    return result!.changes;
  }

  #upsert(demands: readonly BucketDemand[]): RawBuilder<unknown> {
    const { dialect } = this.#database;
    const [least, greatest, now] = [LEAST[dialect], GREATEST[dialect], engineNow[dialect]];
    const rows = demands.map(({ key, burst, perMinute, asked }) => {
      const granted = Math.min(asked, Math.floor(burst + ROUNDING));
      return sql`(${key}, ${Math.min(burst, burst - granted)}, ${now}, ${burst}, ${perMinute}, ${asked}, ${granted})`;
    });
    // A clock that was set back takes no tokens away.
    const elapsed = sql`${greatest}(0, excluded.at_ms - rate_bucket.at_ms)`;
    const refilled = sql`${least}(excluded.burst,
      rate_bucket.tokens + ${elapsed} * excluded.per_minute / ${sql.lit(MS_PER_MINUTE)})`;
    const granted = sql`${least}(excluded.asked, floor(${refilled} + ${sql.lit(ROUNDING)}))`;
    return sql`
      insert into rate_bucket (key, tokens, at_ms, burst, per_minute, asked, granted)
      values ${sql.join(rows)}
      on conflict (key) do update set
        tokens = ${least}(excluded.burst, ${greatest}(0, ${refilled} - ${granted})),
        at_ms = ${greatest}(excluded.at_ms, rate_bucket.at_ms),
        burst = excluded.burst,
        per_minute = excluded.per_minute,
        asked = excluded.asked,
        granted = ${granted}
      returning key, granted, tokens, at_ms as "atMs"
    `;
  }
}
