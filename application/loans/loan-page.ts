import { sql } from 'kysely';
import type { SelectQueryBuilder } from 'kysely';
import { isSoundText } from '../schemas/document-validators.ts';
import { foreignCursor } from '../support/failures.ts';
import type { Schema } from '../sql/schema.ts';
import type { SqlDatabase } from '../sql/sql-database.ts';

export interface LoanListQuery {
  readonly applicationId: string;
  readonly status?: readonly string[];
  readonly fundId?: string;
  readonly overdue?: true;
  readonly updatedSince?: string;
  readonly onlyFundIds?: readonly string[];
  readonly limit: number;
  readonly cursor?: string;
}

/** The last operation of a page; the next page begins after it, whatever was added since. */
interface LoanListCursor {
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
  throw foreignCursor();
};

export const SUMMARY = [
  ...(['loan.stream', 'loan.application_id', 'loan.code', 'loan.fund_id', 'loan.status'] as const),
  ...(['loan.product_type', 'loan.acquisition_value', 'loan.number_of_installments'] as const),
  ...(['loan.date_issued', 'loan.received_at', 'loan.borrower'] as const),
  ...(['progress.updated_at', 'progress.received_value'] as const),
] as const;
type SummaryOf<
  Table extends keyof Schema,
  Name = (typeof SUMMARY)[number],
> = Name extends `${Table}.${infer Column extends keyof Schema[Table] & string}` ? Column : never;
export type LoanSummary = Pick<Schema['loan'], SummaryOf<'loan'>> &
  Pick<Schema['progress'], SummaryOf<'progress'>>;
type Place = Pick<LoanSummary, 'received_at' | 'code'>;
type Listed = Place & Pick<LoanSummary, 'status' | 'fund_id'>;

export interface LoanPage {
  readonly loans: readonly LoanSummary[];
  readonly nextCursor: string | null;
}

/** So many operations that changed are sorted for a page of them: some milliseconds, in which this thread answers no other request. */
const MOST_SORTED = 10_000;
/** The same for operations that are late, whose rows have to be looked up for it. */
const MOST_LATE = 2_500;
/** So many late operations of all applications are looked through for those of one. */
const MOST_LATE_OF_ALL = 10_000;
/** Where more have changed or are late, so many operations are looked at for a page, in the order of arrival. */
const MOST_LOOKED_AT = 5_000;

const PLACE = ['loan.received_at', 'loan.code'] as const;
const cursorAt = ({ received_at: receivedAt, code }: Place): string => encodeCursor({ receivedAt, code });

type Narrowing = Omit<LoanListQuery, 'applicationId' | 'limit'>;
type Loans<Row> = SelectQueryBuilder<{ loan: Listed }, 'loan', Row>;

const inOrder = <Row>(rows: Loans<Row>): Loans<Row> => rows.orderBy('loan.received_at').orderBy('loan.code');

const narrowed = <Row>(from: Loans<Row>, { status, fundId, onlyFundIds, cursor }: Narrowing): Loans<Row> => {
  let rows = from;
  if (status?.length === 1) rows = rows.where('loan.status', '=', status[0]!);
  else if (status !== undefined) rows = rows.where('loan.status', 'in', status);
  if (fundId !== undefined) rows = rows.where('loan.fund_id', '=', fundId);
  if (onlyFundIds !== undefined) rows = rows.where('loan.fund_id', 'in', onlyFundIds);
  if (cursor !== undefined) {
    const { receivedAt, code } = decodeCursor(cursor);
    rows = rows.where((eb) =>
      eb(eb.refTuple('loan.received_at', 'loan.code'), '>', eb.tuple(receivedAt, code)),
    );
  }
  return inOrder(rows);
};

/** @param found one row more than asked for, where there is one: it tells that there is a next page */
const pageOf = (found: readonly LoanSummary[], limit: number): LoanPage => {
  const loans = found.slice(0, limit);
  const last = loans.at(-1);
  return { loans, nextCursor: found.length > limit && last ? cursorAt(last) : null };
};

const ofApplication = ({ builder }: SqlDatabase, { applicationId }: LoanListQuery) =>
  builder.selectFrom('loan').where('loan.application_id', '=', applicationId);

const placesOf = (database: SqlDatabase, query: LoanListQuery) =>
  ofApplication(database, query).select(PLACE) as unknown as Loans<Place>;

const withProgress = (database: SqlDatabase, query: LoanListQuery) =>
  ofApplication(database, query).innerJoin('progress', 'progress.operation', 'loan.id');

const rowsOf = (database: SqlDatabase, query: LoanListQuery) =>
  withProgress(database, query).select(SUMMARY) as unknown as Loans<LoanSummary>;

const rowsAt = (database: SqlDatabase, query: LoanListQuery, places: Loans<Place>): Loans<LoanSummary> =>
  inOrder(
    rowsOf(database, query).where((eb) =>
      eb(eb.refTuple('loan.received_at', 'loan.code'), 'in', places.$asTuple('received_at', 'code')),
    ),
  );

