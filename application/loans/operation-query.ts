import { sql } from 'kysely';
import type { Expression, SelectQueryBuilder, SqlBool } from 'kysely';
import { loanStream } from '../command-handling/operation.ts';
import type { Schema } from '../sql/schema.ts';

export const SORTED_BY = ['received_at', 'code', 'days_late', 'overdue_value'] as const;
export interface Sorting {
  readonly by: (typeof SORTED_BY)[number];
  readonly descending: boolean;
}

export interface SearchPlace {
  readonly by: string;
  readonly key: string;
  readonly stream: string;
}

export interface OperationQuery {
  readonly applicationId?: string;
  /** Any part of the code, in upper or lower case. */
  readonly code?: string;
  readonly fundId?: string;
  readonly onlyFundIds?: readonly string[];
  readonly status?: readonly string[];
  readonly overdue?: true;
  readonly from?: string;
  readonly before?: string;
  readonly streams?: readonly string[];
  /** Where it cannot be had, the list has its usual order. */
  readonly sorting?: Sorting;
  readonly after?: SearchPlace;
  readonly limit: number;
}
export type OperationFilter = Omit<OperationQuery, 'sorting' | 'after' | 'limit'>;

interface Sought extends Pick<Schema['loan'], 'stream' | 'code' | 'fund_id' | 'status' | 'received_at'> {
  readonly since: string;
  readonly value: number;
}
export type Loans<Row = unknown> = SelectQueryBuilder<{ readonly loan: Sought }, 'loan', Row>;

const literally = (text: string): string => text.replace(/[\\%_]/g, '\\$&');

/** Codes are visible ASCII, in which engines agree about upper and lower case. */
const hasPart = (column: Expression<string>, part: string) =>
  sql<SqlBool>`lower(${column}) like ${`%${literally(part.toLowerCase())}%`} escape '\\'`;

export const fitting = (all: Loans, { applicationId, code, onlyFundIds, status }: OperationFilter): Loans => {
  let rows = all;
  if (applicationId !== undefined) {
    const begin = loanStream(applicationId, '');
    // It ends with a point, which a slash follows.
    rows = rows.where('loan.stream', '>=', begin).where('loan.stream', '<', `${begin.slice(0, -1)}/`);
  }
  if (code !== undefined) rows = rows.where((eb) => hasPart(eb.ref('loan.code'), code));
  if (onlyFundIds !== undefined) rows = rows.where('loan.fund_id', 'in', onlyFundIds);
  return status === undefined ? rows : rows.where('loan.status', 'in', status);
};

export const entered = (all: Loans, { fundId, from, before }: OperationFilter): Loans => {
  let rows = all;
  if (fundId !== undefined) rows = rows.where('loan.fund_id', '=', fundId);
  if (from !== undefined) rows = rows.where('loan.received_at', '>=', from);
  return before === undefined ? rows : rows.where('loan.received_at', '<', before);
};

const COLUMNS = {
  received_at: 'received_at',
  code: 'code',
  days_late: 'since',
  overdue_value: 'value',
} as const;

/** A place comes out of an address, where anything may stand. */
const centsOf = (key: string): number => (Number.isSafeInteger(Number(key)) ? Number(key) : 0);

const keyOf = ({ by }: Sorting) => sql.ref<string | number>(`loan.${COLUMNS[by]}`);

export interface Listed {
  readonly stream: string;
  readonly key: string | number;
}
export const placeOf = ({ stream, key }: Listed, { by }: Sorting): SearchPlace => ({
  by,
  key: String(key),
  stream,
});

export const inOrder = (rows: Loans, sorting: Sorting, after?: SearchPlace): Loans<Listed> => {
  // The longer late, the earlier it fell due.
  const descending = sorting.descending !== (sorting.by === 'days_late');
  const direction = descending ? 'desc' : 'asc';
  const rest =
    after === undefined
      ? rows
      : rows.where(
          sql<SqlBool>`(${keyOf(sorting)}, ${sql.ref('loan.stream')}) ${sql.raw(descending ? '<' : '>')} (${
            sorting.by === 'overdue_value' ? centsOf(after.key) : after.key
          }, ${after.stream})`,
        );
  return rest
    .select(['loan.stream', keyOf(sorting).as('key')])
    .orderBy(keyOf(sorting), direction)
    .orderBy('loan.stream', direction);
};

export const findsNothing = ({ streams, fundId, onlyFundIds }: OperationFilter): boolean =>
  streams?.length === 0 || (fundId !== undefined && onlyFundIds?.includes(fundId) === false);

export const byFund = <Query extends OperationFilter>({ onlyFundIds, ...query }: Query) => {
  if (onlyFundIds === undefined || query.fundId !== undefined) return query;
  return onlyFundIds.length === 1 ? { ...query, fundId: onlyFundIds[0]! } : { ...query, onlyFundIds };
};
