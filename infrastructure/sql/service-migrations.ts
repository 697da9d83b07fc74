import { consumerMigrations } from './consumer-migrations.ts';
import { coordinationMigrations } from './coordination-migrations.ts';
import type { Migration } from './migration.ts';
import { movingMigrations } from './moving/migrations.ts';
import { privacyMigrations } from './privacy-migrations.ts';
import { sealMigrations } from './seal-migrations.ts';
import { webhookMigrations } from './webhooks/migrations.ts';

const clients: Migration = {
  id: 'service-001-clients',
  statements: {
    sqlite: [
      `create table client (
        client_id text not null primary key,
        application_id text not null,
        name text not null,
        secret_hash text not null,
        rate_limit_multiplier real not null,
        created_at text not null,
        revoked_at text
      ) strict`,
      'create index client_application on client (application_id)',
      `create table application_fund (
        application_id text not null,
        fund_id text not null,
        primary key (application_id, fund_id)
      ) strict, without rowid`,
    ],
    postgres: [
      `create table client (
        client_id text collate "C" not null primary key,
        application_id text collate "C" not null,
        name text collate "C" not null,
        secret_hash text collate "C" not null,
        rate_limit_multiplier double precision not null,
        created_at text collate "C" not null,
        revoked_at text collate "C"
      )`,
      'create index client_application on client (application_id)',
      `create table application_fund (
        application_id text collate "C" not null,
        fund_id text collate "C" not null,
        primary key (application_id, fund_id)
      )`,
    ],
  },
};

const keys: Migration = {
  id: 'service-002-keys',
  statements: {
    sqlite: [
      `create table wrapped_key (
        name text not null primary key,
        wrapped text not null,
        created_at text not null
      ) strict, without rowid`,
    ],
    postgres: [
      `create table wrapped_key (
        name text collate "C" not null primary key,
        wrapped text collate "C" not null,
        created_at text collate "C" not null
      )`,
    ],
  },
};

const checkpoints: Migration = {
  id: 'service-003-checkpoints',
  statements: {
    sqlite: [
      `create table checkpoint (
        name text not null primary key,
        position text not null,
        updated_at text not null
      ) strict, without rowid`,
    ],
    postgres: [
      `create table checkpoint (
        name text collate "C" not null primary key,
        position text collate "C" not null,
        updated_at text collate "C" not null
      )`,
    ],
  },
};

/** A client may be limited to some scopes, and to some funds of its application. */
const clientLimits: Migration = {
  id: 'service-004-client-limits',
  statements: {
    sqlite: ['alter table client add column scopes text', 'alter table client add column only_fund_ids text'],
    postgres: [
      'alter table client add column scopes text collate "C"',
      'alter table client add column only_fund_ids text collate "C"',
    ],
  },
};

/** Which sets of read-model tables there are, and which of them serves. */
const generations: Migration = {
  id: 'service-005-read-model-generations',
  statements: {
    sqlite: [
      `create table read_model_generation (
        number integer not null primary key,
        state text not null
      ) strict`,
    ],
    postgres: [
      `create table read_model_generation (
        number bigint not null primary key,
        state text collate "C" not null
      )`,
    ],
  },
};

/** In which formats everything is written: a store that holds nothing yet has never been seen by an earlier release. */
const formats: Migration = {
  id: 'service-006-stored-formats',
  statements: {
    sqlite: [
      'create table stored_format (level integer not null primary key) strict',
      'insert into stored_format select 2 where not exists (select 1 from wrapped_key)',
    ],
    postgres: [
      'create table stored_format (level bigint not null primary key)',
      'insert into stored_format select 2 where not exists (select 1 from wrapped_key)',
    ],
  },
};

/** Operations whose events the relay holds back. */
const relayQuarantine: Migration = {
  id: 'service-007-relay-quarantine',
  statements: {
    sqlite: [
      `create table relay_quarantine (
        stream text not null primary key,
        revision integer not null,
        event_type text not null,
        reason text not null,
        released integer not null
      ) strict`,
    ],
    postgres: [
      `create table relay_quarantine (
        stream text collate "C" not null primary key,
        revision bigint not null,
        event_type text collate "C" not null,
        reason text collate "C" not null,
        released bigint not null
      )`,
    ],
  },
};

/** The truth beside the streams: clients, keys, checkpoints, subscriptions and deliveries. */
export const serviceMigrations: readonly Migration[] = [
  clients,
  keys,
  checkpoints,
  clientLimits,
  generations,
  formats,
  relayQuarantine,
  ...coordinationMigrations,
  ...webhookMigrations,
  ...consumerMigrations,
  ...privacyMigrations,
  ...movingMigrations,
  ...sealMigrations,
];