/** From the index of changes, sorted. Undefined where too much changed for that. */
const changedPage = async (
  database: SqlDatabase,
  query: LoanListQuery & { readonly updatedSince: string },
): Promise<LoanPage | undefined> => {
  const { builder } = database;
  const changed = builder
    .selectFrom('progress')
    .where('progress.application_id', '=', query.applicationId)
    .where('progress.updated_at', '>=', query.updatedSince)
    .limit(MOST_SORTED + 1);
  const count = builder
    .selectFrom(changed.select('updated_at').as('one'))
    .select((eb) => eb.fn.countAll<number>().as('changed'));
  // The index of changes holds the place in the list; for what else is asked for, rows are looked up.
  const filtered = [query.status, query.fundId, query.onlyFundIds].some((filter) => filter !== undefined);
  const places = changed.select(['progress.received_at', 'progress.code']);
  const some = builder
    .with(
      (cte) => cte('some').materialized(),
      () =>
        filtered
          ? places.innerJoin('loan', 'loan.id', 'progress.operation').select(['loan.status', 'loan.fund_id'])
          : places,
    )
    .selectFrom('some as loan')
    .select(PLACE) as unknown as Loans<Place>;
  const page = rowsAt(database, query, narrowed(some, query).limit(query.limit + 1));
  const [[counted], rows] = await database.snapshot([count, page]);
  return counted!.changed <= MOST_SORTED ? pageOf(rows, query.limit) : undefined;
};

/** The literal repeats what the index is restricted to. */
const lateOperations = ({ builder }: SqlDatabase) =>
  builder
    .selectFrom('installment')
    .select('operation')
    .distinct()
    .where('status', '=', sql.lit('overdue'))
    .limit(MOST_LATE_OF_ALL + 1);

/** From the index of what is overdue, sorted. Undefined where too much is for that. */
const latePage = async (database: SqlDatabase, query: LoanListQuery): Promise<LoanPage | undefined> => {
  const { builder } = database;
  // A cross join is made in this order: from the few that are late to their operations.
  const late = builder
    .with(
      (cte) => cte('late').materialized(),
      () => lateOperations(database),
    )
    .selectFrom('late')
    .crossJoin('loan')
    .whereRef('loan.id', '=', 'late.operation');
  const isOwn = sql<number>`case when ${sql.ref('loan.application_id')} = ${query.applicationId} then 1 else 0 end`;
  const count = late.select((eb) => [
    eb.fn.countAll<number>().as('late'),
    eb.fn.coalesce(eb.fn.sum<number>(isOwn), sql.lit(0)).as('own'),
  ]);
  const places = late
    .innerJoin('progress', 'progress.operation', 'loan.id')
    .where('loan.application_id', '=', query.applicationId)
    .$if(query.updatedSince !== undefined, (some) =>
      some.where('progress.updated_at', '>=', query.updatedSince!),
    )
    .select(PLACE) as unknown as Loans<Place>;
  const page = rowsAt(database, query, narrowed(places, query).limit(query.limit + 1));
  const [[counted], rows] = await database.snapshot([count, page]);
  const sorted = counted!.late <= MOST_LATE_OF_ALL && counted!.own <= MOST_LATE;
  return sorted ? pageOf(rows, query.limit) : undefined;
};

/** In the order of arrival, from the operations that come next. The page is short where few of them are asked for. */
const lookedAtPage = async (database: SqlDatabase, query: LoanListQuery): Promise<LoanPage> => {
  const { status, updatedSince, overdue, limit } = query;
  const { status: _, ...others } = query;
  // Several states have no order of their own.
  const next = status?.length === 1 ? query : others;
  const shown = withProgress(database, query).select([...SUMMARY, 'loan.id']) as unknown as Loans<
    LoanSummary & Pick<Schema['loan'], 'id'>
  >;
  const lookedAt = narrowed(shown, next).limit(MOST_LOOKED_AT);
  let page = database.builder.selectFrom(lookedAt.as('loan')).selectAll();
  if (status !== undefined && status.length > 1) page = page.where('status', 'in', status);
  if (updatedSince !== undefined) page = page.where('updated_at', '>=', updatedSince);
  if (overdue)
    page = page.where((eb) =>
      eb.exists(
        eb
          .selectFrom('installment')
          .select('installment.code')
          .whereRef('installment.operation', '=', 'loan.id')
          .where('installment.status', '=', sql.lit('overdue')),
      ),
    );
  const end = narrowed(placesOf(database, query), next)
    .offset(MOST_LOOKED_AT - 1)
    .limit(2);
  const first = inOrder(page as unknown as Loans<LoanSummary>).limit(limit + 1);
  const [found, [lastLookedAt, after]] = await database.snapshot([first, end]);
  const { loans, nextCursor } = pageOf(found, limit);
  return { loans, nextCursor: nextCursor ?? (lastLookedAt && after ? cursorAt(lastLookedAt) : null) };
};

const placesInAnyOf = (
  database: SqlDatabase,
  query: LoanListQuery,
  states: readonly string[],
): Loans<Place> => {
  const inState = (status: string) =>
    database.builder
      .selectFrom(
        narrowed(placesOf(database, query), { ...query, status: [status] })
          .limit(query.limit + 1)
          .as('one'),
      )
      .select(['one.received_at', 'one.code']);
  const [first, ...others] = states.map(inState);
  const all = others.reduce((union, one) => union.unionAll(one), first!);
  const next = database.builder.selectFrom(all.as('loan')).select(PLACE) as unknown as Loans<Place>;
  return inOrder(next).limit(query.limit + 1);
};

export const loanPage = async (database: SqlDatabase, query: LoanListQuery): Promise<LoanPage> => {
  const { limit, updatedSince, overdue, status } = query;
  if (overdue) return (await latePage(database, query)) ?? lookedAtPage(database, query);
  if (updatedSince !== undefined) {
    return (await changedPage(database, { ...query, updatedSince })) ?? lookedAtPage(database, query);
  }
  const page =
    status !== undefined && status.length > 1
      ? rowsAt(database, query, placesInAnyOf(database, query, status))
      : narrowed(rowsOf(database, query), query).limit(limit + 1);
  return pageOf(await database.read(page), limit);
};
