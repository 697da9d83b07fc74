import { sql } from 'kysely';
import type { Expression, Kysely } from 'kysely';
import type { LRUCache } from 'lru-cache';
import { TimeOrderedIds } from '../../support/time-ordered-id.ts';

import { sizedCache } from '../../support/sized-cache.ts';
import { EVENT_COLUMNS } from '../../sql/schema.ts';
import type { Schema } from '../../sql/schema.ts';
import type { SqlDatabase, Statement, StatementResult } from '../../sql/sql-database.ts';
import { asStatements, inColumns, preparedRows } from '../../sql/prepared-query.ts';

/** A public event as subscribers get it. `webhook.ping` belongs to no operation and no fund. */
export interface WebhookEvent {
  readonly eventId: string;
  readonly name: string;
  readonly applicationId: string;
  readonly fundId: string | null;
  readonly code: string | null;
  readonly sequence: number;
  readonly timestamp: string;
  readonly body: string;
}

export interface PlannedDelivery {
  readonly webhookId: string;
  readonly event: WebhookEvent;
}

export const REDELIVERY = '/redelivery/';

/** Name of a lock: shared by transactions that give an event a delivery, exclusive for the one that removes events without any. */
export const GIVING_EVENTS = 'webhook events';

const PING_LANE = '/ping/';

export const laneOf = ({ code, eventId }: Pick<WebhookEvent, 'code' | 'eventId'>): string =>
  code ?? PING_LANE + eventId;

export const pingLane = (eventId: Expression<string>) => sql<string>`${sql.lit(PING_LANE)} || ${eventId}`;

const EVENT = [
  ...(['event_id', 'application_id', 'name', 'fund_id', 'code', 'sequence', 'occurred_at', 'body'] as const),
] as const;

const NEW_DELIVERY = [
  ...(['delivery_id', 'webhook_id', 'event_id', 'sequence'] as const),
  ...(['created_at', 'next_attempt_at', 'waiting_lane'] as const),
] as const;
type NewDelivery = Pick<Schema['webhook_delivery'], (typeof NEW_DELIVERY)[number]>;

interface NewLane {
  webhook_id: string;
  lane: string;
  ready_at: string;
}

const rowOf = (event: WebhookEvent): Schema['webhook_event'] => ({
  event_id: event.eventId,
  application_id: event.applicationId,
  name: event.name,
  fund_id: event.fundId,
  code: event.code,
  sequence: event.sequence,
  occurred_at: event.timestamp,
  body: event.body,
});

/** The statements that put deliveries into their lanes: few for many of them, since each costs more than its rows. */
export class EnqueueStatements {
  readonly #ids = new TimeOrderedIds();
  /** Answers the ids of those that were not there. */
  readonly #events;
  /** A redelivery that was asked for before the event came here has made its delivery outside the lane: it takes its place there now. */
  readonly #deliveries;
  /** Writes existing rows too, without changing them: their locks are what a worker that empties a lane has to wait for. */
  readonly #lanes;

