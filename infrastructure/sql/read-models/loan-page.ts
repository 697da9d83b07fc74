import type { SelectQueryBuilder } from 'kysely';
import type { LoanListQuery } from '../../../application/ports/loan-queries.ts';
import { isSoundText } from '../../../application/schemas/document-validators.ts';
import { DomainError } from '../../../domain/shared/domain-error.ts';
import type { Schema } from '../schema.ts';
import type { SqlDatabase } from '../sql-database.ts';

/** The last operation of a page; the next page begins after it, whatever was added since. */
export interface LoanListCursor {
  readonly receivedAt: string;
  readonly code: string;
}

export const encodeCursor = ({ receivedAt, code }: LoanListCursor): string =>
  Buffer.from(JSON.stringify([receivedAt, code])).toString('base64url');

const parsed = (cursor: string): unknown => {
  try {
    return JSON.parse(Buffer.from(cursor, 'base64url').toString());
  } catch {
    return undefined;
  }
};

/** @throws DomainError `invalid_query_parameter` */
const decodeCursor = (cursor: string): LoanListCursor => {
  const place: unknown = parsed(cursor);
  if (Array.isArray(place) && place.length === 2) {
    const [receivedAt, code] = place as readonly unknown[];
    if (typeof receivedAt === 'string' && typeof code === 'string' && isSoundText(receivedAt + code)) {
      // Base64 decoding skips what it does not know, so only the same text again is a cursor made here.
      if (encodeCursor({ receivedAt, code }) === cursor) return { receivedAt, code };
    }
  }
  const message = 'cursor is not one of this list; use next_cursor of an earlier page as it is';
  throw new DomainError('invalid_query_parameter', message, [{ field: 'cursor', code: 'invalid', message }]);
};

export type LoanColumns = Schema['loan'];
type Place = Pick<LoanColumns, 'received_at' | 'code'>;
type Listed = Place & Pick<LoanColumns, 'status' | 'fund_id'>;

interface Rows {
  readonly rows: readonly LoanColumns[];
  readonly nextCursor: string | null;
}

/** So many operations that changed are sorted for a page of them: some milliseconds, in which this thread answers no other request. */
const MOST_SORTED = 10_000;
/** Where more changed, so many operations are looked at for a page, in the order of arrival. */
const MOST_LOOKED_AT = 5_000;

const cursorAt = ({ received_at: receivedAt, code }: Place): string => encodeCursor({ receivedAt, code });

/** What is asked for but for the time of the change, after the cursor, oldest first. */
const narrowed = <Row>(
  from: SelectQueryBuilder<{ loan: Listed }, 'loan', Row>,
  { status, fundId, onlyFundIds, cursor }: LoanListQuery,
): SelectQueryBuilder<{ loan: Listed }, 'loan', Row> => {
  let rows = from;
  if (status !== undefined) rows = rows.where('status', '=', status);
  if (fundId !== undefined) rows = rows.where('fund_id', '=', fundId);
  if (onlyFundIds !== undefined) rows = rows.where('fund_id', 'in', onlyFundIds);
  if (cursor !== undefined) {
    const { receivedAt, code } = decodeCursor(cursor);
    rows = rows.where((eb) => eb(eb.refTuple('received_at', 'code'), '>', eb.tuple(receivedAt, code)));
  }
  return rows.orderBy('received_at').orderBy('code');
};

/** @param found one row more than asked for, where there is one: it tells that there is a next page */
const pageOf = (found: readonly LoanColumns[], limit: number): Rows => {
  const rows = found.slice(0, limit);
  const last = rows.at(-1);
  return { rows, nextCursor: found.length > limit && last ? cursorAt(last) : null };
};

const ofApplication = ({ builder }: SqlDatabase, { applicationId }: LoanListQuery) =>
  builder.selectFrom('loan').where('application_id', '=', applicationId);

/** From the index of changes, sorted. Undefined where too much changed for that. */
const changedPage = async (
  database: SqlDatabase,
  query: LoanListQuery & { readonly updatedSince: string },
): Promise<Rows | undefined> => {
  const { builder } = database;
  const changed = ofApplication(database, query)
    .where('updated_at', '>=', query.updatedSince)
    .limit(MOST_SORTED + 1);
  const count = builder
    .selectFrom(changed.select('updated_at').as('one'))
    .select((eb) => eb.fn.countAll<number | string>().as('changed'));
  // The index of changes holds the place in the list; for what else is asked for, rows are looked up.
  const filtered = [query.status, query.fundId, query.onlyFundIds].some((filter) => filter !== undefined);
  const columns = ['received_at', 'code', ...(filtered ? (['status', 'fund_id'] as const) : [])] as const;
  const some = builder
    .with(
      (cte) => cte('some').materialized(),
      () => changed.select(columns),
    )
    .selectFrom('some')
    .select(['received_at', 'code']) as unknown as SelectQueryBuilder<{ loan: Listed }, 'loan', Place>;
  const page = ofApplication(database, query)
    .selectAll()
    .where((eb) =>
      eb(
        eb.refTuple('received_at', 'code'),
        'in',
        narrowed(some, query)
          .limit(query.limit + 1)
          .$asTuple('received_at', 'code'),
      ),
    )
    .orderBy('received_at')
    .orderBy('code');
  const [[counted], rows] = await database.snapshot([count, page]);
  return Number(counted?.changed) <= MOST_SORTED ? pageOf(rows, query.limit) : undefined;
};

/** In the order of arrival, from the operations that come next. The page is short where few of them changed. */
const lookedAtPage = async (
  database: SqlDatabase,
  query: LoanListQuery & { readonly updatedSince: string },
): Promise<Rows> => {
  const lookedAt = narrowed(ofApplication(database, query).selectAll(), query).limit(MOST_LOOKED_AT);
  const page = database.builder
    .selectFrom(lookedAt.as('loan'))
    .selectAll()
    .where('updated_at', '>=', query.updatedSince)
    .orderBy('received_at')
    .orderBy('code')
    .limit(query.limit + 1);
  const end = narrowed(ofApplication(database, query).select(['received_at', 'code']), query)
    .offset(MOST_LOOKED_AT - 1)
    .limit(2);
  const [found, [lastLookedAt, next]] = await database.snapshot([page, end]);
  const { rows, nextCursor } = pageOf(found, query.limit);
  return { rows, nextCursor: nextCursor ?? (lastLookedAt && next ? cursorAt(lastLookedAt) : null) };
};

/** A page of the list, with bounded work for whatever is asked. */
export const loanPage = async (database: SqlDatabase, query: LoanListQuery): Promise<Rows> => {
  const { limit, updatedSince } = query;
  if (updatedSince !== undefined) {
    const changed = { ...query, updatedSince };
    return (await changedPage(database, changed)) ?? lookedAtPage(database, changed);
  }
  const page = narrowed(ofApplication(database, query).selectAll(), query).limit(limit + 1);
  return pageOf(await database.read(page), limit);
};
