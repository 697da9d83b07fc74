import type { Migration } from '../../../../infrastructure/sql/migration.ts';

/** Steps that fail, or count twice, when two processes run them. */
export const counterMigrations: readonly Migration[] = [
  { id: 'counter-001', statements: { sqlite: ['create table counter (value integer not null) strict'] } },
  { id: 'counter-002', statements: { sqlite: ['insert into counter (value) values (0)'] } },
  { id: 'counter-003', statements: { sqlite: ['update counter set value = value + 1000'] } },
];
