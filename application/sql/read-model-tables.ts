import type { InstallmentRow, LoanRow, ProgressRow } from '../../projections/loan/loan-rows.ts';
import type { Migration } from './migrations/migration.ts';
import { statementsOf, table } from './table.ts';
import type { ColumnsFor, RowsOf, Table } from './table.ts';

/** Rows name their operation by its stream, stored ones by its number. */
type OfOperation<Row> = Omit<Row, 'stream'> & { readonly operation: number };

/**
 * The tables of one generation, which can be thrown away and built again from the streams. `operation` in any of them is `loan.id`: the
 * place in the log of the event that brought the operation in, so that every generation of a log has the same.
 */
const TABLES = {
  projection_checkpoint: table({
    columns: {
      name: 'text',
      version: 'integer',
      /** '' is the start of the log. */
      position: 'text',
      /** The generation that serves instead; from then on, nothing is written here. */
      successor: 'integer?',
    },
    key: ['name'],
  }),
  /** What a projection could not take of an operation, and how many of its events wait by now. */
  quarantined_operation: table({
    columns: {
      projection: 'text',
      stream: 'text',
      revision: 'integer',
      event_type: 'text',
      position: 'text',
      reason: 'text',
      waiting: 'integer',
    },
    key: ['projection', 'stream'],
  }),
  /** What seldom changes of an operation; what every event changes stands in `progress`. */
  loan: table<ColumnsFor<LoanRow>>({
    columns: {
      id: 'integer',
      stream: 'text',
      application_id: 'text',
      code: 'text',
      fund_id: 'text',
      status: 'text',
      product_type: 'text',
      acquisition_value: 'integer',
      number_of_installments: 'integer',
      date_issued: 'text',
      daily_factor: 'text',
      borrower: 'text',
      received_at: 'text',
      /** When it came into a state that waits for the fund's administrator; null in any other. */
      waiting_since: 'text?',
      rejection_reasons: 'text?',
      disbursement: 'text?',
      /** JSON of the request; its completion has a column of its own. */
      repurchase: 'text?',
      repurchase_completed_at: 'text?',
      /** Beside its JSON, so that forgetting a borrower empties it without reading the row. */
      reason_detail: 'text',
      renegotiation: 'text?',
      /** The day on which the fund paid, where the administrator stated it; otherwise the day of `active_at`. */
      active_date: 'text?',
      /** When the disbursement was registered; null before it. */
      active_at: 'text?',
      active_recorded_at: 'text?',
      /**
       * Effective date of a repurchase, from its request on, or the stated day of the disbursement that replaced it; it counts once
       * `left_recorded_at` is there.
       */
      left_date: 'text?',
      /** When the disbursement of the operation that replaces it was registered; its day counts where there is no `left_date`. */
      left_at: 'text?',
      left_recorded_at: 'text?',
    },
    key: ['id'],
    unique: 'stream',
    indexes: {
      // One for each order in which lists are read without sorting: of an application, with its fund, its status, or both.
      loan_list: '(application_id, received_at, code)',
      loan_list_fund: '(application_id, fund_id, received_at, code)',
      loan_list_status: '(application_id, status, received_at, code)',
      loan_list_fund_status: '(application_id, fund_id, status, received_at, code)',
      // For searches over all applications, with what is searched for beside it.
      loan_search: '(received_at, stream, fund_id, status)',
      loan_search_fund: '(fund_id, received_at, stream, status)',
      loan_search_code: '(code, stream, fund_id, status)',
      // Only what waits for a decision, the longest wait first.
      loan_waiting: '(waiting_since, stream, status) where waiting_since is not null',
      loan_waiting_fund:
        '(fund_id, status, waiting_since, stream, acquisition_value) where waiting_since is not null',
      loan_held: '(fund_id, stream)',
    },
  }),
  /** Narrow, because every event rewrites it. */
  progress: table<ColumnsFor<OfOperation<ProgressRow>>>({
    columns: {
      operation: 'integer',
      application_id: 'text',
      code: 'text',
      received_at: 'text',
      updated_at: 'text',
      /** Revision of the last event that is in the rows of the operation. */
      version: 'integer',
      received_value: 'integer',
    },
    key: ['operation'],
    // For lists of what has changed, which would otherwise walk over everything that ever arrived.
    indexes: { progress_changed: '(application_id, updated_at, received_at, code)' },
  }),
  installment: table<ColumnsFor<OfOperation<InstallmentRow>>>({
    columns: {
      operation: 'integer',
      code: 'text',
      seq: 'integer',
      due_date: 'text',
      face_value: 'integer',
      /**
       * `pending` from its first row on, though readers are told of no status before the disbursement; `frozen` where it was pending when
       * its operation ended, so that no scheduler walks over what can no longer fall due.
       */
      status: 'text',
      /** Business date of the payment that closed it. */
      settled_at: 'text?',
      settled_value: 'integer?',
      payment_method: 'text?',
      /** When that payment was recorded. */
      recorded_at: 'text?',
    },
    key: ['operation', 'code'],
    indexes: {
      // As small as what is open or may become so, with what falls due beside the day.
      installment_due: `(due_date, operation, code, face_value) where status = 'pending'`,
      // Marking pays for it, and closing what was marked; no other settlement does.
      installment_overdue: `(operation) where status = 'overdue'`,
    },
  }),
  installment_credit: table({
    columns: {
      operation: 'integer',
      installment_code: 'text',
      revision: 'integer',
      value: 'text',
      date: 'text',
      recorded_at: 'text',
    },
    key: ['operation', 'installment_code', 'revision'],
  }),
  /**
   * Money that an integrator notified; rows never change, and those of a fund and a day come one behind the other. Amounts in integer
   * cents.
   */
  payment: table({
    columns: {
      fund_id: 'text',
      /** Business date: settled_at, prepayment_date or effective_date. */
      date: 'text',
      /** Of its event in the log; where events share one, the revision tells them apart. */
      position: 'integer',
      revision: 'integer',
      operation: 'integer',
      event_id: 'text',
      kind: 'text',
      reason: 'text?',
      installment_code: 'text?',
      amount: 'integer',
      /** What was owed: the scheduled value, the payoff value, or the calculated repurchase value. */
      owed_value: 'integer',
      /** A settlement's difference to the scheduled value, when less came in. */
      underpaid_value: 'integer',
      /** What is above the owed value. */
      excess_value: 'integer',
      /** What a prepayment lacks to pay off the installment that it reached last, or a repurchase to its calculated value. */
      shortfall_value: 'integer',
      /** Money received before a repurchase; 0 for the other kinds. */
      received_before: 'integer',
      /** Installments that it closed; 0 for a repurchase. */
      installments: 'integer',
      recorded_at: 'text',
    },
    key: ['fund_id', 'date', 'position', 'revision'],
  }),
  prepayment: table({
    columns: {
      operation: 'integer',
      revision: 'integer',
      value: 'integer',
      date: 'text',
      settled_installments: 'text',
      excess_value: 'integer',
    },
    key: ['operation', 'revision'],
  }),
  document: table({
    columns: {
      operation: 'integer',
      document_id: 'text',
      /** Of the event that brought it; `seq` is its place there. */
      revision: 'integer',
      seq: 'integer',
      type: 'text',
      value: 'text',
      sha256: 'text',
      size: 'integer',
      received_at: 'text',
    },
    key: ['operation', 'document_id'],
  }),
  status_history: table({
    columns: { operation: 'integer', revision: 'integer', status: 'text', at: 'text' },
    key: ['operation', 'revision'],
  }),
  /** Each public event, in the order of the log. Narrow, because every settlement writes one; where events share a position, revisions tell them apart. */
  feed: table({
    columns: { application_id: 'text', position: 'integer', revision: 'integer', operation: 'integer' },
    key: ['application_id', 'position', 'revision'],
  }),
  /** By stream, so that an audit and a rebuild find the rows of an operation together. Empty where the log itself finds events by their id. */
  published_event: table({
    columns: { stream: 'text', revision: 'integer', event_id: 'text' },
    key: ['stream', 'revision'],
    indexes: { published_event_id: '(event_id)' },
  }),
};

