import type { Migration } from '../../../application/sql/migrations/migrate.ts';

const step = (id: string, statement: string): Migration => ({
  id,
  statements: () => [statement],
});

/** Steps that fail, or count twice, when two processes run them. */
export const counterMigrations: readonly Migration[] = [
  step('counter-001', 'create table counter (value integer not null)'),
  step('counter-002', 'insert into counter (value) values (0)'),
  step('counter-003', 'update counter set value = value + 1000'),
];
