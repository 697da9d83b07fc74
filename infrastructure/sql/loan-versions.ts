import type { LoanVersions } from '../../application/ports/loan-queries.ts';
import type { SqlDatabase } from './sql-database.ts';

export class SqlLoanVersions implements LoanVersions {
  readonly #database: SqlDatabase;

  constructor(database: SqlDatabase) {
    this.#database = database;
  }

  async of(streams: readonly string[]): Promise<ReadonlyMap<string, bigint>> {
    const query = this.#database.builder
      .selectFrom('loan')
      .select(['stream', 'version'])
      .where('stream', 'in', streams);
    return new Map(
      (await this.#database.read(query)).map(({ stream, version }) => [stream, BigInt(version)]),
    );
  }
}
