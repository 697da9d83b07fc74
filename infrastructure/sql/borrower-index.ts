import type { BorrowerIndex, BorrowerIndexEntry } from '../../application/ports/borrower-vault.ts';
import type { SqlDatabase } from './sql-database.ts';

export class SqlBorrowerIndex implements BorrowerIndex {
  readonly #database: SqlDatabase;

  constructor(database: SqlDatabase) {
    this.#database = database;
  }

  async add(entries: readonly BorrowerIndexEntry[]): Promise<void> {
    if (entries.length === 0) return;
    const query = this.#database.builder
      .insertInto('borrower_operation')
      .values(entries.map(({ digest, stream }) => ({ digest, stream })))
      .onConflict((conflict) => conflict.columns(['digest', 'stream']).doNothing());
    await this.#database.transaction([{ query: query.compile() }]);
  }

  async streamsOf(digest: string): Promise<readonly string[]> {
    const query = this.#database.builder
      .selectFrom('borrower_operation')
      .select('stream')
      .where('digest', '=', digest)
      .orderBy('stream');
    return (await this.#database.read(query)).map(({ stream }) => stream);
  }

  async entriesOf(streams: readonly string[]): Promise<readonly BorrowerIndexEntry[]> {
    if (streams.length === 0) return [];
    const query = this.#database.builder
      .selectFrom('borrower_operation')
      .select(['stream', 'digest'])
      .where('stream', 'in', streams)
      .orderBy('stream')
      .orderBy('digest');
    return this.#database.read(query);
  }

  async remove({ digest, stream }: BorrowerIndexEntry): Promise<void> {
    const query = this.#database.builder
      .deleteFrom('borrower_operation')
      .where('digest', '=', digest)
      .where('stream', '=', stream);
    await this.#database.transaction([{ query: query.compile() }]);
  }
}
