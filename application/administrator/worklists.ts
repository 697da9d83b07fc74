import { sql } from 'kysely';
import type { NotNull } from 'kysely';
import { loanStream } from '../command-handling/operation.ts';
import type { OperationPlace } from '../command-handling/operation.ts';
import { overdueIn } from './overdue.ts';
import type { Overdue } from './overdue.ts';
import { WAITING_STATUSES } from '../../domain/loan/statuses.ts';
import type { WaitingStatus } from '../../domain/loan/statuses.ts';
import type { CalendarDate } from '../../domain/shared/calendar-date.ts';
import type { PaymentKind } from '../../projections/loan/payment-writes.ts';
import type { SqlDatabase } from '../sql/sql-database.ts';

export interface PendingOperation extends OperationPlace {
  readonly fundId: string;
  readonly status: WaitingStatus;
  /** In cents. */
  readonly acquisitionValue: number;
  readonly since: string;
}

export interface WaitingGroup {
  readonly fundId: string;
  readonly status: WaitingStatus;
  readonly operations: number;
  /** When the first of them came into this state, ISO 8601 UTC. */
  readonly oldestSince: string;
  /** In cents. */
  readonly acquisitionValue: number;
}

export interface WaitingPlace extends OperationPlace {
  readonly since: string;
}

interface WaitingQuery {
  readonly fundId?: string;
  readonly status?: WaitingStatus;
  readonly limit: number;
  readonly after?: WaitingPlace;
}

interface PendingQuery {
  readonly applicationId?: string | undefined;
  readonly fundId?: string | undefined;
}

export interface FallingDue {
  readonly fundId: string;
  readonly day: string;
  readonly installments: number;
  /** Face values in cents, without what prepayments left on them. */
  readonly faceValue: number;
}

export interface NotifiedSum {
  readonly fundId: string;
  readonly day: string;
  readonly kind: PaymentKind;
  readonly payments: number;
  /** In cents. */
  readonly amount: number;
}

const orderOf = (status: string): number => WAITING_STATUSES.indexOf(status as WaitingStatus);

const COLUMNS = [
  ...(['application_id as applicationId', 'code', 'fund_id as fundId', 'status'] as const),
  ...(['acquisition_value as acquisitionValue', 'waiting_since as since', 'stream'] as const),
] as const;
type WaitingRow = Omit<PendingOperation, 'status'> & { readonly status: string; readonly stream: string };

/** Payments lie by fund, so one fund after the other is looked up there: as many steps as there are funds. */
const FUNDS_WITH_PAYMENTS = sql<{ id: string }>`(with recursive fund(id) as (
  select min(fund_id) from payment
  union all select (select min(fund_id) from payment where fund_id > fund.id) from fund where fund.id is not null
) select id from fund where id is not null)`;

export class Worklists {
  readonly #database: SqlDatabase;
  readonly #fundIds: readonly string[] | undefined;

  /** @param fundIds of these funds alone, at least one; default: of all */
  constructor(database: SqlDatabase, fundIds?: readonly string[]) {
    this.#database = database;
    this.#fundIds = fundIds;
  }

  of(fundIds: readonly string[] | undefined): Worklists {
    return fundIds === undefined ? this : new Worklists(this.#database, fundIds);
  }

  #waiting() {
    const fundIds = this.#fundIds;
    return this.#database.builder
      .selectFrom('loan')
      .where('waiting_since', 'is not', null)
      .$if(fundIds !== undefined, (q) => q.where('fund_id', 'in', fundIds!));
  }

