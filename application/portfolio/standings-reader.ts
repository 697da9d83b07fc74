import type { SqlDatabase } from '../sql/sql-database.ts';

/** What is known of an operation beside its money. */
export interface Standing {
  readonly stream: string;
  readonly productType: string;
  /** As `GET /loan` showed it at that instant; undefined where it was recorded later. */
  readonly status: string | undefined;
  /** Sealed; empty once the borrower was forgotten. */
  readonly borrower: string;
}

/** Of these operations, at most 1,000, as they stood just before an instant (ISO 8601 UTC); none of one that is not there. */
export const standingsBefore = async (
  database: SqlDatabase,
  instant: string,
  streams: readonly string[],
): Promise<readonly Standing[]> => {
  if (streams.length === 0) return [];
  const query = database.builder
    .selectFrom('loan')
    .select(['stream', 'product_type as productType', 'borrower'])
    .select((eb) =>
      eb
        .selectFrom('status_history')
        .select('status_history.status')
        .whereRef('status_history.operation', '=', 'loan.id')
        .where('status_history.at', '<', instant)
        .orderBy('status_history.revision', 'desc')
        .limit(1)
        .as('status'),
    )
    .where('stream', 'in', streams);
  const rows = await database.read(query);
  return rows.map((row) => ({ ...row, status: row.status ?? undefined }));
};
