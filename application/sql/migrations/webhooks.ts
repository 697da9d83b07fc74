import type { DdlDialect, Migration } from './migrate.ts';

const subscription = ({ text, strict }: DdlDialect): string => `create table webhook_subscription (
  webhook_id ${text} not null primary key,
  application_id ${text} not null,
  url ${text} not null,
  events ${text} not null,
  fund_ids ${text},
  description ${text},
  status ${text} not null check (status in ('active', 'paused', 'removed')),
  sealed_secret ${text} not null,
  created_at ${text} not null,
  updated_at ${text} not null,
  last_success_at ${text},
  last_failure_at ${text},
  failing_since ${text})${strict}`;

const event = ({ text, integer, strict }: DdlDialect): string => `create table webhook_event (
  event_id ${text} not null primary key,
  application_id ${text} not null,
  name ${text} not null,
  fund_id ${text},
  code ${text},
  sequence ${integer} not null,
  occurred_at ${text} not null,
  body ${text} not null)${strict}`;

const delivery = ({ text, integer, clustered }: DdlDialect): string => `create table webhook_delivery (
  webhook_id ${text} not null,
  delivery_id ${text} not null,
  event_id ${text} not null,
  waiting_lane ${text},
  sequence ${integer} not null,
  status ${text} not null check (status in ('pending', 'retrying', 'delivered', 'failed')),
  attempts ${integer} not null,
  scheduled_attempts ${integer} not null,
  created_at ${text} not null,
  next_attempt_at ${text},
  last_attempt_at ${text},
  delivered_at ${text},
  finished_at ${text},
  last_response_status ${integer},
  last_error ${text},
  primary key (webhook_id, delivery_id),
  unique (event_id, webhook_id),
  check (waiting_lane is null or next_attempt_at is not null))${clustered}`;

const attempt = ({ text, integer, clustered }: DdlDialect): string => `create table webhook_attempt (
  delivery_id ${text} not null,
  attempt ${integer} not null,
  started_at ${text} not null,
  duration_ms ${integer} not null,
  response_status ${integer},
  error ${text},
  primary key (delivery_id, attempt))${clustered}`;

/** The key begins with the lane: by the subscription alone lanes are found through the index that knows which are due. */
const lane = ({ text, integer, clustered }: DdlDialect): string => `create table webhook_lane (
  lane ${text} not null,
  webhook_id ${text} not null,
  tier ${integer} not null,
  ready_at ${text} not null,
  token ${text} not null,
  delivery_id ${text},
  attempt ${integer},
  primary key (lane, webhook_id))${clustered}`;

/** The partial ones hold only what waits or failed, so their size follows the work at hand and not the history. */
const indexes = [
  'create index webhook_subscription_application on webhook_subscription (application_id)',
  `create index webhook_delivery_waiting on webhook_delivery (webhook_id, waiting_lane, sequence)
    where waiting_lane is not null`,
  `create index webhook_delivery_undelivered on webhook_delivery (webhook_id, status, delivery_id)
    where status <> 'delivered'`,
  'create index webhook_delivery_finished on webhook_delivery (status, finished_at) where finished_at is not null',
  'create index webhook_lane_ready on webhook_lane (webhook_id, tier, ready_at)',
];

export const webhookMigrations: readonly Migration[] = [
  {
    id: 'webhooks-001',
    // Deliveries, attempts and lanes are clustered by their keys: a tree less to write for each of them.
    statements: (dialect) => [
      ...[subscription, event, delivery, attempt, lane].map((table) => table(dialect)),
      ...indexes,
    ],
  },
  {
    id: 'webhooks-002',
    statements: ({ text }) => [`alter table webhook_attempt add column response_body ${text}`],
  },
  {
    id: 'webhooks-003-events-from',
    statements: ({ text }) => [`alter table webhook_subscription add column events_from ${text}`],
  },
  {
    // A search for due lanes passes no leased ones, nor what is left of them in the index (`webhooks/queue/floors.ts`).
    id: 'webhooks-004-due-and-leased',
    statements: () => [
      `create index webhook_lane_due on webhook_lane (webhook_id, tier, ready_at) where token = ''`,
      `create index webhook_lane_leased on webhook_lane (webhook_id, ready_at) where token <> ''`,
      'drop index webhook_lane_ready',
    ],
  },
  {
    // Rows of these tables live for seconds and come by the thousand: PostgreSQL's own thresholds grow with the table and leave what is
    // dead to every reader of the index.
    id: 'webhooks-005-vacuum',
    statements: ({ either }) =>
      either({
        sqlite: [],
        postgres: [
          `alter table webhook_lane set (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000,
            autovacuum_vacuum_cost_delay = 0, autovacuum_analyze_scale_factor = 0, autovacuum_analyze_threshold = 5000)`,
          ...['webhook_delivery', 'webhook_event', 'webhook_attempt'].map(
            (table) => `alter table ${table} set (autovacuum_vacuum_scale_factor = 0.02,
              autovacuum_vacuum_insert_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.02)`,
          ),
        ],
      }),
  },
];

/** Behind what came before it. */
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