type Tables = typeof TABLES;

export type ReadModelTables = RowsOf<Tables>;

const BOOKKEEPING: ReadonlySet<string> = new Set(['projection_checkpoint', 'quarantined_operation']);

export const READ_MODEL_NAMES: readonly string[] = Object.keys(TABLES).filter(
  (name) => !BOOKKEEPING.has(name),
);

export const columnsOf = <Name extends keyof Tables>(name: Name) =>
  Object.keys(TABLES[name].columns) as (keyof Tables[Name]['columns'])[];

/** The primary key of a table of a read model, in its order. @throws RangeError for any other table */
export const keyOf = (name: string): readonly string[] => {
  if (!READ_MODEL_NAMES.includes(name)) throw new RangeError(`${name} is no table of a read model`);
  return TABLES[name as keyof Tables].key;
};

/** The column that names the operation of a row, in the table `loan` and in those that name streams too. */
export const operationColumn = (name: string): 'id' | 'operation' | 'stream' =>
  name === 'loan' ? 'id' : 'operation' in TABLES[name as keyof Tables].columns ? 'operation' : 'stream';

/** Makes them all; what is built again needs no step from one shape to the next. */
export const readModelMigrations: readonly Migration[] = [
  {
    id: 'read-model-tables',
    statements: (dialect) =>
      Object.entries<Table>(TABLES).flatMap(([name, definition]) => statementsOf(name, definition, dialect)),
  },
];
