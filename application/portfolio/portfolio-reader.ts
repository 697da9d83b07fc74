import { sql } from 'kysely';
import type { ExpressionBuilder } from 'kysely';
import { EXITS, REPURCHASE_REASONS } from '../../domain/loan/exits.ts';
import type { RepurchaseEndStatus } from '../../domain/loan/exits.ts';
import type { OpenAmount } from '../../domain/curve/present-value.ts';
import type { CalendarDate } from '../../domain/shared/calendar-date.ts';
import type { InstallmentCode } from '../../domain/shared/identifiers.ts';
import type { Cents } from '../../domain/shared/money.ts';
import type { Schema } from '../sql/schema.ts';
import type { SqlDatabase } from '../sql/sql-database.ts';
import { endOfBusinessDay } from '../support/business-day.ts';

export interface PositionRequest {
  readonly fundId: string;
  readonly date: CalendarDate;
  readonly knownAt: string;
}

export interface OpenPosition {
  readonly stream: string;
  readonly dailyFactor: string;
  readonly open: readonly OpenAmount[];
}

/** Money that came in: for installments, or for an operation that left as a whole. */
export type PortfolioFlow = 'settled' | 'prepaid' | RepurchaseEndStatus;

type Operations = ExpressionBuilder<Schema, 'loan'>;
type InstallmentColumns = Pick<
  Schema['installment'],
  'operation' | 'code' | 'seq' | 'due_date' | 'face_value'
>;
type CreditColumns = Pick<Schema['installment_credit'], 'operation' | 'installment_code' | 'value' | 'date'>;

/** Operations of a page; each has up to 480 installments. */
const PAGE = 1_000;

const hasCome = (eb: Operations, { date, knownAt }: PositionRequest) =>
  eb.and([
    eb('active_recorded_at', '<=', knownAt),
    eb.or([
      eb('active_date', '<=', date),
      eb.and([eb('active_date', 'is', null), eb('active_at', '<', endOfBusinessDay(date))]),
    ]),
  ]);

const hasNotLeft = (eb: Operations, { date, knownAt }: PositionRequest) =>
  eb.or([
    eb('left_recorded_at', 'is', null),
    eb('left_recorded_at', '>', knownAt),
    eb('left_date', '>', date),
    eb.and([eb('left_date', 'is', null), eb('left_at', '>=', endOfBusinessDay(date))]),
  ]);

const amountOf = (row: InstallmentColumns, credits: readonly CreditColumns[]): OpenAmount => ({
  code: row.code as InstallmentCode,
  dueDate: row.due_date as CalendarDate,
  faceValue: row.face_value as Cents,
  credits: credits
    .filter((credit) => credit.installment_code === row.code)
    .map(({ value, date }) => ({ value, date: date as CalendarDate })),
});

const FLOW = sql<PortfolioFlow>`case payment.kind when 'settlement' then 'settled' when 'prepayment' then 'prepaid'
  else case payment.reason ${sql.join(
    REPURCHASE_REASONS.map((reason) => sql`when ${sql.lit(reason)} then ${sql.lit(EXITS[reason].status)}`),
    sql` `,
  )} end end`;
/** Money that is above a prepayment's payoff value goes back; what a settlement or a repurchase brought counts as it came. */
const NET = sql<number>`case payment.kind when 'prepayment' then payment.amount - payment.excess_value else payment.amount end`;

/** Every condition is on facts with their dates, so a day of the past is computed as the present one is. */
export class SqlPortfolioPositions {
  readonly #database: SqlDatabase;
  readonly #pageSize: number;

  constructor(database: SqlDatabase, pageSize: number = PAGE) {
    this.#database = database;
    this.#pageSize = pageSize;
  }

