import { sql } from 'kysely';
import type { OnConflictBuilder } from 'kysely';
import type { RealClock } from '../ports/clock.ts';
import { alone, notAlone, rawQuery } from '../sql/engine.ts';
import { prepared } from '../sql/prepared-query.ts';
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

/** The first text after every text with this prefix, so that an index finds them as one range. */
const afterPrefix = (prefix: string): string =>
  prefix.slice(0, -1) + String.fromCharCode(prefix.charCodeAt(prefix.length - 1) + 1);

const CONDITIONS = 'conditions of wrapped keys';

/** How a wrapped text begins: with the id of the master key that wrapped it. */
const WRAPPED_BY = /^w2\.[0-9a-f]{16}\./;

/** For the transaction that stores a wrapped text in another table: GuardFailedError once another master key has taken over. */
export const whileItsKeyWraps = ({ builder }: SqlDatabase, wrapped: string): readonly Statement[] => {
  const [start] = WRAPPED_BY.exec(wrapped) ?? [];
  const check = builder
    .updateTable('wrapped_key')
    .set((eb) => ({ wrapped: eb.ref('wrapped_key.wrapped') }))
    .where('name', '=', 'master-key:check');
  if (start !== undefined) {
    return [{ query: check.where('wrapped', 'like', `${start}%`).compile(), expectChanges: 1 }];
  }
  // Without the id of a key only before the first rotation; the row is locked before it is looked at.
  return [
    { query: check.compile() },
    { query: check.where('wrapped', 'like', 'w2.%').compile(), expectChanges: 0 },
  ];
};

const TOGETHER = 500;

export const withoutKey = async (
  database: Pick<SqlDatabase, 'builder' | 'read'>,
  streams: readonly string[],
): Promise<readonly string[]> => {
  const missing: string[] = [];
  for (let first = 0; first < streams.length; first += TOGETHER) {
    const some = streams.slice(first, first + TOGETHER);
    const names = some.map((stream) => `operation:${stream}`);
    const query = database.builder.selectFrom('wrapped_key').select('name').where('name', 'in', names);
    const found = new Set((await database.read(query)).map(({ name }) => name));
    missing.push(...some.filter((_, index) => !found.has(names[index]!)));
  }
  return missing;
};

export type KeyStore = Pick<SqlKeyStore, keyof SqlKeyStore>;

/** In one statement: between an insert and a look, another process could delete the key. */
const asItIs = (conflict: OnConflictBuilder<Schema, 'wrapped_key'>) =>
  conflict.column('name').doUpdateSet((eb) => ({ wrapped: eb.ref('wrapped_key.wrapped') }));

const insertWhile = ({ builder }: SqlDatabase) =>
  prepared((p: { name: string; wrapped: string; now: string; of: string; reads: string }) => {
    const row = builder
      .selectFrom('wrapped_key as condition')
      .select((eb) => [
        eb.val(p.name).as('name'),
        eb.val(p.wrapped).as('wrapped'),
        eb.val(p.now).as('created_at'),
      ])
      .where('condition.name', '=', p.of)
      .where('condition.wrapped', '=', p.reads);
    return builder
      .insertInto('wrapped_key')
      .columns(['name', 'wrapped', 'created_at'])
      .expression(row)
      .onConflict(asItIs)
      .returning('wrapped');
  });

/** Keys wrapped by the master key. Durable when a call resolves. */
export class SqlKeyStore extends SqlWrappedTexts {
  readonly #database: SqlDatabase;
  readonly #clock: RealClock;
  readonly #insertWhile: ReturnType<typeof insertWhile>;

  constructor(database: SqlDatabase, clock: RealClock) {
    super(database, { table: 'wrapped_key', name: 'name', wrapped: 'wrapped' });
    this.#database = database;
    this.#clock = clock;
    this.#insertWhile = insertWhile(database);
  }

  /** Stores unless one exists; answers the one that counts. */
  async putIfAbsent(name: string, wrapped: string): Promise<string> {
    const insert = this.#database.builder
      .insertInto('wrapped_key')
      .values({ name, wrapped, created_at: this.#clock.realNow() })
      .onConflict(asItIs)
      .returning('wrapped');
    const [stored] = await this.#database.transaction([{ query: insert.compile() }]);
    return (stored!.rows[0] as { readonly wrapped: string }).wrapped;
  }

  /** The same while another entry still reads so; otherwise nothing is stored or answered. */
  async putIfAbsentWhile(condition: WrappedText, name: string, wrapped: string): Promise<string | undefined> {
    const now = this.#clock.realNow();
    const query = this.#insertWhile({ name, wrapped, now, of: condition.name, reads: condition.wrapped });
    const results = await this.#database.transaction([...notAlone(this.#database, CONDITIONS), { query }]);
    const [stored] = results.at(-1)!.rows as readonly { readonly wrapped: string }[];
    return stored?.wrapped;
  }

  /** Turns a condition over: once it resolves with true, nothing that was put while it read `from` is still on its way. */
  async turn(change: Rewrapped): Promise<boolean> {
    const results = await this.#database.transaction([
      ...alone(this.#database, CONDITIONS),
      this.rewrapping(change),
    ]);
    return results.at(-1)!.changes === 1;
  }

  async get(name: string): Promise<string | undefined> {
    const query = this.#database.builder.selectFrom('wrapped_key').select('wrapped').where('name', '=', name);
    return (await this.#database.read(query))[0]?.wrapped;
  }

  async delete(name: string): Promise<void> {
    const query = this.#database.builder.deleteFrom('wrapped_key').where('name', '=', name);
    await this.#database.transaction([{ query: query.compile() }]);
  }

  async list(prefix: string): Promise<readonly (WrappedText & { readonly createdAt: string })[]> {
    let query = this.#database.builder
      .selectFrom('wrapped_key')
      .select(['name', 'wrapped', 'created_at as createdAt'])
      .orderBy('name');
    if (prefix !== '') query = query.where('name', '>=', prefix).where('name', '<', afterPrefix(prefix));
    return this.#database.read(query);
  }
}
