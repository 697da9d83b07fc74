import { sql } from 'kysely';
import type { NotNull } from 'kysely';
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
import type { Schema } from '../schema.ts';
import type { SqlDatabase } from '../sql-database.ts';

const orderOf = (status: string): number => AWAITING.indexOf(status as AwaitingStatus);

const COLUMNS = [
  'application_id',
  'code',
  'fund_id',
  'status',
  'acquisition_value',
  'waiting_since',
  'stream',
] as const;
type WaitingRow = Pick<Schema['loan'], (typeof COLUMNS)[number]> & { readonly waiting_since: string };

export class SqlDesk implements Desk {
  readonly #database: SqlDatabase;

  constructor(database: SqlDatabase) {
    this.#database = database;
  }

  /** Operations that wait, which indexes of their own hold. */
  #waiting() {
    return this.#database.builder.selectFrom('loan').where('waiting_since', 'is not', null);
  }

  #listed() {
    return this.#waiting()
      .select(COLUMNS)
      .$narrowType<{ waiting_since: NotNull }>()
      .orderBy('waiting_since')
      .orderBy('stream');
  }

  async waiting(): Promise<readonly WaitingGroup[]> {
    const rows = await this.#database.read(
      this.#waiting()
        .select((eb) => [
          'fund_id',
          'status',
          eb.fn.countAll<number | string>().as('operations'),
          eb.fn.sum<number | string>('acquisition_value').as('acquisition_value'),
          eb.fn.min<string>('waiting_since').as('since'),
        ])
        .groupBy(['fund_id', 'status'])
        .orderBy('fund_id'),
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

  async worklist(query: WaitingQuery): Promise<readonly PendingOperation[]> {
    const { fundId, status, limit } = query;
    if (fundId === undefined || status !== undefined)
      return (await this.#database.read(this.#page(query))).map(pendingOf);
    // The index of funds has the states one after the other, each in the order of the list.
    const pages = await this.#database.snapshot(AWAITING.map((one) => this.#page({ ...query, status: one })));
    const key = (row: WaitingRow): string => `${row.waiting_since} ${row.stream}`;
    return pages
      .flat()
      .sort((a, b) => (key(a) < key(b) ? -1 : 1))
      .slice(0, limit + 1)
      .map(pendingOf);
  }

  #page({ fundId, status, limit, after }: WaitingQuery) {
    let page = this.#listed().limit(limit + 1);
    if (fundId !== undefined) page = page.where('fund_id', '=', fundId);
    if (status !== undefined) page = page.where('status', '=', status);
    if (!after) return page;
    const place = [after.since, loanStream(after.applicationId, after.code)] as const;
    return page.where((eb) => eb(eb.refTuple('waiting_since', 'stream'), '>', eb.tuple(...place)));
  }

  async stillWaiting(operations: Parameters<Desk['stillWaiting']>[0]): Promise<readonly PendingOperation[]> {
    if (operations.length === 0) return [];
    const streams = operations.map(({ applicationId, code }) => loanStream(applicationId, code));
    const rows = await this.#database.read(this.#listed().where('stream', 'in', streams));
    return rows.map(pendingOf);
  }

  async fallingDue(from: CalendarDate, to: CalendarDate): Promise<readonly FallingDue[]> {
    const rows = await this.#database.read(
      this.#database.builder
        .selectFrom('installment')
        .innerJoin('reconciled_operation as operation', 'operation.stream', 'installment.stream')
        .select((eb) => [
          'operation.fund_id',
          eb.fn.countAll<number | string>().as('installments'),
          eb.fn.sum<number | string>('installment.face_value').as('face_value'),
        ])
        // Literals, as in the condition of the index, which holds the face value.
        .where('installment.payable', '=', sql.lit(1))
        .where('installment.status', '=', sql.lit('pending'))
        .where('installment.due_date', '>=', from)
        .where('installment.due_date', '<=', to)
        .groupBy('operation.fund_id')
        .orderBy('operation.fund_id'),
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

const pendingOf = (row: WaitingRow): PendingOperation => ({
  applicationId: row.application_id,
  code: row.code,
  fundId: row.fund_id,
  status: row.status as AwaitingStatus,
  acquisitionValue: row.acquisition_value,
  since: row.waiting_since,
});
