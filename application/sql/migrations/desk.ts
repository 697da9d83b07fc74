import type { Migration } from './migrate.ts';

/** What the desk needs, and what came with it. */
export const deskMigrations: readonly Migration[] = [
  // The stored formats of level 4: the log of the desk, and two people.
  {
    id: 'service-009-desk',
    statements: () => [
      `insert into stored_format select 4 where not exists (select 1 from wrapped_key)
        and not exists (select 1 from stored_format where level = 4)`,
    ],
  },
  // Who is signed in at the desk, by the hash of what the browser holds.
  {
    id: 'desk-001-session',
    statements: ({ text, strict }) => [
      `create table desk_session (
        id ${text} not null primary key,
        cookie_hash ${text} not null unique,
        issuer ${text} not null,
        subject ${text} not null,
        name ${text} not null,
        grants ${text} not null,
        configured ${text} not null,
        language ${text},
        sealed_tokens ${text} not null,
        begun_at ${text} not null,
        last_at ${text} not null,
        idle_until ${text} not null,
        until_at ${text} not null,
        ask_at ${text}
      )${strict}`,
      'create index desk_session_person on desk_session (issuer, subject)',
    ],
  },
];
