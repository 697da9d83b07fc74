import { rawQuery } from '../sql/engine.ts';
import { sql } from 'kysely';
import type { Schema } from '../sql/schema.ts';
import type { SqlDatabase, Statement } from '../sql/sql-database.ts';

type Place = {
  readonly [Table in keyof Schema]: {
    readonly table: Table;
    readonly name: keyof Schema[Table] & string;
    readonly wrapped: keyof Schema[Table] & string;
  };
}[keyof Schema];

export interface WrappedText {
  readonly name: string;
  readonly wrapped: string;
}

/** A text that is wrapped anew: nothing happens unless it still reads `from`. */
export interface Rewrapped {
  readonly name: string;
  readonly from: string;
  readonly to: string;
}

export type WrappedTexts = Pick<SqlWrappedTexts, keyof SqlWrappedTexts>;

/** One column of texts that keys wrap, so that they can be wrapped by another key. An empty text is none. Durable when a call resolves. */
export class SqlWrappedTexts {
  readonly #database: SqlDatabase;
  readonly #place: Place;

  constructor(database: SqlDatabase, place: Place) {
    this.#database = database;
    this.#place = place;
  }

  /** In the order of names, after this one; `''` is before the first. */
  async page(after: string, limit: number): Promise<readonly WrappedText[]> {
    const { table, name, wrapped } = this.#columns();
    const query = sql<WrappedText>`select ${name} as name, ${wrapped} as wrapped from ${table}
      where ${name} > ${after} and ${wrapped} <> '' order by ${name} limit ${limit}`;
    return this.#database.read(rawQuery(this.#database, query));
  }

  /** Answers how many still read `from`. A text that was deleted meanwhile stays deleted. */
  async rewrap(changes: readonly Rewrapped[]): Promise<number> {
    if (changes.length === 0) return 0;
    const results = await this.#database.transaction(changes.map((change) => this.rewrapping(change)));
    return results.reduce((sum, result) => sum + result.changes, 0);
  }

  protected rewrapping({ name: of, from, to }: Rewrapped): Statement {
    const { table, name, wrapped } = this.#columns();
    const query = sql`update ${table} set ${wrapped} = ${to} where ${name} = ${of} and ${wrapped} = ${from}`;
    return { query: query.compile(this.#database.builder) };
  }

  #columns() {
    const { table, name, wrapped } = this.#place;
    return { table: sql.table(table), name: sql.ref(name), wrapped: sql.ref(wrapped) };
  }
}
