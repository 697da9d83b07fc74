import type { Standing, Standings } from '../../../application/ports/fund-reports.ts';
import type { SqlDatabase } from '../sql-database.ts';

export class SqlStandings implements Standings {
  readonly #database: SqlDatabase;

  constructor(database: SqlDatabase) {
    this.#database = database;
  }

  async before(instant: string, streams: readonly string[]): Promise<readonly Standing[]> {
    if (streams.length === 0) return [];
    const query = this.#database.builder
      .selectFrom('loan')
      .select(['stream', 'product_type', 'borrower'])
      .select((eb) =>
        eb
          .selectFrom('status_history')
          .select('status_history.status')
          .whereRef('status_history.stream', '=', 'loan.stream')
          .where('status_history.at', '<', instant)
          .orderBy('status_history.revision', 'desc')
          .limit(1)
          .as('state'),
      )
      .where('stream', 'in', streams);
    const rows = await this.#database.read(query);
    return rows.map((row) => ({
      stream: row.stream,
      productType: row.product_type,
      status: row.state ?? undefined,
      borrower: row.borrower,
    }));
  }
}
