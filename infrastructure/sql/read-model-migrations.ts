import { fundSideMigrations } from './fund-side-migrations.ts';
import type { Migration } from './migration.ts';

const projectionCheckpoint: Migration = {
  id: 'read-model-001-checkpoint',
  statements: {
    sqlite: [
      `create table projection_checkpoint (
        name text not null primary key,
        version integer not null,
        position text not null
      ) strict, without rowid`,
    ],
    postgres: [
      `create table projection_checkpoint (
        name text collate "C" not null primary key,
        version bigint not null,
        position text collate "C" not null
      )`,
    ],
  },
};

/** Lists walk one of four orders without sorting: all of an application, of a fund, in a status, or both. */
const loans: Migration = {
  id: 'read-model-002-loan',
  statements: {
    sqlite: [
      `create table loan (
        stream text not null primary key,
        application_id text not null,
        code text not null,
        fund_id text not null,
        status text not null,
        product_type text not null,
        acquisition_value integer not null,
        number_of_installments integer not null,
        date_issued text not null,
        daily_factor text not null,
        borrower text not null,
        received_at text not null,
        updated_at text not null,
        received_value integer not null,
        rejection_reasons text,
        repurchase text,
        repurchase_completed_at text,
        renegotiation text,
        version integer not null
      ) strict`,
      'create index loan_list on loan (application_id, received_at, code)',
      'create index loan_list_fund on loan (application_id, fund_id, received_at, code)',
      'create index loan_list_status on loan (application_id, status, received_at, code)',
      'create index loan_list_fund_status on loan (application_id, fund_id, status, received_at, code)',
    ],
    postgres: [
      `create table loan (
        stream text collate "C" not null primary key,
        application_id text collate "C" not null,
        code text collate "C" not null,
        fund_id text collate "C" not null,
        status text collate "C" not null,
        product_type text collate "C" not null,
        acquisition_value bigint not null,
        number_of_installments bigint not null,
        date_issued text collate "C" not null,
        daily_factor text collate "C" not null,
        borrower text collate "C" not null,
        received_at text collate "C" not null,
        updated_at text collate "C" not null,
        received_value bigint not null,
        rejection_reasons text collate "C",
        repurchase text collate "C",
        repurchase_completed_at text collate "C",
        renegotiation text collate "C",
        version bigint not null
      )`,
      'create index loan_list on loan (application_id, received_at, code)',
      'create index loan_list_fund on loan (application_id, fund_id, received_at, code)',
      'create index loan_list_status on loan (application_id, status, received_at, code)',
      'create index loan_list_fund_status on loan (application_id, fund_id, status, received_at, code)',
    ],
  },
};

/** Rows of one operation lie together, so that reading an operation reads few pages. */
const partsOfLoans: Migration = {
  id: 'read-model-003-loan-parts',
  statements: {
    sqlite: [
      `create table installment (
        stream text not null,
        code text not null,
        seq integer not null,
        due_date text not null,
        face_value integer not null,
        status text,
        settled_at text,
        settled_value integer,
        payment_method text,
        payable integer not null,
        primary key (stream, code)
      ) strict, without rowid`,
      // Holds what can still fall due and nothing else: it stays as small as the open part of the portfolio.
      `create index installment_due on installment (due_date) where payable = 1 and status = 'pending'`,
      `create table installment_credit (
        stream text not null,
        installment_code text not null,
        revision integer not null,
        value text not null,
        date text not null,
        primary key (stream, installment_code, revision)
      ) strict, without rowid`,
      `create table document (
        stream text not null,
        document_id text not null,
        revision integer not null,
        seq integer not null,
        type text not null,
        value text not null,
        sha256 text not null,
        size integer not null,
        received_at text not null,
        primary key (stream, document_id)
      ) strict, without rowid`,
      `create table status_history (
        stream text not null,
        revision integer not null,
        status text not null,
        at text not null,
        primary key (stream, revision)
      ) strict, without rowid`,
    ],
    postgres: [
      `create table installment (
        stream text collate "C" not null,
        code text collate "C" not null,
        seq bigint not null,
        due_date text collate "C" not null,
        face_value bigint not null,
        status text collate "C",
        settled_at text collate "C",
        settled_value bigint,
        payment_method text collate "C",
        payable bigint not null,
        primary key (stream, code)
      )`,
      // No table here ends an index in its own key, so the order of the pages is spelled out.
      `create index installment_due on installment (due_date, stream, code)
        where payable = 1 and status = 'pending'`,
      `create table installment_credit (
        stream text collate "C" not null,
        installment_code text collate "C" not null,
        revision bigint not null,
        value text collate "C" not null,
        date text collate "C" not null,
        primary key (stream, installment_code, revision)
      )`,
      `create table document (
        stream text collate "C" not null,
        document_id text collate "C" not null,
        revision bigint not null,
        seq bigint not null,
        type text collate "C" not null,
        value text collate "C" not null,
        sha256 text collate "C" not null,
        size bigint not null,
        received_at text collate "C" not null,
        primary key (stream, document_id)
      )`,
      `create table status_history (
        stream text collate "C" not null,
        revision bigint not null,
        status text collate "C" not null,
        at text collate "C" not null,
        primary key (stream, revision)
      )`,
    ],
  },
};

