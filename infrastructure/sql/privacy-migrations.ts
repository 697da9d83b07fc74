import type { Migration } from './migration.ts';

const borrowerOperations: Migration = {
  id: 'privacy-001-borrower-operation',
  statements: {
    sqlite: [
      `create table borrower_operation (
        digest text not null,
        stream text not null,
        primary key (digest, stream)
      ) strict, without rowid`,
    ],
    postgres: [
      `create table borrower_operation (
        digest text collate "C" not null,
        stream text collate "C" not null,
        primary key (digest, stream)
      )`,
    ],
  },
};

/** What finds a borrower's operations, so that they can be forgotten. */
export const privacyMigrations: readonly Migration[] = [borrowerOperations];
