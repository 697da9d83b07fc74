import type { Rewrapped, WrappedText, WrappedTexts } from '../ports/key-store.ts';
import type { SqlDatabase } from '../sql/sql-database.ts';

/** What a signing secret is sealed for. */
export const secretContext = (webhookId: string): string => `webhook-secret:${webhookId}`;

/** Signing secrets of subscriptions, by webhook id. Those of removed ones are gone already. */
export class SqlWebhookSecrets implements WrappedTexts {
  readonly #database: SqlDatabase;

  constructor(database: SqlDatabase) {
    this.#database = database;
  }

  async page(after: string, limit: number): Promise<readonly WrappedText[]> {
    const query = this.#database.builder
      .selectFrom('webhook_subscription')
      .select(['webhook_id as name', 'sealed_secret as wrapped'])
      .where('webhook_id', '>', after)
      .where('sealed_secret', '<>', '')
      .orderBy('webhook_id')
      .limit(limit);
    return this.#database.read(query);
  }

  async rewrap(changes: readonly Rewrapped[]): Promise<number> {
    if (changes.length === 0) return 0;
    const statements = changes.map(({ name, from, to }) => ({
      query: this.#database.builder
        .updateTable('webhook_subscription')
        .set({ sealed_secret: to })
        .where('webhook_id', '=', name)
        .where('sealed_secret', '=', from)
        .compile(),
    }));
    const results = await this.#database.transaction(statements);
    return results.reduce((sum, { changes: changed }) => sum + changed, 0);
  }
}
