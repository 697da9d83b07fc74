import type { CompiledQuery } from 'kysely';
import { asStatements, preparedRows } from '../sql/prepared-query.ts';
import type { SqlDatabase } from '../sql/sql-database.ts';

/** A borrower, told only by a keyed digest, and an operation whose data belongs to that borrower. */
export interface BorrowerIndexEntry {
  /** From `borrowerDigest`; without the service's key it cannot be guessed whom it stands for. */
  readonly digest: string;
  readonly stream: string;
}

/** Finds a borrower's operations without storing who the borrower is. Durable when a call resolves. */
export class SqlBorrowerIndex {
  readonly #database: SqlDatabase;
  readonly #insert: (entries: readonly BorrowerIndexEntry[]) => readonly CompiledQuery[];

  constructor(database: SqlDatabase) {
    this.#database = database;
    this.#insert = preparedRows((entries: readonly BorrowerIndexEntry[]) =>
      database.builder
        .insertInto('borrower_operation')
        .values(entries.map(({ digest, stream }) => ({ digest, stream })))
        .onConflict((conflict) => conflict.columns(['digest', 'stream']).doNothing()),
    );
  }

  /** Entries that are there already change nothing. */
  async add(entries: readonly BorrowerIndexEntry[]): Promise<void> {
    if (entries.length > 0) await this.#database.transaction(asStatements(this.#insert(entries)));
  }

  /** In the order of the streams' names. @param most default: all of them */
  async streamsOf(digest: string, most?: number): Promise<readonly string[]> {
    const query = this.#database.builder
      .selectFrom('borrower_operation')
      .select('stream')
      .where('digest', '=', digest)
      .orderBy('stream')
      .$if(most !== undefined, (q) => q.limit(most!));
    return (await this.#database.read(query)).map(({ stream }) => stream);
  }

  /** The entries of these operations, at most 1,000, in the order of their streams; none for one whose borrower was forgotten. */
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
