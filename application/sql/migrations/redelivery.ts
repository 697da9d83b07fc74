import type { Migration } from './migrate.ts';

export const redeliveryMigrations: readonly Migration[] = [
  // What was delivered in a span of time, sent once more.
  {
    id: 'webhooks-008-redelivery',
    statements: ({ text, integer, strict, clustered, either }) => [
      `create table webhook_redelivery (
        redelivery_id ${text} not null primary key,
        webhook_id ${text} not null,
        application_id ${text} not null,
        status ${text} not null check (status in ('running', 'completed', 'stopped', 'cancelled')),
        choice ${text} not null check (choice in ('failed', 'any')),
        since ${text} not null,
        until ${text} not null,
        queued ${integer} not null,
        gone ${integer} not null,
        delivered ${integer} not null,
        failed ${integer} not null,
        silent ${integer} not null,
        version ${integer} not null,
        selected_to ${text},
        first_lane ${text},
        created_at ${text} not null,
        completed_at ${text}
      )${strict}`,
      `create table webhook_redelivery_item (
        redelivery_id ${text} not null,
        lane ${text} not null,
        sequence ${integer} not null,
        delivery_id ${text} not null,
        event_id ${text} not null,
        attempt ${integer},
        primary key (redelivery_id, lane, sequence, delivery_id)
      )${clustered}`,
      `create unique index webhook_redelivery_running on webhook_redelivery (webhook_id) where status = 'running'`,
      `create index webhook_redelivery_left_over on webhook_redelivery (status) where first_lane is not null`,
      `create index webhook_redelivery_ended on webhook_redelivery (completed_at) where completed_at is not null`,
      ...either({
        sqlite: [],
        postgres: [
          `alter table webhook_redelivery_item set (autovacuum_vacuum_scale_factor = 0,
            autovacuum_vacuum_threshold = 5000, autovacuum_vacuum_cost_delay = 0)`,
        ],
      }),
    ],
  },
];