  /** Operations with at least one open installment, in pages, ordered by stream. */
  async *openOn(query: PositionRequest): AsyncGenerator<readonly OpenPosition[]> {
    let after = '';
    for (;;) {
      const [operations, installments, credits] = await this.#database.snapshot([
        this.#operations(query, after).select(['stream', 'daily_factor']),
        this.#installments(query, after),
        this.#credits(query, after),
      ]);
      const open = Map.groupBy(installments, ({ operation }) => operation);
      const creditsOf = Map.groupBy(credits, ({ operation }) => operation);
      const page = operations.flatMap(({ id, stream, daily_factor: dailyFactor }) => {
        const rows = open.get(id)?.toSorted((a, b) => a.seq - b.seq);
        const carried = creditsOf.get(id) ?? [];
        return rows ? [{ stream, dailyFactor, open: rows.map((row) => amountOf(row, carried)) }] : [];
      });
      if (page.length > 0) yield page;
      if (operations.length < this.#pageSize) return;
      after = operations.at(-1)!.stream;
    }
  }

  /** Of the day, and of all that was before it; amounts in integer cents, net of excess. */
  async flows(query: PositionRequest) {
    const rows = await this.#database.read(
      this.#payments(query)
        .select([
          FLOW.as('flow'),
          sql<number>`case when ${sql.ref('payment.date')} = ${query.date} then 1 else 0 end`.as('today'),
        ])
        .select((eb) => [
          eb.fn.countAll<number>().as('payments'),
          eb.fn.sum<number>('payment.installments').as('installments'),
          eb.fn.sum<number>(NET).as('amount'),
        ])
        .groupBy(['flow', 'today']),
    );
    return rows.map(({ today, ...flow }) => ({ ...flow, onDay: today === 1 }));
  }

  async receivedByMonth(query: PositionRequest) {
    const month = sql<string>`substr(${sql.ref('payment.date')}, 1, 7)`;
    return this.#database.read(
      this.#payments(query)
        .select(month.as('month'))
        .select((eb) => eb.fn.sum<number>(NET).as('amount'))
        .groupBy('month')
        .orderBy('month'),
    );
  }

  /** Known by then: a repurchase counts from its processing by the administrator on, any other payment from its own record on. */
  #payments({ fundId, date, knownAt }: PositionRequest) {
    return this.#database.builder
      .selectFrom('payment')
      .leftJoin('loan', (join) =>
        join.onRef('loan.id', '=', 'payment.operation').on('payment.kind', '=', 'repurchase'),
      )
      .where('payment.fund_id', '=', fundId)
      .where('payment.date', '<=', date)
      .where(
        sql<string>`case payment.kind when 'repurchase' then loan.left_recorded_at else payment.recorded_at end`,
        '<=',
        knownAt,
      );
  }

  #operations(query: PositionRequest, after: string) {
    return this.#database.builder
      .selectFrom('loan')
      .select('id')
      .where('fund_id', '=', query.fundId)
      .where('stream', '>', after)
      .where((eb) => eb.and([hasCome(eb, query), hasNotLeft(eb, query)]))
      .orderBy('stream')
      .limit(this.#pageSize);
  }

  #installments(query: PositionRequest, after: string) {
    return this.#database.builder
      .selectFrom(this.#operations(query, after).as('operation'))
      .innerJoin('installment', 'installment.operation', 'operation.id')
      .select(['installment.operation', 'installment.code', 'installment.seq'])
      .select(['installment.due_date', 'installment.face_value'])
      .where((eb) =>
        eb.or([
          eb('installment.settled_at', 'is', null),
          eb('installment.settled_at', '>', query.date),
          eb('installment.recorded_at', '>', query.knownAt),
        ]),
      );
  }

  #credits(query: PositionRequest, after: string) {
    return this.#database.builder
      .selectFrom(this.#operations(query, after).as('operation'))
      .innerJoin('installment_credit as credit', 'credit.operation', 'operation.id')
      .select(['credit.operation', 'credit.installment_code', 'credit.value', 'credit.date'])
      .where('credit.date', '<=', query.date)
      .where('credit.recorded_at', '<=', query.knownAt)
      .orderBy('credit.operation')
      .orderBy('credit.installment_code')
      .orderBy('credit.revision');
  }
}

export interface Standing {
  readonly stream: string;
  readonly productType: string;
  /** As `GET /loan` showed it at the end of that day; undefined where it was recorded later. */
  readonly status: string | undefined;
  /** Sealed; empty once the borrower was forgotten. */
  readonly borrower: string;
}

export const standingsOn = async (
  database: SqlDatabase,
  date: CalendarDate,
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
        .where('status_history.at', '<', endOfBusinessDay(date))
        .orderBy('status_history.revision', 'desc')
        .limit(1)
        .as('status'),
    )
    .where('stream', 'in', streams);
  const rows = await database.read(query);
  return rows.map((row) => ({ ...row, status: row.status ?? undefined }));
};