  constructor(builder: Kysely<Schema>) {
    this.#events = preparedRows((rows: readonly Schema['webhook_event'][]) =>
      builder
        .insertInto('webhook_event')
        .values(rows.map((row) => inColumns(row, EVENT)))
        .onConflict((conflict) => conflict.column('event_id').doNothing())
        .returning('event_id'),
    );
    this.#deliveries = preparedRows((rows: readonly NewDelivery[]) =>
      builder
        .insertInto('webhook_delivery')
        .values(
          rows.map((row) => ({
            ...inColumns(row, NEW_DELIVERY),
            attempts: sql.lit(0),
            status: sql.lit('pending' as const),
            scheduled_attempts: sql.lit(0),
          })),
        )
        .onConflict((conflict) =>
          conflict
            .columns(['event_id', 'webhook_id'])
            .doUpdateSet((eb) => ({
              waiting_lane: eb.ref('excluded.waiting_lane'),
              next_attempt_at: eb.ref('excluded.next_attempt_at'),
              finished_at: sql.lit(null),
              status: eb
                .case()
                .when('webhook_delivery.status', '=', sql.lit('failed' as const))
                .then(sql.lit('retrying' as const))
                .else(eb.ref('webhook_delivery.status'))
                .end(),
            }))
            .where('excluded.waiting_lane', 'is not', null)
            .where('webhook_delivery.waiting_lane', 'is', null)
            .where('webhook_delivery.delivered_at', 'is', null)
            .where('webhook_delivery.scheduled_attempts', '=', sql.lit(0)),
        ),
    );
    this.#lanes = preparedRows((rows: readonly NewLane[]) =>
      builder
        .insertInto('webhook_lane')
        .values(
          rows.map((row) => ({
            webhook_id: row.webhook_id,
            lane: row.lane,
            ready_at: row.ready_at,
            tier: sql.lit(0),
            token: sql.lit(''),
          })),
        )
        .onConflict((conflict) =>
          conflict
            .columns(['webhook_id', 'lane'])
            .doUpdateSet((eb) => ({ token: eb.ref('webhook_lane.token') })),
        ),
    );
  }

  /** Lanes come last and in one order everywhere, since their rows are what this waits for. */
  inLanes(planned: readonly PlannedDelivery[], now: string) {
    const byId = new Map<string, WebhookEvent>();
    const lanes = new Map<string, NewLane>();
    // PostgreSQL takes a row once in a statement.
    const waiting = new Map<string, NewDelivery>();
    for (const { webhookId, event } of planned) {
      const lane = laneOf(event);
      if (!byId.has(event.eventId)) byId.set(event.eventId, event);
      const delivery = this.#delivery(webhookId, event, now);
      waiting.set(`${webhookId} ${event.eventId}`, { ...delivery, next_attempt_at: now, waiting_lane: lane });
      lanes.set(`${webhookId} ${lane}`, { webhook_id: webhookId, lane, ready_at: now });
    }
    const opened = [...lanes.keys()].sort().map((key) => lanes.get(key)!);
    const events = this.#events([...byId.values()].map(rowOf));
    const deliveries = this.#deliveries([...waiting.values()]);
    return {
      statements: asStatements([...events, ...deliveries, ...this.#lanes(opened)]),
      read: (results: readonly StatementResult[]) => ({
        events: results
          .slice(0, events.length)
          .flatMap(({ rows }) => rows as unknown as readonly { readonly event_id: string }[])
          .map((row) => byId.get(row.event_id)!),
        deliveries: results
          .slice(events.length, events.length + deliveries.length)
          .reduce((sum, { changes }) => sum + changes, 0),
      }),
    };
  }

  outsideLanes(webhookId: string, event: WebhookEvent, now: string): readonly Statement[] {
    const row = { ...this.#delivery(webhookId, event, now), next_attempt_at: null, waiting_lane: null };
    return asStatements([...this.#events([rowOf(event)]), ...this.#deliveries([row])]);
  }

  #delivery(webhookId: string, event: WebhookEvent, now: string) {
    return {
      delivery_id: this.#ids.next(Date.parse(now)),
      webhook_id: webhookId,
      event_id: event.eventId,
      sequence: event.sequence,
      created_at: now,
    };
  }
}

const ENVELOPE = 400;

/** Events never change, so one that was queued here a moment ago need not come back from the store. */
export class EventBodies {
  readonly #database: SqlDatabase;
  readonly #recent: LRUCache<string, WebhookEvent>;

  constructor(database: SqlDatabase, cacheBytes: number) {
    this.#database = database;
    this.#recent = sizedCache<WebhookEvent>(cacheBytes, ({ body }) => body.length + ENVELOPE);
  }

  remember(event: WebhookEvent): void {
    this.#recent.set(event.eventId, event);
  }

  async load(eventIds: readonly string[]): Promise<ReadonlyMap<string, WebhookEvent>> {
    const found = new Map<string, WebhookEvent>();
    const missing = new Set<string>();
    for (const id of eventIds) {
      const event = this.#recent.get(id);
      if (event) found.set(id, event);
      else missing.add(id);
    }
    for (const event of await this.#stored([...missing])) found.set(event.eventId, event);
    return found;
  }

  async #stored(eventIds: readonly string[]): Promise<readonly WebhookEvent[]> {
    if (eventIds.length === 0) return [];
    const query = this.#database.builder
      .selectFrom('webhook_event')
      .select(EVENT_COLUMNS)
      .where('event_id', 'in', eventIds);
    return this.#database.read(query);
  }
}
