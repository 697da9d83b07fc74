import type { Migration } from '../migration.ts';

const progress: Migration = {
  id: 'moving-001-progress',
  statements: {
    sqlite: [
      `create table move_progress (
        name text not null primary key,
        value text not null
      ) strict, without rowid`,
    ],
    postgres: [
      `create table move_progress (
        name text collate "C" not null primary key,
        value text collate "C" not null
      )`,
    ],
  },
};

/** How far a service has been moved into this database. */
export const movingMigrations: readonly Migration[] = [progress];
