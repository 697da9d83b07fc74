import type { Migration } from './migration.ts';

/** Payments lie in the order in which a statement is compared with them: a million of them is read without looking one up. */
const reconciliation: Migration = {
  id: 'reconciliation-001-notified-payments',
  statements: {
    sqlite: [
      `create table reconciled_operation (
        stream text not null primary key,
        application_id text not null,
        code text not null,
        fund_id text not null
      ) strict, without rowid`,
      `create table notified_payment (
        stream text not null,
        revision integer not null,
        event_id text not null,
        kind text not null,
        reason text,
        installment_code text,
        date text not null,
        amount integer not null,
        owed_value integer not null,
        underpaid_value integer not null,
        excess_value integer not null,
        shortfall_value integer not null,
        received_before integer not null,
        recorded_at text not null,
        primary key (date, stream, revision)
      ) strict, without rowid`,
      'create index reconciled_operation_code on reconciled_operation (fund_id, code)',
      `create table completed_repurchase (
        stream text not null primary key,
        completed_at text not null
      ) strict, without rowid`,
    ],
    postgres: [
      `create table reconciled_operation (
        stream text collate "C" not null primary key,
        application_id text collate "C" not null,
        code text collate "C" not null,
        fund_id text collate "C" not null
      )`,
      `create table notified_payment (
        stream text collate "C" not null,
        revision bigint not null,
        event_id text collate "C" not null,
        kind text collate "C" not null,
        reason text collate "C",
        installment_code text collate "C",
        date text collate "C" not null,
        amount bigint not null,
        owed_value bigint not null,
        underpaid_value bigint not null,
        excess_value bigint not null,
        shortfall_value bigint not null,
        received_before bigint not null,
        recorded_at text collate "C" not null,
        primary key (date, stream, revision)
      )`,
      'create index reconciled_operation_code on reconciled_operation (fund_id, code)',
      `create table completed_repurchase (
        stream text collate "C" not null primary key,
        completed_at text collate "C" not null
      )`,
    ],
  },
};

const portfolioOperations: Migration = {
  id: 'portfolio-001-operations',
  statements: {
    sqlite: [
      `create table portfolio_operation (
        stream text not null primary key,
        application_id text not null,
        code text not null,
        fund_id text not null,
        daily_factor text not null,
        active_date text,
        active_at text,
        active_recorded_at text,
        left_date text,
        left_at text,
        left_recorded_at text
      ) strict, without rowid`,
      'create index portfolio_operation_fund on portfolio_operation (fund_id, stream)',
      'create index portfolio_operation_code on portfolio_operation (application_id, code)',
      `create table portfolio_installment (
        stream text not null,
        code text not null,
        seq integer not null,
        due_date text not null,
        face_value integer not null,
        closed_date text,
        closed_recorded_at text,
        primary key (stream, code)
      ) strict, without rowid`,
    ],
    postgres: [
      `create table portfolio_operation (
        stream text collate "C" not null primary key,
        application_id text collate "C" not null,
        code text collate "C" not null,
        fund_id text collate "C" not null,
        daily_factor text collate "C" not null,
        active_date text collate "C",
        active_at text collate "C",
        active_recorded_at text collate "C",
        left_date text collate "C",
        left_at text collate "C",
        left_recorded_at text collate "C"
      )`,
      'create index portfolio_operation_fund on portfolio_operation (fund_id, stream)',
      'create index portfolio_operation_code on portfolio_operation (application_id, code)',
      `create table portfolio_installment (
        stream text collate "C" not null,
        code text collate "C" not null,
        seq bigint not null,
        due_date text collate "C" not null,
        face_value bigint not null,
        closed_date text collate "C",
        closed_recorded_at text collate "C",
        primary key (stream, code)
      )`,
    ],
  },
};

const portfolioMoney: Migration = {
  id: 'portfolio-002-money',
  statements: {
    sqlite: [
      `create table portfolio_credit (
        stream text not null,
        installment_code text not null,
        revision integer not null,
        value text not null,
        date text not null,
        recorded_at text not null,
        primary key (stream, installment_code, revision)
      ) strict, without rowid`,
      `create table portfolio_flow (
        stream text not null,
        revision integer not null,
        flow text not null,
        date text not null,
        amount integer not null,
        installments integer not null,
        recorded_at text,
        primary key (stream, revision)
      ) strict, without rowid`,
    ],
    postgres: [
      `create table portfolio_credit (
        stream text collate "C" not null,
        installment_code text collate "C" not null,
        revision bigint not null,
        value text collate "C" not null,
        date text collate "C" not null,
        recorded_at text collate "C" not null,
        primary key (stream, installment_code, revision)
      )`,
      `create table portfolio_flow (
        stream text collate "C" not null,
        revision bigint not null,
        flow text collate "C" not null,
        date text collate "C" not null,
        amount bigint not null,
        installments bigint not null,
        recorded_at text collate "C",
        primary key (stream, revision)
      )`,
    ],
  },
};

/** Read models of the fund's side; they are built again from the streams like the others. */
export const fundSideMigrations: readonly Migration[] = [reconciliation, portfolioOperations, portfolioMoney];
