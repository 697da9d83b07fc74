import type { HeldBack, RelayQuarantine } from '../../application/ports/event-bus.ts';
import type { SqlDatabase } from './sql-database.ts';

export class SqlRelayQuarantine implements RelayQuarantine {
  readonly #database: SqlDatabase;

  constructor(database: SqlDatabase) {
    this.#database = database;
  }

  async list(): Promise<readonly (HeldBack & { readonly released: boolean })[]> {
    const query = this.#database.builder.selectFrom('relay_quarantine').selectAll().orderBy('stream');
    const rows = await this.#database.read(query);
    return rows.map((row) => ({
      stream: row.stream,
      revision: BigInt(row.revision),
      eventType: row.event_type,
      reason: row.reason,
      released: Number(row.released) === 1,
    }));
  }

  async put({ stream, revision, eventType, reason }: HeldBack): Promise<void> {
    const query = this.#database.builder
      .insertInto('relay_quarantine')
      .values({ stream, revision: Number(revision), event_type: eventType, reason, released: 0 })
      .onConflict((conflict) => conflict.column('stream').doUpdateSet({ reason, released: 0 }));
    await this.#database.transaction([{ query: query.compile() }]);
  }

  async release(stream: string): Promise<boolean> {
    const query = this.#database.builder
      .updateTable('relay_quarantine')
      .set({ released: 1 })
      .where('stream', '=', stream);
    const [result] = await this.#database.transaction([{ query: query.compile() }]);
    return result!.changes === 1;
  }

  async remove(stream: string): Promise<void> {
    const query = this.#database.builder.deleteFrom('relay_quarantine').where('stream', '=', stream);
    await this.#database.transaction([{ query: query.compile() }]);
  }
}
