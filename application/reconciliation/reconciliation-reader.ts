import { sql } from 'kysely';
import type { CalendarDate } from '../../domain/shared/calendar-date.ts';
import type { Payment } from '../../projections/loan/payment-writes.ts';
import type { SqlDatabase } from '../sql/sql-database.ts';

/** With the operation's code; amounts in integer cents. */
export type NotifiedPayment = Omit<Payment, 'installments'> & {
  readonly event_id: string;
  readonly code: string;
  /** When the administrator processed a repurchase; null before that, and for the other kinds. */
  readonly completed_at: string | null;
};

export interface PaymentPeriod {
  readonly fundId: string;
  readonly from: CalendarDate;
  readonly to: CalendarDate;
}

interface Place {
  readonly date: string;
  readonly position: number;
  readonly revision: number;
}
type Found = NotifiedPayment & Place & { readonly stream: string };

const PAGE = 5_000;
/** Each has up to 480 installments. */
const OPERATIONS_AT_ONCE = 50;

const byOperation = (one: Found, other: Found): number =>
  one.stream < other.stream ? -1 : one.stream > other.stream ? 1 : one.revision - other.revision;

/** Pages follow the payments as they lie, by the place of their last row, so the last page costs what the first does. */
export class SqlNotifiedPayments {
  readonly #database: SqlDatabase;
  readonly #pageSize: number;

  constructor(database: SqlDatabase, pageSize: number = PAGE) {
    this.#database = database;
    this.#pageSize = pageSize;
  }

  /** By date, operation and place in its stream, on every engine; a day is put in order when all of it is there. */
  async *within(period: PaymentPeriod): AsyncGenerator<readonly NotifiedPayment[]> {
    let day: Found[] = [];
    let reading = this.#read(period);
    for (;;) {
      const rows = await reading;
      const last = rows.length === this.#pageSize ? rows.at(-1) : undefined;
      // The engine reads the next page while this one is worked on.
      if (last) reading = this.#read(period, last);
      for (const row of rows) {
        if (day.length > 0 && day[0]!.date !== row.date) {
          yield* this.#pagesOf(day);
          day = [];
        }
        day.push(row);
      }
      if (last) continue;
      yield* this.#pagesOf(day);
      return;
    }
  }

  /** Whose operations of the fund these codes, at most 500, are; a code that several applications gave is left out. */
  async applicationsOf(fundId: string, codes: readonly string[]): Promise<ReadonlyMap<string, string>> {
    if (codes.length === 0) return new Map();
    const rows = await this.#database.read(
      this.#database.builder
        .selectFrom('loan')
        .select(['code', sql<string>`min(application_id)`.as('application_id')])
        .where('fund_id', '=', fundId)
        .where('code', 'in', codes)
        .groupBy('code')
        .having(sql<boolean>`count(*) = 1`),
    );
    return new Map(rows.map(({ code, application_id: id }) => [code, id]));
  }

  async operationsAmong(fundId: string, codes: readonly string[]): Promise<readonly string[]> {
    const rows = await this.#database.read(
      this.#database.builder
        .selectFrom('loan')
        .select('code')
        .distinct()
        .where('fund_id', '=', fundId)
        .where('code', 'in', codes)
        .orderBy('code'),
    );
    return rows.map(({ code }) => code);
  }

  async *installmentsOf(fundId: string, codes: readonly string[]) {
    for (let at = 0; at < codes.length; at += OPERATIONS_AT_ONCE)
      yield await this.#database.read(
        this.#database.builder
          .selectFrom('loan')
          .innerJoin('installment', 'installment.operation', 'loan.id')
          .select(['loan.code', 'installment.code as installment'])
          .where('loan.fund_id', '=', fundId)
          .where('loan.code', 'in', codes.slice(at, at + OPERATIONS_AT_ONCE)),
      );
  }

  *#pagesOf(day: Found[]): Generator<readonly NotifiedPayment[]> {
    day.sort(byOperation);
    for (let at = 0; at < day.length; at += this.#pageSize) yield day.slice(at, at + this.#pageSize);
  }

  #read(period: PaymentPeriod, after?: Place): Promise<readonly Found[]> {
    const page = this.#database.read(this.#page(period, after)) as Promise<readonly Found[]>;
    // A caller that stops reading early never awaits it.
    page.catch(() => undefined);
    return page;
  }

  #page({ fundId, from, to }: PaymentPeriod, after: Place | undefined) {
    let page = this.#database.builder
      .selectFrom('payment')
      .innerJoin('loan', 'loan.id', 'payment.operation')
      .selectAll('payment')
      .select(['loan.code', 'loan.stream'])
      .select(
        sql<string | null>`case payment.kind when 'repurchase' then loan.repurchase_completed_at end`.as(
          'completed_at',
        ),
      )
      .where('payment.fund_id', '=', fundId)
      .where('payment.date', '>=', after?.date ?? from)
      .where('payment.date', '<=', to);
    if (after) {
      page = page.where((eb) =>
        eb(
          eb.refTuple('payment.date', 'payment.position', 'payment.revision'),
          '>',
          eb.tuple(after.date, after.position, after.revision),
        ),
      );
    }
    return page
      .orderBy('payment.date')
      .orderBy('payment.position')
      .orderBy('payment.revision')
      .limit(this.#pageSize);
  }
}
