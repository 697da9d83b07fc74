import type { Migration } from './migrate.ts';
import { redeliveryMigrations, webhookMigrations } from './webhooks.ts';

/** What the desk needs, and what came with it. */
const deskMigrations: readonly Migration[] = [
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

/** What the streams do not hold: clients, keys, checkpoints, subscriptions and deliveries. */
export const serviceMigrations: readonly Migration[] = [
  {
    id: 'service-001-clients',
    statements: ({ text, real, clustered, strict }) => [
      `create table client (
        client_id ${text} not null primary key,
        application_id ${text} not null,
        name ${text} not null,
        secret_hash ${text} not null,
        rate_limit_multiplier ${real} not null,
        created_at ${text} not null,
        revoked_at ${text}
      )${strict}`,
      'create index client_application on client (application_id)',
      `create table application_fund (
        application_id ${text} not null,
        fund_id ${text} not null,
        primary key (application_id, fund_id)
      )${clustered}`,
    ],
  },
  {
    id: 'service-002-keys',
    statements: ({ text, clustered }) => [
      `create table wrapped_key (
        name ${text} not null primary key,
        wrapped ${text} not null,
        created_at ${text} not null
      )${clustered}`,
    ],
  },
  {
    id: 'service-003-checkpoints',
    statements: ({ text, clustered }) => [
      `create table checkpoint (
        name ${text} not null primary key,
        position ${text} not null,
        updated_at ${text} not null
      )${clustered}`,
    ],
  },
  // A client may be limited to some scopes, and to some funds of its application.
  {
    id: 'service-004-client-limits',
    statements: ({ text }) => [
      `alter table client add column scopes ${text}`,
      `alter table client add column only_fund_ids ${text}`,
    ],
  },
  // Which sets of read-model tables there are, and which of them serves.
  {
    id: 'service-005-read-model-generations',
    statements: ({ text, integer, strict }) => [
      `create table read_model_generation (
        number ${integer} not null primary key,
        state ${text} not null
      )${strict}`,
    ],
  },
  // The highest formats that were written. An empty store begins with level 2: no earlier release has used it.
  {
    id: 'service-006-stored-formats',
    statements: ({ integer, strict }) => [
      `create table stored_format (level ${integer} not null primary key)${strict}`,
      'insert into stored_format select 2 where not exists (select 1 from wrapped_key)',
    ],
  },
  // Operations whose events the relay holds back.
  {
    id: 'service-007-relay-quarantine',
    statements: ({ text, integer, strict }) => [
      `create table relay_quarantine (
        stream ${text} not null primary key,
        revision ${integer} not null,
        event_type ${text} not null,
        reason ${text} not null,
        released ${integer} not null
      )${strict}`,
    ],
  },
  {
    id: 'coordination-001-leases',
    statements: ({ text, integer, clustered }) => [
      `create table lease (
        name ${text} not null primary key,
        holder ${text} not null,
        token ${integer} not null,
        until_ms ${integer} not null
      )${clustered}`,
    ],
  },
  // Not logged in PostgreSQL: a take waits for no disk, and a crash of the server only leaves full buckets. Half of each page stays
  // free, so that an update finds room beside the row and touches no index.
  {
    id: 'coordination-002-rate-buckets',
    statements: ({ text, integer, real, unlogged, fill }) => [
      `create ${unlogged}table rate_bucket (
        key ${text} not null primary key,
        tokens ${real} not null,
        at_ms ${integer} not null,
        burst ${real} not null,
        per_minute ${real} not null,
        asked integer not null,
        granted integer not null
      )${fill(50)}`,
    ],
  },
  {
    id: 'coordination-003-clock-offset',
    statements: ({ text, integer, clustered }) => [
      `create table clock_offset (
        id ${text} not null primary key,
        offset_ms ${integer} not null,
        moved_at ${text} not null
      )${clustered}`,
    ],
  },
  ...webhookMigrations,
  // Where consumers of an event bus that keeps its events stand. Free room in each page lets an update stay beside its row.
  {
    id: 'consumers-001-offsets',
    statements: ({ text, integer, fill }) => [
      `create table consumer_offset (
        consumer_group ${text} not null,
        topic ${text} not null,
        partition integer not null,
        next_offset ${integer} not null,
        updated_at text not null,
        primary key (consumer_group, topic, partition)
      )${fill(50)}`,
      `create table consumer_mark (
        consumer_group ${text} not null,
        operation ${text} not null,
        sequence ${integer} not null,
        event_ids text not null,
        primary key (consumer_group, operation)
      )${fill(80)}`,
    ],
  },
  // What was handled of an operation beside its newest event, and over how many partitions a topic's operations are spread.
  {
    id: 'consumers-002-handled',
    statements: ({ text, clustered }) => [
      'alter table consumer_mark add column handled text',
      `create table consumer_topic (
        topic ${text} not null primary key,
        partitions integer not null,
        updated_at text not null
      )${clustered}`,
    ],
  },
  // The operations of a borrower, found by a digest of the borrower's document, so that they can be forgotten.
  {
    id: 'privacy-001-borrower-operation',
    statements: ({ text, clustered }) => [
      `create table borrower_operation (
        digest ${text} not null,
        stream ${text} not null,
        primary key (digest, stream)
      )${clustered}`,
    ],
  },
  // Whose the operations of a portfolio are.
  {
    id: 'privacy-002-borrower-of-operation',
    statements: () => ['create index borrower_operation_stream on borrower_operation (stream, digest)'],
  },
  // How far a service has been moved into this database.
  {
    id: 'moving-001-progress',
    statements: ({ text, clustered }) => [
      `create table move_progress (
        name ${text} not null primary key,
        value ${text} not null
      )${clustered}`,
    ],
  },
  // Seals over stretches of the log, which prove that it still holds what it held.
  {
    id: 'seals-001-seal-book',
    statements: ({ text, integer, strict }) => [
      `create table log_seal (
        number ${integer} not null primary key,
        kind ${text} not null,
        log ${text} not null,
        through ${text} not null,
        events ${integer} not null,
        total ${integer} not null,
        digest ${text} not null,
        sealed_at ${text} not null,
        mac ${text} not null
      )${strict}`,
      `create table log_seal_head (
        id ${integer} not null primary key,
        number ${integer} not null,
        mac ${text} not null,
        proof ${text} not null
      )${strict}`,
    ],
  },
  // A few rows that change all the time: vacuumed for what was changed, not for how large they are.
  {
    id: 'coordination-004-vacuum',
    statements: ({ either }) =>
      either({
        sqlite: [],
        postgres: [
          ...['checkpoint', 'lease', 'consumer_offset'].map(
            (table) => `alter table ${table} set (autovacuum_vacuum_scale_factor = 0,
              autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_cost_delay = 0)`,
          ),
          'alter table consumer_mark set (autovacuum_vacuum_scale_factor = 0.02)',
        ],
      }),
  },
  // Where in the log a subscription begins.
  {
    id: 'webhooks-006-begins-at',
    statements: ({ text }) => [`alter table webhook_subscription add column begins_at ${text}`],
  },
  // Since where in the log it has asked for what it asks for now.
  {
    id: 'webhooks-007-filter-from',
    statements: ({ text }) =>
      ['filter_from', 'filter_held'].map(
        (column) => `alter table webhook_subscription add column ${column} ${text}`,
      ),
  },
  // An empty store begins with level 3: no release before fund names has used it.
  {
    id: 'service-008-fund-names',
    statements: () => ['insert into stored_format select 3 where not exists (select 1 from wrapped_key)'],
  },
  ...redeliveryMigrations,
  ...deskMigrations,
];
