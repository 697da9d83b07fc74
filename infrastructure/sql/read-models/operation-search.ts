import type { SelectQueryBuilder } from 'kysely';
import type {
  FoundOperation,
  OperationPage,
  OperationQuery,
  OperationSearch,
} from '../../../application/ports/operation-search.ts';
import type { Schema } from '../schema.ts';
import type { SqlDatabase } from '../sql-database.ts';

/** Codes are visible ASCII, so every code that begins with a text comes before this. */
const AFTER_ALL_CODES = '\u007f';

const COLUMNS = [
  ...(['stream', 'application_id', 'code', 'fund_id', 'status', 'product_type'] as const),
  ...(['acquisition_value', 'received_value', 'number_of_installments', 'date_issued'] as const),
  ...(['received_at', 'updated_at', 'borrower'] as const),
] as const;
type Row = Pick<Schema['loan'], (typeof COLUMNS)[number]>;
type Loans = SelectQueryBuilder<Schema, 'loan', Row>;

const foundOf = (row: Row): FoundOperation => ({
  stream: row.stream,
  applicationId: row.application_id,
  code: row.code,
  fundId: row.fund_id,
  status: row.status,
  productType: row.product_type,
  acquisitionValue: row.acquisition_value,
  receivedValue: row.received_value,
  numberOfInstallments: row.number_of_installments,
  dateIssued: row.date_issued,
  receivedAt: row.received_at,
  updatedAt: row.updated_at,
  borrower: row.borrower,
});

const filtered = (all: Loans, { code, fundId, status, from, before, streams }: OperationQuery): Loans => {
  let rows = all;
  if (code !== undefined) rows = rows.where('code', '>=', code).where('code', '<', code + AFTER_ALL_CODES);
  if (fundId !== undefined) rows = rows.where('fund_id', '=', fundId);
  if (status !== undefined) rows = rows.where('status', '=', status);
  if (from !== undefined) rows = rows.where('received_at', '>=', from);
  if (before !== undefined) rows = rows.where('received_at', '<', before);
  return streams === undefined ? rows : rows.where('stream', 'in', streams);
};

const ordered = (rows: Loans, { code, after, limit }: OperationQuery): Loans => {
  if (code !== undefined) {
    const rest = after
      ? rows.where((eb) => eb(eb.refTuple('code', 'stream'), '>', eb.tuple(after.key, after.stream)))
      : rows;
    return rest.orderBy('code').orderBy('stream').limit(limit);
  }
  const rest = after
    ? rows.where((eb) => eb(eb.refTuple('received_at', 'stream'), '<', eb.tuple(after.key, after.stream)))
    : rows;
  return rest.orderBy('received_at', 'desc').orderBy('stream', 'desc').limit(limit);
};

/** The indexes of this search hold what it filters by, so that rows are looked up only to be shown. */
export class SqlOperationSearch implements OperationSearch {
  readonly #database: SqlDatabase;

  constructor(database: SqlDatabase) {
    this.#database = database;
  }

  async find(query: OperationQuery): Promise<OperationPage> {
    if (query.streams?.length === 0) return { operations: [], next: undefined };
    const all = this.#database.builder.selectFrom('loan').select(COLUMNS);
    const { limit } = query;
    const rows = await this.#database.read(ordered(filtered(all, query), { ...query, limit: limit + 1 }));
    const operations = rows.slice(0, limit).map(foundOf);
    const last = operations.at(-1);
    const key = query.code === undefined ? last?.receivedAt : last?.code;
    const next = rows.length > limit && last ? { key: key!, stream: last.stream } : undefined;
    return { operations, next };
  }
}