  #listed() {
    return this.#waiting()
      .select(COLUMNS)
      .$narrowType<{ since: NotNull }>()
      .orderBy('waiting_since')
      .orderBy('stream');
  }

  async waiting(): Promise<readonly WaitingGroup[]> {
    const rows = await this.#database.read(
      this.#waiting()
        .select((eb) => [
          ...(['fund_id as fundId', 'status'] as const),
          eb.fn.countAll<number>().as('operations'),
          eb.fn.min<string>('waiting_since').as('oldestSince'),
          eb.fn.sum<number>('acquisition_value').as('acquisitionValue'),
        ])
        .groupBy(['fund_id', 'status'])
        .orderBy('fund_id'),
    );
    return rows
      .map((row) => ({ ...row, status: row.status as WaitingStatus }))
      .sort((a, b) => a.fundId.localeCompare(b.fundId) || orderOf(a.status) - orderOf(b.status));
  }

  /** Operations that wait for a decision, the longest wait first; one more than `limit` where there are more. */
  async worklist(query: WaitingQuery): Promise<readonly PendingOperation[]> {
    const { fundId, status, limit } = query;
    const funds = fundId === undefined ? this.#fundIds : [fundId];
    if (funds === undefined || (status !== undefined && funds.length === 1))
      return (await this.#database.read(this.#page(query))).map(pendingOf);
    // The index of funds has the states one after the other, each in the order of the list.
    const states = status === undefined ? WAITING_STATUSES : [status];
    const pages = await this.#database.snapshot(
      funds.flatMap((one) => states.map((state) => this.#page({ ...query, fundId: one, status: state }))),
    );
    const key = (row: WaitingRow): string => `${row.since} ${row.stream}`;
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

  async pending({ applicationId, fundId }: PendingQuery): Promise<readonly PendingOperation[]> {
    // With its states, what waits is found by them: a fund or an application has many more operations than wait.
    let all = this.#listed().where('status', 'in', WAITING_STATUSES);
    if (applicationId !== undefined) all = all.where('application_id', '=', applicationId);
    if (fundId !== undefined) all = all.where('fund_id', '=', fundId);
    return (await this.#database.read(all)).map(pendingOf);
  }

  async stillWaiting(operations: readonly OperationPlace[]): Promise<readonly PendingOperation[]> {
    if (operations.length === 0) return [];
    const streams = operations.map(({ applicationId, code }) => loanStream(applicationId, code));
    const rows = await this.#database.read(this.#listed().where('stream', 'in', streams));
    return rows.map(pendingOf);
  }

  /** Due on these days, both inclusive, by fund and day. */
  async fallingDue(from: CalendarDate, to: CalendarDate): Promise<readonly FallingDue[]> {
    const fundIds = this.#fundIds;
    return this.#database.read(
      this.#database.builder
        .selectFrom('installment')
        // From the few days to their operations, in this order: of one fund, too, there are more operations than fall due.
        .crossJoin('loan')
        .whereRef('loan.id', '=', 'installment.operation')
        .select((eb) => [
          ...(['loan.fund_id as fundId', 'installment.due_date as day'] as const),
          eb.fn.countAll<number>().as('installments'),
          eb.fn.sum<number>('installment.face_value').as('faceValue'),
        ])
        .where('loan.active_at', 'is not', null)
        // A literal, as in the condition of the index, which holds the face value.
        .where('installment.status', '=', sql.lit('pending'))
        .where('installment.due_date', '>=', from)
        .where('installment.due_date', '<=', to)
        .$if(fundIds !== undefined, (q) => q.where('loan.fund_id', 'in', fundIds!))
        .groupBy(['loan.fund_id', 'installment.due_date'])
        .orderBy('loan.fund_id')
        .orderBy('installment.due_date'),
    );
  }

  overdue(today: CalendarDate): Promise<Overdue> {
    return overdueIn(this.#database, this.#fundIds, today);
  }

  async notified(from: CalendarDate, to: CalendarDate): Promise<readonly NotifiedSum[]> {
    const fundIds = this.#fundIds;
    const rows = await this.#database.read(
      this.#database.builder
        .selectFrom(FUNDS_WITH_PAYMENTS.as('fund'))
        .innerJoin('payment', 'payment.fund_id', 'fund.id')
        .select((eb) => [
          ...(['payment.fund_id as fundId', 'payment.date as day', 'payment.kind'] as const),
          eb.fn.countAll<number>().as('payments'),
          eb.fn.sum<number>('payment.amount').as('amount'),
        ])
        .where('payment.date', '>=', from)
        .where('payment.date', '<=', to)
        .$if(fundIds !== undefined, (q) => q.where('payment.fund_id', 'in', fundIds!))
        .groupBy(['payment.fund_id', 'payment.date', 'payment.kind'])
        .orderBy('payment.fund_id')
        .orderBy('payment.date')
        .orderBy('payment.kind'),
    );
    return rows.map((row) => ({ ...row, kind: row.kind as PaymentKind }));
  }
}

const pendingOf = ({ stream: _, ...row }: WaitingRow): PendingOperation => ({
  ...row,
  status: row.status as WaitingStatus,
});
