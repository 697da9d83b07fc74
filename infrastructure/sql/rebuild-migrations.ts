import type { Migration } from './migration.ts';
import { READ_MODEL_NAMES, physicalName } from './read-model-slots.ts';

/** The same table or index for the second copy; whatever else a step does is no part of a copy. */
const beside = (statement: string): readonly string[] => {
  const [, before, index, on, table, rest] =
    /^(create (?:table|index (\w+) (on)) )(\w+)([^]*)$/.exec(statement.trim()) ?? [];
  if (before === undefined || table === undefined || !READ_MODEL_NAMES.includes(table)) return [];
  const target = physicalName(table, 'b');
  return on === undefined
    ? [`create table ${target}${rest}`]
    : [`create index ${physicalName(index!, 'b')} on ${target}${rest}`];
};

const secondCopy = ({ id, statements: { sqlite, postgres } }: Migration): Migration => ({
  id: `${id}-beside`,
  statements: { sqlite: sqlite.flatMap(beside), postgres: postgres.flatMap(beside) },
});

const copies: Migration = {
  id: 'read-model-010-copies',
  statements: {
    sqlite: [
      `alter table projection_checkpoint add column slot text not null default 'a'`,
      `create table projection_copy (
        name text not null primary key,
        slot text not null,
        version integer not null,
        position text not null,
        state text not null
      ) strict, without rowid`,
    ],
    postgres: [
      `alter table projection_checkpoint add column slot text collate "C" not null default 'a'`,
      `create table projection_copy (
        name text collate "C" not null primary key,
        slot text collate "C" not null,
        version bigint not null,
        position text collate "C" not null,
        state text collate "C" not null
      )`,
    ],
  },
};

/** A second copy of every table that these steps make, and the record of which copy serves. */
export const rebuildMigrations = (steps: readonly Migration[]): readonly Migration[] => [
  copies,
  ...steps.map(secondCopy),
];
