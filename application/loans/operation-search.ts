import { sql } from 'kysely';
import type { SqlDatabase } from '../sql/sql-database.ts';
import { OVERDUE, OWING, overdueSums } from './late-operations.ts';
import { SUMMARY } from './loan-page.ts';
import type { LoanSummary } from './loan-page.ts';
import { SORTED_BY, byFund, entered, findsNothing, fitting, inOrder, placeOf } from './operation-query.ts';
import type {
  Listed,
  Loans,
  OperationFilter,
  OperationQuery,
  SearchPlace,
  Sorting,
} from './operation-query.ts';

export const MOST_STREAMS = 10_000;

interface Bounds {
  /** So many operations that are late are put in the order of their days or values. */
  readonly mostLate: number;
  /** Operations are looked through so many at a time; in between, others have their turn. */
  readonly atOnce: number;
  /** So many are looked through for a page, which is short where few of them fit; more for the first of somebody of some funds. */
  readonly mostLookedAt: number;
  readonly mostCounted: number;
}
const BOUNDS: Bounds = { mostLate: 20_000, atOnce: 25_000, mostLookedAt: 100_000, mostCounted: 100_000 };

/** So many operations are looked through at first for each that a page has room for: where most fit, that is enough. */
const FIRST_STEP = 20;

/** So much dearer is it to look at a row than at what an index holds of it. */
const ROWS_COST = 5;

interface OperationCount {
  readonly operations: number;
  readonly atLeast: boolean;
  readonly overdueValue?: number;
}

export interface OperationPage {
  readonly operations: readonly LoanSummary[];
  readonly next: SearchPlace | undefined;
  readonly sorting: Sorting;
  readonly orders: readonly Sorting['by'][];
  readonly total?: OperationCount;
}

interface Places {
  readonly found: readonly Listed[];
  readonly next: SearchPlace | undefined;
  readonly total?: OperationCount;
}

interface Way {
  /** All that may be asked for is sorted; otherwise an index is walked along. */
  readonly sorts: boolean;
  readonly usual: Sorting;
  readonly orders: readonly Sorting['by'][];
}

const NEWEST: Sorting = { by: 'received_at', descending: true };
const BY_CODE: Sorting = { by: 'code', descending: false };
const LONGEST_LATE: Sorting = { by: 'days_late', descending: true };

type Walk = 'code' | 'received_at';
type Counted = OperationQuery & { readonly counted?: true };

const NONE: OperationCount = { operations: 0, atLeast: false };

const isFiltered = ({ applicationId, code, onlyFundIds, status, overdue }: OperationFilter): boolean =>
  [applicationId, code, onlyFundIds, status, overdue].some((one) => one !== undefined);

const pageOf = (found: readonly Listed[], limit: number, sorting: Sorting): Places => {
  const last = found.length > limit ? found[limit - 1] : undefined;
  return { found: found.slice(0, limit), next: last && placeOf(last, sorting) };
};

/** Few, and those that are late, are sorted; others are walked along an index that holds what is asked for. */
export class SqlOperationSearch {
  readonly #database: SqlDatabase;
  readonly #bounds: Bounds;

  constructor(database: SqlDatabase, bounds: Partial<Bounds> = {}) {
    this.#database = database;
    this.#bounds = { ...BOUNDS, ...bounds };
  }

