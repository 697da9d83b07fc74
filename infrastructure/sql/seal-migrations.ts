import type { Migration } from './migration.ts';

const sealBook: Migration = {
  id: 'seals-001-seal-book',
  statements: {
    sqlite: [
      `create table log_seal (
        number integer not null primary key,
        kind text not null,
        log text not null,
        through text not null,
        events integer not null,
        total integer not null,
        digest text not null,
        sealed_at text not null,
        mac text not null
      ) strict`,
      `create table log_seal_head (
        id integer not null primary key,
        number integer not null,
        mac text not null,
        proof text not null
      ) strict`,
    ],
    postgres: [
      `create table log_seal (
        number bigint not null primary key,
        kind text collate "C" not null,
        log text collate "C" not null,
        through text collate "C" not null,
        events bigint not null,
        total bigint not null,
        digest text collate "C" not null,
        sealed_at text collate "C" not null,
        mac text collate "C" not null
      )`,
      `create table log_seal_head (
        id bigint not null primary key,
        number bigint not null,
        mac text collate "C" not null,
        proof text collate "C" not null
      )`,
    ],
  },
};

/** What tells whether the log still holds what it held. */
export const sealMigrations: readonly Migration[] = [sealBook];
