import type { Rewrapped, WrappedText, WrappedTexts } from '../ports/key-store.ts';
import type { SqlDatabase } from '../sql/sql-database.ts';

/** What the tokens of a session are sealed for. */
export const tokensContext = (sessionId: string): string => `desk-session:${sessionId}`;

/** What sessions keep of the provider, by the id of the session. */
export class SqlSessionTokens implements WrappedTexts {
  readonly #database: SqlDatabase;

  constructor(database: SqlDatabase) {
    this.#database = database;
  }

  async page(after: string, limit: number): Promise<readonly WrappedText[]> {
    const query = this.#database.builder
      .selectFrom('desk_session')
      .select(['id as name', 'sealed_tokens as wrapped'])
      .where('id', '>', after)
      .orderBy('id')
      .limit(limit);
    return this.#database.read(query);
  }

  async rewrap(changes: readonly Rewrapped[]): Promise<number> {
    if (changes.length === 0) return 0;
    const statements = changes.map(({ name, from, to }) => ({
      query: this.#database.builder
        .updateTable('desk_session')
        .set({ sealed_tokens: to })
        .where('id', '=', name)
        .where('sealed_tokens', '=', from)
        .compile(),
    }));
    const results = await this.#database.transaction(statements);
    return results.reduce((sum, { changes: changed }) => sum + changed, 0);
  }
}