  /** The newest first; part of a code: in the order of codes; late ones: the latest first. Stable while some are added. */
  async find(asked: Counted): Promise<OperationPage> {
    const { sorts, usual, orders } = await this.#wayOf(asked);
    const { sorting: wanted = usual, counted } = asked;
    const sorting = orders.includes(wanted.by) ? wanted : usual;
    if (findsNothing(asked)) {
      return { operations: [], next: undefined, sorting, orders, ...(counted && { total: NONE }) };
    }
    const { after, ...others } = byFund(asked);
    const query: Counted = { ...others, ...(after?.by === sorting.by && { after }) };
    const hides = asked.onlyFundIds !== undefined;
    const places = await (sorts ? this.#sorted(query, sorting) : this.#walked(query, sorting, hides));
    const { found, next, total } = places;
    return {
      operations: await this.#rowsOf(found),
      next,
      sorting,
      orders,
      ...(counted && total && { total }),
    };
  }

  async #wayOf({ overdue, streams, code, from, before }: OperationFilter): Promise<Way> {
    const few = streams !== undefined;
    if (overdue && (few || !(await this.#manyAreLate())))
      return { sorts: true, usual: LONGEST_LATE, orders: SORTED_BY };
    if (few)
      return { sorts: true, usual: code === undefined ? NEWEST : BY_CODE, orders: ['received_at', 'code'] };
    // The index of codes does not know when they came.
    if (from !== undefined || before !== undefined)
      return { sorts: false, usual: NEWEST, orders: ['received_at'] };
    return code === undefined
      ? { sorts: false, usual: NEWEST, orders: ['received_at', 'code'] }
      : { sorts: false, usual: BY_CODE, orders: ['code'] };
  }

  async #manyAreLate(): Promise<boolean> {
    const late = this.#database.builder
      .selectFrom('installment')
      .select('operation')
      .distinct()
      .where('status', '=', OVERDUE)
      .orderBy('operation');
    return (await this.#database.read(late.offset(this.#bounds.mostLate).limit(1))).length > 0;
  }

  #few(query: OperationQuery) {
    const { builder } = this.#database;
    const { streams, overdue } = query;
    const from = overdue
      ? builder
          .selectFrom(overdueSums(this.#database).as('late'))
          .crossJoin('loan')
          .whereRef('loan.id', '=', 'late.operation')
          .where('loan.status', 'in', OWING)
          .select(['late.since', 'late.value'])
      : builder
          .selectFrom('loan')
          .select([sql<string>`cast(null as text)`.as('since'), sql.lit(0).as('value')]);
    const all = fitting(entered(from, query), query);
    const few = streams === undefined ? all : all.where('loan.stream', 'in', streams);
    return few.select(['loan.stream', 'loan.received_at', 'loan.code']);
  }

  async #sorted(query: OperationQuery, sorting: Sorting): Promise<Places> {
    const { limit, after, overdue } = query;
    // Found once, for the page and for what all pages add up to.
    const few = this.#database.builder
      .with(
        (cte) => cte('few').materialized(),
        () => this.#few(query),
      )
      .selectFrom('few as loan');
    const page = inOrder(few as unknown as Loans, sorting, after)
      .select([
        sql<number>`(select count(*) from few)`.as('operations'),
        sql<number>`(select sum(value) from few)`.as('overdue_value'),
      ])
      .limit(limit + 1);
    const rows = await this.#database.read(page);
    const total = rows[0] && {
      operations: rows[0].operations,
      atLeast: false,
      ...(overdue && { overdueValue: rows[0].overdue_value }),
    };
    return {
      ...pageOf(rows, limit, sorting),
      ...(total ? { total } : after === undefined && { total: NONE }),
    };
  }

  #along(by: Walk, query: OperationQuery): Loans {
    const all = this.#database.builder
      .selectFrom('loan')
      .select(['loan.fund_id', 'loan.status', `loan.${by}`]);
    const more = query.overdue ? all.select('loan.id') : all;
    const rows = by === 'received_at' && query.code !== undefined ? more.select('loan.code') : more;
    return by === 'code' ? rows : entered(rows, query);
  }

  #fittingOf(by: Walk, some: Loans, query: OperationQuery): Loans {
    const { builder } = this.#database;
    const rows = builder.selectFrom(some.as('loan')) as unknown as Loans;
    const late = builder
      .selectFrom('installment')
      .select('installment.code')
      .where('installment.operation', '=', sql.ref<number>('loan.id'))
      .where('installment.status', '=', OVERDUE);
    const all = query.overdue ? rows.where('loan.status', 'in', OWING).where((eb) => eb.exists(late)) : rows;
    return fitting(by === 'code' ? entered(all, query) : all, query);
  }

  /** @param hides operations that are looked at on the way: a page then ends at one that it shows, and goes on until there is one */
  async #walked(query: Counted, sorting: Sorting, hides: boolean): Promise<Places> {
    const { limit, counted } = query;
    const by = sorting.by === 'code' ? 'code' : 'received_at';
    const { atOnce, mostLookedAt } = this.#stepsOf(by, query);
    const found: Listed[] = [];
    let after = query.after;
    let step = Math.min(atOnce, FIRST_STEP * (limit + 1));
    for (let lookedAt = step; ; lookedAt += step) {
      const next = inOrder(this.#along(by, query), sorting, after);
      const some = next.limit(step) as unknown as Loans;
      const fits = inOrder(this.#fittingOf(by, some, query), sorting).limit(limit + 1 - found.length);
      const [rows, [end]] = await this.#database.snapshot([fits, next.offset(step - 1).limit(1)]);
      found.push(...rows);
      const last = hides ? found.at(-1) : end;
      if (found.length > limit || end === undefined || (last && lookedAt >= mostLookedAt)) {
        const page = pageOf(found, limit, sorting);
        const whole = end && last && found.length <= limit ? { ...page, next: placeOf(last, sorting) } : page;
        return counted ? { ...whole, total: await this.#total(by, query, whole) } : whole;
      }
      after = placeOf(end, sorting);
      step = atOnce;
    }
  }

  /** Nothing is looked at in vain where an index is entered at what is asked for; fewer are where rows have to be looked up. */
  #stepsOf(by: Walk, query: OperationQuery): Pick<Bounds, 'atOnce' | 'mostLookedAt' | 'mostCounted'> {
    const { atOnce, mostLookedAt, mostCounted } = this.#bounds;
    const looksUp = query.overdue || (by === 'received_at' && query.code !== undefined);
    const steps = (most: number): number => (looksUp ? Math.ceil(most / ROWS_COST) : most);
    const filtered = isFiltered(query) || (by === 'code' && query.fundId !== undefined);
    return {
      atOnce: filtered ? steps(atOnce) : query.limit + 1,
      mostLookedAt: filtered ? steps(mostLookedAt) : 0,
      mostCounted: steps(mostCounted),
    };
  }

  async #total(by: Walk, query: OperationQuery, { found, next }: Places): Promise<OperationCount> {
    if (next === undefined && query.after === undefined) return { operations: found.length, atLeast: false };
    const { mostCounted } = this.#stepsOf(by, query);
    const all = this.#along(by, query).select('loan.stream').orderBy(`loan.${by}`) as unknown as Loans;
    const count = this.#fittingOf(by, all.limit(mostCounted), query).select((eb) =>
      eb.fn.countAll<number>().as('operations'),
    );
    const [[counted], beyond] = await this.#database.snapshot([count, all.offset(mostCounted).limit(1)]);
    return { operations: counted!.operations, atLeast: beyond.length > 0 };
  }

  async #rowsOf(found: readonly Listed[]): Promise<readonly LoanSummary[]> {
    if (found.length === 0) return [];
    const rows = await this.#database.read(
      this.#database.builder
        .selectFrom('loan')
        .innerJoin('progress', 'progress.operation', 'loan.id')
        .select(SUMMARY)
        .where(
          'loan.stream',
          'in',
          found.map(({ stream }) => stream),
        ),
    );
    const byStream = new Map(rows.map((row) => [row.stream, row]));
    return found.flatMap(({ stream }) => byStream.get(stream) ?? []);
  }
}
