import type { SqlDatabase } from '../sql/sql-database.ts';

export interface StateCount {
  readonly status: string;
  readonly operations: number;
  /** When the first of them came into this state; null where nothing is awaited. */
  readonly oldestSince: string | null;
}

export const countStates = async (database: SqlDatabase): Promise<readonly StateCount[]> => {
  const { builder } = database;
  const [counted, oldest] = await database.snapshot([
    builder
      .selectFrom('loan')
      .select((eb) => ['status', eb.fn.countAll<number>().as('operations')])
      .groupBy('status')
      .orderBy('status'),
    builder
      .selectFrom('loan')
      .select((eb) => ['status', eb.fn.min('waiting_since').as('since')])
      .where('waiting_since', 'is not', null)
      .groupBy('status'),
  ]);
  const sinceBy = new Map(oldest.map(({ status, since }) => [status, since]));
  return counted.map(({ status, operations }) => ({
    status,
    operations,
    oldestSince: sinceBy.get(status) ?? null,
  }));
};

export const newestWithBorrower = async (
  database: SqlDatabase,
  limit: number,
): Promise<readonly string[]> => {
  const query = database.builder
    .selectFrom('loan')
    .select('stream')
    .where('borrower', '<>', '')
    .orderBy('received_at', 'desc')
    .limit(limit);
  return (await database.read(query)).map(({ stream }) => stream);
};

/** The operation that came in last, with the revision of the last event that its rows show. */
export const newestOperation = async (
  database: SqlDatabase,
): Promise<{ readonly stream: string; readonly revision: bigint } | undefined> => {
  const query = database.builder
    .selectFrom('loan')
    .innerJoin('progress', 'progress.operation', 'loan.id')
    .select(['loan.stream', 'progress.version'])
    .orderBy('loan.received_at', 'desc')
    .limit(1);
  const [newest] = await database.read(query);
  return newest && { stream: newest.stream, revision: BigInt(newest.version) };
};

/** What their rows say was received with them, and later. @param streams at most 1,000 */
export const documentsOfOperations = async (
  database: SqlDatabase,
  streams: readonly string[],
): Promise<readonly { readonly stream: string; readonly sha256: string }[]> => {
  if (streams.length === 0) return [];
  const query = database.builder
    .selectFrom('loan')
    .innerJoin('document', 'document.operation', 'loan.id')
    .select(['loan.stream', 'document.sha256'])
    .where('loan.stream', 'in', streams);
  return database.read(query);
};

export const holdsOperations = async (database: SqlDatabase, fundId: string): Promise<boolean> => {
  const query = database.builder.selectFrom('loan').select('stream').where('fund_id', '=', fundId).limit(1);
  return (await database.read(query)).length > 0;
};
