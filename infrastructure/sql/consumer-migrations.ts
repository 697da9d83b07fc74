import type { Migration } from './migration.ts';

const offsets: Migration = {
  id: 'consumers-001-offsets',
  statements: {
    sqlite: [
      `create table consumer_offset (
        consumer_group text not null,
        topic text not null,
        partition integer not null,
        next_offset integer not null,
        updated_at text not null,
        primary key (consumer_group, topic, partition)
      ) strict, without rowid`,
      `create table consumer_mark (
        consumer_group text not null,
        operation text not null,
        sequence integer not null,
        event_ids text not null,
        primary key (consumer_group, operation)
      ) strict, without rowid`,
    ],
    // Room in each page lets an update stay beside its row, so that indexes are not touched.
    postgres: [
      `create table consumer_offset (
        consumer_group text collate "C" not null,
        topic text collate "C" not null,
        partition integer not null,
        next_offset bigint not null,
        updated_at text not null,
        primary key (consumer_group, topic, partition)
      ) with (fillfactor = 50)`,
      `create table consumer_mark (
        consumer_group text collate "C" not null,
        operation text collate "C" not null,
        sequence bigint not null,
        event_ids text not null,
        primary key (consumer_group, operation)
      ) with (fillfactor = 80)`,
    ],
  },
};

/** Where consumers of an event bus that keeps its events stand. */
export const consumerMigrations: readonly Migration[] = [offsets];
