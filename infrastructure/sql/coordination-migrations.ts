import type { Migration } from './migration.ts';

const leases: Migration = {
  id: 'coordination-001-leases',
  statements: {
    sqlite: [
      `create table lease (
        name text not null primary key,
        holder text not null,
        token integer not null,
        until_ms integer not null
      ) strict, without rowid`,
    ],
    postgres: [
      `create table lease (
        name text collate "C" not null primary key,
        holder text collate "C" not null,
        token bigint not null,
        until_ms bigint not null
      )`,
    ],
  },
};

/**
 * Not logged in PostgreSQL: a take then waits for no disk, and a crash of the server costs no more than full buckets. Half of each
 * page stays free, so that an update finds room beside the row and touches no index.
 */
const rateBuckets: Migration = {
  id: 'coordination-002-rate-buckets',
  statements: {
    sqlite: [
      `create table rate_bucket (
        key text not null primary key,
        tokens real not null,
        at_ms integer not null,
        burst real not null,
        per_minute real not null,
        asked integer not null,
        granted integer not null
      ) strict, without rowid`,
    ],
    postgres: [
      `create unlogged table rate_bucket (
        key text collate "C" not null primary key,
        tokens double precision not null,
        at_ms bigint not null,
        burst double precision not null,
        per_minute double precision not null,
        asked integer not null,
        granted integer not null
      ) with (fillfactor = 50)`,
    ],
  },
};

const clockOffset: Migration = {
  id: 'coordination-003-clock-offset',
  statements: {
    sqlite: [
      `create table clock_offset (
        id text not null primary key,
        offset_ms integer not null,
        moved_at text not null
      ) strict, without rowid`,
    ],
    postgres: [
      `create table clock_offset (
        id text collate "C" not null primary key,
        offset_ms bigint not null,
        moved_at text collate "C" not null
      )`,
    ],
  },
};

/** What processes agree on among themselves. */
export const coordinationMigrations: readonly Migration[] = [leases, rateBuckets, clockOffset];
