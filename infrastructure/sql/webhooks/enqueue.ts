import { sql } from 'kysely';
import type { Kysely } from 'kysely';
import { LRUCache } from 'lru-cache';
import { TimeOrderedIds } from '../../../application/support/time-ordered-id.ts';
import type { PlannedDelivery, WebhookEvent } from '../../../application/ports/delivery-queue.ts';
import type { Schema } from '../schema.ts';
import type { SqlDatabase, Statement } from '../sql-database.ts';
import { prepared } from './prepared-query.ts';
import type { WebhookDeliveryTable, WebhookEventTable } from './schema.ts';

/** Begins the names of lanes that hold one redelivery; no code has this character. */
export const REDELIVERY = '/redelivery/';

/** Name of a lock: shared by transactions that give an event a delivery, exclusive for the one that removes events without any. */
export const GIVING_EVENTS = 'webhook events';

/** A ping belongs to no operation: each has a lane of its own and waits for nothing. */
export const laneOf = ({ code, eventId }: Pick<WebhookEvent, 'code' | 'eventId'>): string =>
  code ?? `/ping/${eventId}`;

const insertEvent = (builder: Kysely<Schema>) =>
  prepared((row: WebhookEventTable) =>
    builder
      .insertInto('webhook_event')
      .values({
        event_id: row.event_id,
        application_id: row.application_id,
        name: row.name,
        fund_id: row.fund_id,
        code: row.code,
        sequence: row.sequence,
        occurred_at: row.occurred_at,
        body: row.body,
      })
      .onConflict((conflict) => conflict.column('event_id').doNothing()),
  );

type NewDelivery = Pick<
  WebhookDeliveryTable,
  'delivery_id' | 'webhook_id' | 'event_id' | 'sequence' | 'created_at' | 'next_attempt_at' | 'waiting_lane'
>;

const insertDelivery = (builder: Kysely<Schema>) =>
  prepared((row: NewDelivery) =>
    builder
      .insertInto('webhook_delivery')
      .values({
        delivery_id: row.delivery_id,
        webhook_id: row.webhook_id,
        event_id: row.event_id,
        sequence: row.sequence,
        created_at: row.created_at,
        next_attempt_at: row.next_attempt_at,
        waiting_lane: row.waiting_lane,
        attempts: sql.lit(0),
        status: sql.lit('pending' as const),
        scheduled_attempts: sql.lit(0),
      })
      .onConflict((conflict) => conflict.columns(['event_id', 'webhook_id']).doNothing()),
  );

/** Writes an existing row too, without changing it: its lock is what a worker that empties the lane has to wait for. */
const openLane = (builder: Kysely<Schema>) =>
  prepared((row: { webhook_id: string; lane: string; ready_at: string }) =>
    builder
      .insertInto('webhook_lane')
      .values({
        webhook_id: row.webhook_id,
        lane: row.lane,
        ready_at: row.ready_at,
        tier: sql.lit(0),
        token: sql.lit(''),
      })
      .onConflict((conflict) =>
        conflict
          .columns(['webhook_id', 'lane'])
          .doUpdateSet((eb) => ({ token: eb.ref('webhook_lane.token') })),
      ),
  );

const rowOf = (event: WebhookEvent): WebhookEventTable => ({
  event_id: event.eventId,
  application_id: event.applicationId,
  name: event.name,
  fund_id: event.fundId,
  code: event.code,
  sequence: event.sequence,
  occurred_at: event.timestamp,
  body: event.body,
});

interface Enqueued {
  readonly events: readonly WebhookEvent[];
  readonly deliveries: readonly number[];
  readonly statements: readonly Statement[];
}

/** The statements that put deliveries into their lanes. */
export class EnqueueStatements {
  readonly #ids = new TimeOrderedIds();
  readonly #event: ReturnType<typeof insertEvent>;
  readonly #delivery: ReturnType<typeof insertDelivery>;
  readonly #lane: ReturnType<typeof openLane>;

  constructor(builder: Kysely<Schema>) {
    this.#event = insertEvent(builder);
    this.#delivery = insertDelivery(builder);
    this.#lane = openLane(builder);
  }

  /**
   * `events` comes first; `deliveries` names the statements whose changes count new deliveries. Lanes come last and in one order
   * everywhere, since their rows are what this waits for.
   */
  inLanes(planned: readonly PlannedDelivery[], now: string): Enqueued {
    const events = [...new Set(planned.map(({ event }) => event))];
    const statements: Statement[] = events.map((event) => ({ query: this.#event(rowOf(event)) }));
    const deliveries: number[] = [];
    const lanes = new Map<string, { webhook_id: string; lane: string; ready_at: string }>();
    for (const { webhookId, event } of planned) {
      const lane = laneOf(event);
      deliveries.push(statements.push({ query: this.#waiting(webhookId, event, now) }) - 1);
      lanes.set(`${webhookId} ${lane}`, { webhook_id: webhookId, lane, ready_at: now });
    }
    for (const key of [...lanes.keys()].sort()) statements.push({ query: this.#lane(lanes.get(key)!) });
    return { events, deliveries, statements };
  }

  #waiting(webhookId: string, event: WebhookEvent, now: string) {
    return this.#delivery({
      delivery_id: this.#ids.next(Date.parse(now)),
      webhook_id: webhookId,
      event_id: event.eventId,
      sequence: event.sequence,
      created_at: now,
      next_attempt_at: now,
      waiting_lane: laneOf(event),
    });
  }

  /** A delivery that waits in no lane; nothing when the subscription has one of this event already. */
  outsideLanes(webhookId: string, event: WebhookEvent, now: string): Statement {
    const query = this.#delivery({
      delivery_id: this.#ids.next(Date.parse(now)),
      webhook_id: webhookId,
      event_id: event.eventId,
      sequence: event.sequence,
      created_at: now,
      next_attempt_at: null,
      waiting_lane: null,
    });
    return { query };
  }
}

const CACHED_CHARACTERS = 16_000_000;
/** What an entry weighs beside its body. */
const ENVELOPE = 400;

export const eventOf = (row: WebhookEventTable): WebhookEvent => ({
  eventId: row.event_id,
  name: row.name,
  applicationId: row.application_id,
  fundId: row.fund_id,
  code: row.code,
  sequence: row.sequence,
  timestamp: row.occurred_at,
  body: row.body,
});

/** Events never change, so one that was queued here a moment ago need not come back from the store. */
export class EventBodies {
  readonly #database: SqlDatabase;
  readonly #recent = new LRUCache<string, WebhookEvent>({
    maxSize: CACHED_CHARACTERS,
    sizeCalculation: ({ body }) => body.length + ENVELOPE,
  });

  constructor(database: SqlDatabase) {
    this.#database = database;
  }

  remember(event: WebhookEvent): void {
    this.#recent.set(event.eventId, event);
  }

  /** Those that exist. */
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
      .selectAll()
      .where('event_id', 'in', eventIds);
    return (await this.#database.read(query)).map(eventOf);
  }
}
