import type { Migration } from './migrate.ts';

/** The tables of one generation: they can be thrown away and built again from the streams. */
export const readModelMigrations: readonly Migration[] = [
  {
    id: 'read-model-001-checkpoint',
    statements: ({ text, integer, clustered }) => [
      `create table projection_checkpoint (
        name ${text} not null primary key,
        version ${integer} not null,
        position ${text} not null
      )${clustered}`,
    ],
  },
  // One index for each order in which lists are read without sorting: of an application, with its fund, its status, or both.
  {
    id: 'read-model-002-loan',
    statements: ({ text, integer, strict }) => [
      `create table loan (
        stream ${text} not null primary key,
        application_id ${text} not null,
        code ${text} not null,
        fund_id ${text} not null,
        status ${text} not null,
        product_type ${text} not null,
        acquisition_value ${integer} not null,
        number_of_installments ${integer} not null,
        date_issued ${text} not null,
        daily_factor ${text} not null,
        borrower ${text} not null,
        received_at ${text} not null,
        updated_at ${text} not null,
        received_value ${integer} not null,
        rejection_reasons ${text},
        repurchase ${text},
        repurchase_completed_at ${text},
        renegotiation ${text},
        version ${integer} not null
      )${strict}`,
      'create index loan_list on loan (application_id, received_at, code)',
      'create index loan_list_fund on loan (application_id, fund_id, received_at, code)',
      'create index loan_list_status on loan (application_id, status, received_at, code)',
      'create index loan_list_fund_status on loan (application_id, fund_id, status, received_at, code)',
    ],
  },
  // Rows of one operation lie together, so that reading an operation reads few pages.
  {
    id: 'read-model-003-loan-parts',
    statements: ({ text, integer, clustered, either }) => [
      `create table installment (
        stream ${text} not null,
        code ${text} not null,
        seq ${integer} not null,
        due_date ${text} not null,
        face_value ${integer} not null,
        status ${text},
        settled_at ${text},
        settled_value ${integer},
        payment_method ${text},
        payable ${integer} not null,
        primary key (stream, code)
      )${clustered}`,
      // Holds only what can still fall due, so it stays as small as the open part of the portfolio. PostgreSQL does not append the
      // primary key to an index, so the order of the pages is spelled out there.
      either({
        sqlite: `create index installment_due on installment (due_date) where payable = 1 and status = 'pending'`,
        postgres: `create index installment_due on installment (due_date, stream, code)
        where payable = 1 and status = 'pending'`,
      }),
      `create table installment_credit (
        stream ${text} not null,
        installment_code ${text} not null,
        revision ${integer} not null,
        value ${text} not null,
        date ${text} not null,
        primary key (stream, installment_code, revision)
      )${clustered}`,
      `create table document (
        stream ${text} not null,
        document_id ${text} not null,
        revision ${integer} not null,
        seq ${integer} not null,
        type ${text} not null,
        value ${text} not null,
        sha256 ${text} not null,
        size ${integer} not null,
        received_at ${text} not null,
        primary key (stream, document_id)
      )${clustered}`,
      `create table status_history (
        stream ${text} not null,
        revision ${integer} not null,
        status ${text} not null,
        at ${text} not null,
        primary key (stream, revision)
      )${clustered}`,
    ],
  },
  // Payments lie in the order in which a statement is compared with them: a million of them is read without looking one up.
  {
    id: 'reconciliation-001-notified-payments',
    statements: ({ text, integer, clustered }) => [
      `create table reconciled_operation (
        stream ${text} not null primary key,
        application_id ${text} not null,
        code ${text} not null,
        fund_id ${text} not null
      )${clustered}`,
      `create table notified_payment (
        stream ${text} not null,
        revision ${integer} not null,
        event_id ${text} not null,
        kind ${text} not null,
        reason ${text},
        installment_code ${text},
        date ${text} not null,
        amount ${integer} not null,
        owed_value ${integer} not null,
        underpaid_value ${integer} not null,
        excess_value ${integer} not null,
        shortfall_value ${integer} not null,
        received_before ${integer} not null,
        recorded_at ${text} not null,
        primary key (date, stream, revision)
      )${clustered}`,
      'create index reconciled_operation_code on reconciled_operation (fund_id, code)',
      `create table completed_repurchase (
        stream ${text} not null primary key,
        completed_at ${text} not null
      )${clustered}`,
    ],
  },
  {
    id: 'portfolio-001-operations',
    statements: ({ text, integer, clustered }) => [
      `create table portfolio_operation (
        stream ${text} not null primary key,
        application_id ${text} not null,
        code ${text} not null,
        fund_id ${text} not null,
        daily_factor ${text} not null,
        active_date ${text},
        active_at ${text},
        active_recorded_at ${text},
        left_date ${text},
        left_at ${text},
        left_recorded_at ${text}
      )${clustered}`,
      'create index portfolio_operation_fund on portfolio_operation (fund_id, stream)',
      'create index portfolio_operation_code on portfolio_operation (application_id, code)',
      `create table portfolio_installment (
        stream ${text} not null,
        code ${text} not null,
        seq ${integer} not null,
        due_date ${text} not null,
        face_value ${integer} not null,
        closed_date ${text},
        closed_recorded_at ${text},
        primary key (stream, code)
      )${clustered}`,
    ],
  },
  {
    id: 'portfolio-002-money',
    statements: ({ text, integer, clustered }) => [
      `create table portfolio_credit (
        stream ${text} not null,
        installment_code ${text} not null,
        revision ${integer} not null,
        value ${text} not null,
        date ${text} not null,
        recorded_at ${text} not null,
        primary key (stream, installment_code, revision)
      )${clustered}`,
      `create table portfolio_flow (
        stream ${text} not null,
        revision ${integer} not null,
        flow ${text} not null,
        date ${text} not null,
        amount ${integer} not null,
        installments ${integer} not null,
        recorded_at ${text},
        primary key (stream, revision)
      )${clustered}`,
    ],
  },
  // Remarks of repurchases stand beside their JSON, so that forgetting a borrower empties them without reading the row.
  {
    id: 'read-model-011-remarks',
    statements: ({ text }) => [`alter table loan add column reason_detail ${text} not null default ''`],
  },
  {
    id: 'read-model-012-successor',
    statements: ({ integer }) => [`alter table projection_checkpoint add column successor ${integer}`],
  },
  // What the fund paid, and what was paid to it in advance.
  {
    id: 'read-model-013-money-moved',
    statements: ({ text, integer, clustered }) => [
      `alter table loan add column disbursement ${text}`,
      `create table prepayment (
        stream ${text} not null,
        revision ${integer} not null,
        value ${integer} not null,
        date ${text} not null,
        settled_installments ${text} not null,
        excess_value ${integer} not null,
        primary key (stream, revision)
      )${clustered}`,
    ],
  },
  // For lists of what has changed, which would otherwise walk over everything that ever arrived.
  {
    id: 'read-model-014-changed-loans',
    statements: () => ['create index loan_changed on loan (application_id, updated_at, received_at, code)'],
  },
  {
    id: 'read-model-015-quarantine',
    statements: ({ text, integer, clustered }) => [
      `create table quarantined_operation (
        projection ${text} not null,
        stream ${text} not null,
        revision ${integer} not null,
        event_type ${text} not null,
        position ${text} not null,
        reason ${text} not null,
        waiting ${integer} not null,
        primary key (projection, stream)
      )${clustered}`,
    ],
  },
  // For searches over all applications: in the order of arrival or of codes, with what is searched for beside it.
  {
    id: 'read-model-016-searched-loans',
    statements: () => [
      'create index loan_search on loan (received_at, stream, fund_id, status)',
      'create index loan_search_fund on loan (fund_id, received_at, stream, status)',
      'create index loan_search_code on loan (code, stream, fund_id, status)',
    ],
  },
  // Holds only what waits for a decision, the longest wait first.
  {
    id: 'read-model-017-waiting-loans',
    statements: ({ text }) => [
      `alter table loan add column waiting_since ${text}`,
      `create index loan_waiting on loan (waiting_since, stream, status) where waiting_since is not null`,
      `create index loan_waiting_fund on loan (fund_id, status, waiting_since, stream, acquisition_value)
        where waiting_since is not null`,
    ],
  },
  // With what falls due beside the day, so that it is summed without looking installments up.
  {
    id: 'read-model-018-value-falling-due',
    statements: () => [
      'drop index installment_due',
      `create index installment_due on installment (due_date, stream, code, face_value)
        where payable = 1 and status = 'pending'`,
    ],
  },
  // By stream, so that an audit and a rebuild find the rows of an operation together. Empty where the log itself finds events by their id.
  {
    id: 'read-model-019-published-events',
    statements: ({ text, integer, clustered }) => [
      `create table published_event (
        stream ${text} not null,
        revision ${integer} not null,
        event_id ${text} not null,
        primary key (stream, revision)
      )${clustered}`,
      'create index published_event_id on published_event (event_id)',
    ],
  },
];
