import type { SelectQueryBuilder } from 'kysely';
import { SUMMARY } from './loan-page.ts';
import type { LoanSummary } from './loan-page.ts';
import type { Schema } from '../sql/schema.ts';
import type { SqlDatabase } from '../sql/sql-database.ts';

/** A place in a list of found operations: the next page begins after it. */
export interface SearchPlace {
  /** The code where a code was searched for, otherwise when the operation was received. */
  readonly key: string;
  readonly stream: string;
}

export interface OperationQuery {
  /** What the code begins with, byte by byte. */
  readonly code?: string;
  readonly fundId?: string;
  /** Of these funds alone; at least one. */
  readonly onlyFundIds?: readonly string[];
  readonly status?: string;
  /** Received at or after, ISO 8601 UTC. */
  readonly from?: string;
  /** Received before. */
  readonly before?: string;
  /** None but these, at most `MOST_STREAMS`. */
  readonly streams?: readonly string[];
  readonly after?: SearchPlace;
  readonly limit: number;
}

export const MOST_STREAMS = 10_000;

interface OperationPage {
  readonly operations: readonly LoanSummary[];
  readonly next: SearchPlace | undefined;
}

/** Codes are visible ASCII, so every code that begins with a text comes before this. */
const AFTER_ALL_CODES = '\u007f';

type Row = Schema['loan'] & Pick<Schema['progress'], 'updated_at' | 'received_value'>;
type Loans = SelectQueryBuilder<Pick<Schema, 'loan'>, 'loan', Row>;

const filtered = (all: Loans, query: OperationQuery): Loans => {
  const { code, fundId, onlyFundIds, status, from, before, streams } = query;
  let rows = all;
  if (code !== undefined)
    rows = rows.where('loan.code', '>=', code).where('loan.code', '<', code + AFTER_ALL_CODES);
  if (fundId !== undefined) rows = rows.where('fund_id', '=', fundId);
  if (onlyFundIds !== undefined) rows = rows.where('fund_id', 'in', onlyFundIds);
  if (status !== undefined) rows = rows.where('status', '=', status);
  if (from !== undefined) rows = rows.where('loan.received_at', '>=', from);
  if (before !== undefined) rows = rows.where('loan.received_at', '<', before);
  return streams === undefined ? rows : rows.where('stream', 'in', streams);
};

const ordered = (rows: Loans, { code, after, limit }: OperationQuery): Loans => {
  if (code !== undefined) {
    const rest = after
      ? rows.where((eb) =>
          eb(eb.refTuple('loan.code', 'loan.stream'), '>', eb.tuple(after.key, after.stream)),
        )
      : rows;
    return rest.orderBy('loan.code').orderBy('loan.stream').limit(limit);
  }
  const rest = after
    ? rows.where((eb) =>
        eb(eb.refTuple('loan.received_at', 'loan.stream'), '<', eb.tuple(after.key, after.stream)),
      )
    : rows;
  return rest.orderBy('loan.received_at', 'desc').orderBy('loan.stream', 'desc').limit(limit);
};

/** The indexes of this search hold what it filters by, so that rows are looked up only to be shown. */
export class SqlOperationSearch {
  readonly #database: SqlDatabase;

  constructor(database: SqlDatabase) {
    this.#database = database;
  }

  /** In the order of codes where one is searched for, otherwise the newest first; stable while operations are added. */
  async find(query: OperationQuery): Promise<OperationPage> {
    if (query.streams?.length === 0) return { operations: [], next: undefined };
    const all = this.#database.builder
      .selectFrom('loan')
      .innerJoin('progress', 'progress.operation', 'loan.id')
      .select(SUMMARY) as unknown as Loans;
    const { limit } = query;
    const rows = await this.#database.read(ordered(filtered(all, query), { ...query, limit: limit + 1 }));
    const operations = rows.slice(0, limit);
    const last = operations.at(-1);
    const key = query.code === undefined ? last?.received_at : last?.code;
    const next = rows.length > limit && last ? { key: key!, stream: last.stream } : undefined;
    return { operations, next };
  }
}
