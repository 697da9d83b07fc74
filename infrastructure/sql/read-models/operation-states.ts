import type { NotNull } from 'kysely';
import type {
  AwaitingStatus,
  OperationStates,
  PendingOperation,
  StateCount,
} from '../../../application/ports/loan-queries.ts';
import type { SqlDatabase } from '../sql-database.ts';

export class SqlOperationStates implements OperationStates {
  readonly #database: SqlDatabase;

  constructor(database: SqlDatabase) {
    this.#database = database;
  }

  async pending({
    applicationId,
    fundId,
  }: Parameters<OperationStates['pending']>[0]): Promise<readonly PendingOperation[]> {
    let query = this.#database.builder
      .selectFrom('loan')
      .select(['application_id', 'code', 'fund_id', 'status', 'acquisition_value', 'waiting_since'])
      .where('waiting_since', 'is not', null)
      .$narrowType<{ waiting_since: NotNull }>();
    if (applicationId !== undefined) query = query.where('application_id', '=', applicationId);
    if (fundId !== undefined) query = query.where('fund_id', '=', fundId);
    const rows = await this.#database.read(query.orderBy('waiting_since').orderBy('stream'));
    return rows.map((row) => ({
      applicationId: row.application_id,
      code: row.code,
      fundId: row.fund_id,
      status: row.status as AwaitingStatus,
      acquisitionValue: row.acquisition_value,
      since: row.waiting_since,
    }));
  }

  async counts(): Promise<readonly StateCount[]> {
    const { builder } = this.#database;
    const [counted, oldest] = await this.#database.snapshot([
      builder
        .selectFrom('loan')
        .select((eb) => ['status', eb.fn.countAll<number | string>().as('operations')])
        .groupBy('status')
        .orderBy('status'),
      builder
        .selectFrom('loan')
        .select((eb) => ['status', eb.fn.min('waiting_since').as('since')])
        .where('waiting_since', 'is not', null)
        .groupBy('status'),
    ]);
    const sinceBy = new Map(oldest.map(({ status, since }) => [status, since]));
    return counted.map(({ status, operations }) => ({
      status,
      operations: Number(operations),
      oldestSince: sinceBy.get(status) ?? null,
    }));
  }

  /** Streams of the operations that came in last, but for those whose borrower was forgotten. */
  async newestWithBorrower(limit: number): Promise<readonly string[]> {
    const query = this.#database.builder
      .selectFrom('loan')
      .select('stream')
      .where('borrower', '<>', '')
      .orderBy('received_at', 'desc')
      .limit(limit);
    return (await this.#database.read(query)).map(({ stream }) => stream);
  }

  async holds(fundId: string): Promise<boolean> {
    const query = this.#database.builder
      .selectFrom('loan')
      .select('stream')
      .where('fund_id', '=', fundId)
      .limit(1);
    return (await this.#database.read(query)).length > 0;
  }
}