/** Remarks of repurchases stand beside their JSON, because forgetting a borrower empties them without reading the row. */
const remarks: Migration = {
  id: 'read-model-011-remarks',
  statements: {
    sqlite: [`alter table loan add column reason_detail text not null default ''`],
    postgres: [`alter table loan add column reason_detail text collate "C" not null default ''`],
  },
};

const successor: Migration = {
  id: 'read-model-012-successor',
  statements: {
    sqlite: ['alter table projection_checkpoint add column successor integer'],
    postgres: ['alter table projection_checkpoint add column successor bigint'],
  },
};

/** What the fund paid, and what was paid to it in advance. */
const moneyMoved: Migration = {
  id: 'read-model-013-money-moved',
  statements: {
    sqlite: [
      'alter table loan add column disbursement text',
      `create table prepayment (
        stream text not null,
        revision integer not null,
        value integer not null,
        date text not null,
        settled_installments text not null,
        excess_value integer not null,
        primary key (stream, revision)
      ) strict, without rowid`,
    ],
    postgres: [
      'alter table loan add column disbursement text collate "C"',
      `create table prepayment (
        stream text collate "C" not null,
        revision bigint not null,
        value bigint not null,
        date text collate "C" not null,
        settled_installments text collate "C" not null,
        excess_value bigint not null,
        primary key (stream, revision)
      )`,
    ],
  },
};

/** The daily question for what changed looks here instead of walking over everything that ever arrived. */
const changedLoans: Migration = {
  id: 'read-model-014-changed-loans',
  statements: {
    sqlite: ['create index loan_changed on loan (application_id, updated_at, received_at, code)'],
    postgres: ['create index loan_changed on loan (application_id, updated_at, received_at, code)'],
  },
};

const quarantine: Migration = {
  id: 'read-model-015-quarantine',
  statements: {
    sqlite: [
      `create table quarantined_operation (
        projection text not null,
        stream text not null,
        revision integer not null,
        event_type text not null,
        position text not null,
        reason text not null,
        waiting integer not null,
        primary key (projection, stream)
      ) strict, without rowid`,
    ],
    postgres: [
      `create table quarantined_operation (
        projection text collate "C" not null,
        stream text collate "C" not null,
        revision bigint not null,
        event_type text collate "C" not null,
        position text collate "C" not null,
        reason text collate "C" not null,
        waiting bigint not null,
        primary key (projection, stream)
      )`,
    ],
  },
};

/** What can be thrown away and built again from the streams: the tables of one generation. */
export const readModelMigrations: readonly Migration[] = [
  projectionCheckpoint,
  loans,
  partsOfLoans,
  ...fundSideMigrations,
  remarks,
  successor,
  moneyMoved,
  changedLoans,
  quarantine,
];
