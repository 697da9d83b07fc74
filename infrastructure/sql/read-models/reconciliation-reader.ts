import { sql } from 'kysely';
import type {
  NotifiedPayment,
  NotifiedPayments,
  PaymentPeriod,
} from '../../../application/ports/fund-reports.ts';
import type { SqlDatabase } from '../sql-database.ts';

interface Place {
  readonly date: string;
  readonly stream: string;
  readonly revision: number;
}

const PAGE = 5_000;

/** Pages follow an index by the place of their last row, so the last page costs what the first does. */
export class SqlNotifiedPayments implements NotifiedPayments {
  readonly #database: SqlDatabase;
  readonly #pageSize: number;

  constructor(database: SqlDatabase, pageSize: number = PAGE) {
    this.#database = database;
    this.#pageSize = pageSize;
  }

  async *within(period: PaymentPeriod): AsyncGenerator<readonly NotifiedPayment[]> {
    let reading = this.#read(period);
    for (;;) {
      const rows = await reading;
      const last = rows.length === this.#pageSize ? rows.at(-1) : undefined;
      // The engine reads the next page while this one is worked on.
      if (last) reading = this.#read(period, last);
      if (rows.length > 0) yield rows;
      if (!last) return;
    }
  }

  async operationsAmong(fundId: string, codes: readonly string[]): Promise<readonly string[]> {
    const rows = await this.#database.read(
      this.#database.builder
        .selectFrom('reconciled_operation')
        .select('code')
        .distinct()
        .where('fund_id', '=', fundId)
        .where('code', 'in', codes)
        .orderBy('code'),
    );
    return rows.map(({ code }) => code);
  }

  #read(period: PaymentPeriod, after?: Place) {
    const page = this.#database.read(this.#page(period, after));
    // A caller that stops reading early never awaits it.
    page.catch(() => undefined);
    return page;
  }

  #page({ fundId, from, to }: PaymentPeriod, after: Place | undefined) {
    let page = this.#database.builder
      .selectFrom('notified_payment as payment')
      .innerJoin('reconciled_operation as operation', 'operation.stream', 'payment.stream')
      .leftJoin('completed_repurchase as repurchase', (join) =>
        join.onRef('repurchase.stream', '=', 'payment.stream').on('payment.kind', '=', 'repurchase'),
      )
      .selectAll('payment')
      .select(['operation.code', 'repurchase.completed_at'])
      // An expression, so that no engine starts from the fund and sorts a million rows for each page.
      .where(sql<string>`coalesce(${sql.ref('operation.fund_id')}, '')`, '=', fundId)
      .where('payment.date', '>=', after?.date ?? from)
      .where('payment.date', '<=', to);
    if (after) {
      page = page.where((eb) =>
        eb(
          eb.refTuple('payment.date', 'payment.stream', 'payment.revision'),
          '>',
          eb.tuple(after.date, after.stream, after.revision),
        ),
      );
    }
    return page
      .orderBy('payment.date')
      .orderBy('payment.stream')
      .orderBy('payment.revision')
      .limit(this.#pageSize);
  }
}
