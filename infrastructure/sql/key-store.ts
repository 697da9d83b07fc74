import type { Clock } from '../../application/ports/clock.ts';
import type { KeyStore } from '../../application/ports/key-store.ts';
import type { SqlDatabase } from './sql-database.ts';

/** The first text after every text with this prefix, so that an index finds them as one range. */
const afterPrefix = (prefix: string): string =>
  prefix.slice(0, -1) + String.fromCharCode(prefix.charCodeAt(prefix.length - 1) + 1);

export class SqlKeyStore implements KeyStore {
  readonly #database: SqlDatabase;
  readonly #clock: Pick<Clock, 'now'>;

  constructor(database: SqlDatabase, clock: Pick<Clock, 'now'>) {
    this.#database = database;
    this.#clock = clock;
  }

  async putIfAbsent(name: string, wrapped: string): Promise<string> {
    const insert = this.#database.builder
      .insertInto('wrapped_key')
      .values({ name, wrapped, created_at: this.#clock.now() })
      // In one statement: between an insert and a look, another process could delete the key.
      .onConflict((conflict) =>
        conflict.column('name').doUpdateSet((eb) => ({ wrapped: eb.ref('wrapped_key.wrapped') })),
      )
      .returning('wrapped');
    const [stored] = await this.#database.transaction([{ query: insert.compile() }]);
    return (stored!.rows[0] as { readonly wrapped: string }).wrapped;
  }

  async get(name: string): Promise<string | undefined> {
    const [row] = await this.#database.read(this.#wrapped(name));
    return row?.wrapped;
  }

  async delete(name: string): Promise<void> {
    const query = this.#database.builder.deleteFrom('wrapped_key').where('name', '=', name);
    await this.#database.transaction([{ query: query.compile() }]);
  }

  async list(prefix: string): ReturnType<KeyStore['list']> {
    let query = this.#database.builder
      .selectFrom('wrapped_key')
      .select(['name', 'wrapped', 'created_at as createdAt'])
      .orderBy('name');
    if (prefix !== '') query = query.where('name', '>=', prefix).where('name', '<', afterPrefix(prefix));
    return this.#database.read(query);
  }

  #wrapped(name: string) {
    return this.#database.builder.selectFrom('wrapped_key').select('wrapped').where('name', '=', name);
  }
}
