import { sql } from 'kysely';
import { loanStream } from '../../../application/command-handling/operation.ts';
import type {
  Desk,
  FallingDue,
  NotifiedSum,
  WaitingGroup,
  WaitingQuery,
} from '../../../application/ports/desk.ts';
import { AWAITING } from '../../../application/ports/loan-queries.ts';
import type { AwaitingStatus, PendingOperation } from '../../../application/ports/loan-queries.ts';
import type { CalendarDate } from '../../../domain/shared/calendar-date.ts';
import type { SqlDatabase } from '../sql-database.ts';
import { sinceOf } from './operation-states.ts';

const orderOf = (status: string): number => AWAITING.indexOf(status as AwaitingStatus);

export class SqlDesk implements Desk {
  readonly #database: SqlDatabase;

  constructor(database: SqlDatabase) {
    this.#database = database;
  }

  /** Operations that wait, each with the instant since when; every one of them has it. */
  #waiting() {
    const { builder } = this.#database;
    return builder
      .selectFrom('loan')
      .select(['application_id', 'code', 'fund_id', 'status', 'acquisition_value', 'stream'])
      .select((eb) => eb.fn.coalesce(sinceOf(eb), 'received_at').as('since'))
      .where('status', 'in', AWAITING);
  }

  async waiting(): Promise<readonly WaitingGroup[]> {
    const rows = await this.#database.read(
      this.#database.builder
        .selectFrom(this.#waiting().as('waiting'))
        .select((eb) => [
          'waiting.fund_id',
          'waiting.status',
          eb.fn.countAll<number | string>().as('operations'),
          eb.fn.sum<number | string>('waiting.acquisition_value').as('acquisition_value'),
          eb.fn.min('waiting.since').as('since'),
        ])
        .groupBy(['waiting.fund_id', 'waiting.status'])
        .orderBy('waiting.fund_id'),
    );
    return rows
      .map((row) => ({
        fundId: row.fund_id,
        status: row.status as AwaitingStatus,
        operations: Number(row.operations),
        oldestSince: row.since,
        acquisitionValue: Number(row.acquisition_value),
      }))
      .sort((a, b) => a.fundId.localeCompare(b.fundId) || orderOf(a.status) - orderOf(b.status));
  }

  async worklist({ fundId, status, limit, after }: WaitingQuery): Promise<readonly PendingOperation[]> {
    let waiting = this.#waiting();
    if (fundId !== undefined) waiting = waiting.where('fund_id', '=', fundId);
    if (status !== undefined) waiting = waiting.where('status', '=', status);
    let page = this.#database.builder.selectFrom(waiting.as('waiting')).selectAll();
    if (after) {
      const stream = loanStream(after.applicationId, after.code);
      page = page.where((eb) =>
        eb(eb.refTuple('waiting.since', 'waiting.stream'), '>', eb.tuple(after.since, stream)),
      );
    }
    const rows = await this.#database.read(
      page
        .orderBy('waiting.since')
        .orderBy('waiting.stream')
        .limit(limit + 1),
    );
    return rows.map(pendingOf);
  }

  async stillWaiting(operations: Parameters<Desk['stillWaiting']>[0]): Promise<readonly PendingOperation[]> {
    if (operations.length === 0) return [];
    const streams = operations.map(({ applicationId, code }) => loanStream(applicationId, code));
    const rows = await this.#database.read(
      this.#waiting().where('stream', 'in', streams).orderBy('since').orderBy('stream'),
    );
    return rows.map(pendingOf);
  }

  async fallingDue(from: CalendarDate, to: CalendarDate): Promise<readonly FallingDue[]> {
    const rows = await this.#database.read(
      this.#database.builder
        .selectFrom('installment')
        .innerJoin('loan', 'loan.stream', 'installment.stream')
        .select((eb) => [
          'loan.fund_id',
          eb.fn.countAll<number | string>().as('installments'),
          eb.fn.sum<number | string>('installment.face_value').as('face_value'),
        ])
        // Literals, as in the condition of the index.
        .where('installment.payable', '=', sql.lit(1))
        .where('installment.status', '=', sql.lit('pending'))
        .where('installment.due_date', '>=', from)
        .where('installment.due_date', '<=', to)
        .groupBy('loan.fund_id')
        .orderBy('loan.fund_id'),
    );
    return rows.map((row) => ({
      fundId: row.fund_id,
      installments: Number(row.installments),
      faceValue: Number(row.face_value),
    }));
  }

  async notified(from: CalendarDate, to: CalendarDate): Promise<readonly NotifiedSum[]> {
    const rows = await this.#database.read(
      this.#database.builder
        .selectFrom('notified_payment as payment')
        .innerJoin('reconciled_operation as operation', 'operation.stream', 'payment.stream')
        .select((eb) => [
          'operation.fund_id',
          'payment.kind',
          eb.fn.countAll<number | string>().as('payments'),
          eb.fn.sum<number | string>('payment.amount').as('amount'),
        ])
        .where('payment.date', '>=', from)
        .where('payment.date', '<=', to)
        .groupBy(['operation.fund_id', 'payment.kind'])
        .orderBy('operation.fund_id')
        .orderBy('payment.kind'),
    );
    return rows.map((row) => ({
      fundId: row.fund_id,
      kind: row.kind,
      payments: Number(row.payments),
      amount: Number(row.amount),
    }));
  }
}

interface WaitingRow {
  readonly application_id: string;
  readonly code: string;
  readonly fund_id: string;
  readonly status: string;
  readonly acquisition_value: number;
  readonly since: string;
}

const pendingOf = (row: WaitingRow): PendingOperation => ({
  applicationId: row.application_id,
  code: row.code,
  fundId: row.fund_id,
  status: row.status as AwaitingStatus,
  acquisitionValue: row.acquisition_value,
  since: row.since,
});
