import { sql } from 'kysely';
import type { ExpressionBuilder } from 'kysely';
import type {
  FlowTotal,
  MonthlySum,
  OpenPosition,
  PortfolioPositions,
  PositionQuery,
} from '../../../application/ports/fund-reports.ts';
import type { OpenAmount } from '../../../domain/curve/present-value.ts';
import type { CalendarDate } from '../../../domain/shared/calendar-date.ts';
import type { InstallmentCode } from '../../../domain/shared/identifiers.ts';
import type { Cents } from '../../../domain/shared/money.ts';
import type { Schema } from '../schema.ts';
import type { SqlDatabase } from '../sql-database.ts';

type Operations = ExpressionBuilder<Schema, 'portfolio_operation'>;
type InstallmentColumns = Pick<
  Schema['portfolio_installment'],
  'stream' | 'code' | 'seq' | 'due_date' | 'face_value'
>;
type CreditColumns = Pick<Schema['portfolio_credit'], 'stream' | 'installment_code' | 'value' | 'date'>;

/** Operations of a page; each has up to 480 installments. */
const PAGE = 1_000;

const hasCome = (eb: Operations, { date, endOfDay, knownAt }: PositionQuery) =>
  eb.and([
    eb('active_recorded_at', '<=', knownAt),
    eb.or([
      eb('active_date', '<=', date),
      eb.and([eb('active_date', 'is', null), eb('active_at', '<', endOfDay)]),
    ]),
  ]);

const hasNotLeft = (eb: Operations, { date, endOfDay, knownAt }: PositionQuery) =>
  eb.or([
    eb('left_recorded_at', 'is', null),
    eb('left_recorded_at', '>', knownAt),
    eb('left_date', '>', date),
    eb.and([eb('left_date', 'is', null), eb('left_at', '>=', endOfDay)]),
  ]);

const amountOf = (row: InstallmentColumns, credits: readonly CreditColumns[]): OpenAmount => ({
  code: row.code as InstallmentCode,
  dueDate: row.due_date as CalendarDate,
  faceValue: row.face_value as Cents,
  credits: credits
    .filter((credit) => credit.installment_code === row.code)
    .map(({ value, date }) => ({ value, date: date as CalendarDate })),
});

/** Every condition is on facts with their dates, so a day of the past is computed as the present one is. */
export class SqlPortfolioPositions implements PortfolioPositions {
  readonly #database: SqlDatabase;
  readonly #pageSize: number;

  constructor(database: SqlDatabase, pageSize: number = PAGE) {
    this.#database = database;
    this.#pageSize = pageSize;
  }

  async *openOn(query: PositionQuery): AsyncGenerator<readonly OpenPosition[]> {
    let after = '';
    for (;;) {
      const [operations, installments, credits] = await this.#database.snapshot([
        this.#operations(query, after).select('daily_factor'),
        this.#installments(query, after),
        this.#credits(query, after),
      ]);
      const open = Map.groupBy(installments, ({ stream }) => stream);
      const creditsOf = Map.groupBy(credits, ({ stream }) => stream);
      const page = operations.flatMap(({ stream, daily_factor: dailyFactor }) => {
        const rows = open.get(stream)?.toSorted((a, b) => a.seq - b.seq);
        const carried = creditsOf.get(stream) ?? [];
        return rows ? [{ stream, dailyFactor, open: rows.map((row) => amountOf(row, carried)) }] : [];
      });
      if (page.length > 0) yield page;
      if (operations.length < this.#pageSize) return;
      after = operations.at(-1)!.stream;
    }
  }

  async flows({ fundId, date, knownAt }: PositionQuery): Promise<readonly FlowTotal[]> {
    const rows = await this.#database.read(
      this.#database.builder
        .selectFrom('portfolio_flow as flow')
        .innerJoin('portfolio_operation as operation', 'operation.stream', 'flow.stream')
        .select([
          'flow.flow',
          sql<number>`case when ${sql.ref('flow.date')} = ${date} then 1 else 0 end`.as('today'),
        ])
        .select((eb) => [
          eb.fn.countAll<number>().as('payments'),
          eb.fn.sum<number>('flow.installments').as('installments'),
          eb.fn.sum<number>('flow.amount').as('amount'),
        ])
        .where('operation.fund_id', '=', fundId)
        .where('flow.date', '<=', date)
        .where('flow.recorded_at', '<=', knownAt)
        .groupBy(['flow.flow', 'today']),
    );
    return rows.map(({ flow, today, payments, installments, amount }) => ({
      flow,
      onDay: Number(today) === 1,
      payments: Number(payments),
      installments: Number(installments),
      amount: Number(amount),
    }));
  }

  async receivedByMonth({ fundId, date, knownAt }: PositionQuery): Promise<readonly MonthlySum[]> {
    const month = sql<string>`substr(${sql.ref('flow.date')}, 1, 7)`;
    const rows = await this.#database.read(
      this.#database.builder
        .selectFrom('portfolio_flow as flow')
        .innerJoin('portfolio_operation as operation', 'operation.stream', 'flow.stream')
        .select(month.as('month'))
        .select((eb) => eb.fn.sum<number | string>('flow.amount').as('amount'))
        .where('operation.fund_id', '=', fundId)
        .where('flow.date', '<=', date)
        .where('flow.recorded_at', '<=', knownAt)
        .groupBy('month')
        .orderBy('month'),
    );
    return rows.map((row) => ({ month: row.month, amount: Number(row.amount) }));
  }

  #operations(query: PositionQuery, after: string) {
    return this.#database.builder
      .selectFrom('portfolio_operation')
      .select('stream')
      .where('fund_id', '=', query.fundId)
      .where('stream', '>', after)
      .where((eb) => eb.and([hasCome(eb, query), hasNotLeft(eb, query)]))
      .orderBy('stream')
      .limit(this.#pageSize);
  }

  #installments(query: PositionQuery, after: string) {
    return this.#database.builder
      .selectFrom(this.#operations(query, after).as('operation'))
      .innerJoin('portfolio_installment as installment', 'installment.stream', 'operation.stream')
      .select(['installment.stream', 'installment.code', 'installment.seq'])
      .select(['installment.due_date', 'installment.face_value'])
      .where((eb) =>
        eb.or([
          eb('installment.closed_date', 'is', null),
          eb('installment.closed_date', '>', query.date),
          eb('installment.closed_recorded_at', '>', query.knownAt),
        ]),
      );
  }

  #credits(query: PositionQuery, after: string) {
    return this.#database.builder
      .selectFrom(this.#operations(query, after).as('operation'))
      .innerJoin('portfolio_credit as credit', 'credit.stream', 'operation.stream')
      .select(['credit.stream', 'credit.installment_code', 'credit.value', 'credit.date'])
      .where('credit.date', '<=', query.date)
      .where('credit.recorded_at', '<=', query.knownAt)
      .orderBy('credit.stream')
      .orderBy('credit.installment_code')
      .orderBy('credit.revision');
  }
}
