import { sql } from 'kysely';
import type { ExpressionBuilder, SelectQueryBuilder } from 'kysely';
import { foreignCursor } from '../support/failures.ts';
import { textRows } from '../sql/engine.ts';
import type { DeliveryState } from './delivery-states.ts';
import type { Schema } from '../sql/schema.ts';
import type { SqlDatabase } from '../sql/sql-database.ts';
import { firstIdAt } from '../support/time-ordered-id.ts';

interface DeliveryQuery {
  readonly webhookId: string;
  readonly status?: DeliveryState;
  /** Of events of these funds alone; at least one. */
  readonly onlyFundIds?: readonly string[];
  readonly since?: string;
  readonly events?: readonly string[];
  readonly eventIds?: readonly string[];
  readonly limit: number;
  readonly cursor?: string;
}

/** Names and funds have no order of their own: so many deliveries are looked at for some of them. */
export const MOST_LOOKED_AT = 5_000;

type Listed = Pick<Schema['webhook_delivery'], 'webhook_id' | 'delivery_id' | 'event_id' | 'status'>;
type Listing = SelectQueryBuilder<Schema & { webhook_delivery: Listed }, 'webhook_delivery', object>;

/** Found by the key of the delivery, which every index holds, so that the one of what waits or failed serves. */
const eventOf = (eb: ExpressionBuilder<Schema, 'webhook_delivery'>) =>
  eb
    .selectFrom('webhook_delivery as it')
    .innerJoin('webhook_event as of', 'of.event_id', 'it.event_id')
    .whereRef('it.webhook_id', '=', 'webhook_delivery.webhook_id')
    .whereRef('it.delivery_id', '=', 'webhook_delivery.delivery_id');

/** A value for each delivery, so that no engine reads the events from one end to the other instead. */
export const ofFunds = (fundIds: readonly string[]) => (eb: ExpressionBuilder<Schema, 'webhook_delivery'>) =>
  eb(eventOf(eb).select('of.fund_id'), 'in', fundIds);

const named = (names: readonly string[]) => (eb: ExpressionBuilder<Schema, 'webhook_delivery'>) =>
  eb(eventOf(eb).select('of.name'), 'in', names);

/** States are written out, not bound: a partial index is found by its own condition only. */
const inOrder = (from: unknown, { webhookId, status, since, cursor }: Omit<DeliveryQuery, 'limit'>) =>
  (from as Listing)
    .select('delivery_id')
    .where('webhook_id', '=', webhookId)
    .$if(status !== undefined, (q) => q.where('status', '=', sql.lit(status!)))
    .$if(status !== undefined && status !== 'delivered', (q) => q.where('status', '<>', sql.lit('delivered')))
    .$if(since !== undefined, (q) => q.where('delivery_id', '>=', firstIdAt(Date.parse(since!))))
    .$if(cursor !== undefined, (q) => q.where('delivery_id', '<', cursor!))
    .orderBy('delivery_id', 'desc');

const ofEvents = (database: SqlDatabase, webhookId: string, eventIds: readonly string[]) =>
  database.builder
    .with(
      (cte) => cte('told').materialized(),
      (builder) =>
        // A cross join is made in this order.
        builder
          .selectFrom(textRows(database, eventIds).as('asked'))
          .crossJoin('webhook_delivery as d')
          .select(['d.webhook_id', 'd.delivery_id', 'd.event_id', 'd.status'])
          .whereRef('d.event_id', '=', 'asked.value')
          .where('d.webhook_id', '=', webhookId),
    )
    .selectFrom('told as webhook_delivery');

/** One more than asked for tells whether there is a next page. @param from the oldest to look at; default: none */
const deliveryIds = (database: SqlDatabase, query: DeliveryQuery, from?: string) => {
  const { webhookId, eventIds, events, onlyFundIds, limit } = query;
  const all = eventIds
    ? ofEvents(database, webhookId, eventIds)
    : database.builder.selectFrom('webhook_delivery');
  return inOrder(all, query)
    .$if(from !== undefined, (q) => q.where('delivery_id', '>=', from!))
    .$if(events !== undefined, (q) => q.where(named(events!)))
    .$if(onlyFundIds !== undefined, (q) => q.where(ofFunds(onlyFundIds!)))
    .limit(limit + 1);
};

/** The last delivery to look at for a page of some names or funds; undefined where all of them may be. */
const lookedAt = async (database: SqlDatabase, query: DeliveryQuery): Promise<string | undefined> => {
  const isOfSome = query.events !== undefined || query.onlyFundIds !== undefined;
  if (!isOfSome || query.eventIds !== undefined) return undefined;
  const end = inOrder(database.builder.selectFrom('webhook_delivery'), query)
    .offset(MOST_LOOKED_AT - 1)
    .limit(2);
  const [last, after] = await database.read(end);
  return after && last?.delivery_id;
};

export interface AttemptRecord {
  readonly attempt: number;
  readonly at: string;
  readonly durationMs: number;
  readonly responseStatus: number | null;
  readonly error: string | null;
}

export interface DeliveryRecord {
  readonly deliveryId: string;
  readonly eventId: string;
  readonly event: string;
  /** null for `webhook.ping`, as is the fund */
  readonly code: string | null;
  readonly fundId: string | null;
  readonly status: DeliveryState;
  /** Made, not asked for. */
  readonly attempts: number;
  readonly createdAt: string;
  readonly lastAttemptAt: string | null;
  /** Not before this instant; null unless retrying. */
  readonly nextAttemptAt: string | null;
  readonly deliveredAt: string | null;
  readonly lastResponseStatus: number | null;
  readonly lastError: string | null;
  /** Oldest first. */
  readonly attemptLog: readonly AttemptRecord[];
}

export interface DeliveryPage {
  readonly deliveries: readonly DeliveryRecord[];
  readonly nextCursor: string | null;
}

export interface EndedAttempt extends AttemptRecord {
  /** The first 2 KiB of what the receiver answered; null when it answered nothing. */
  readonly responseBody: string | null;
}

export interface EventDelivery extends DeliveryRecord {
  readonly webhookId: string;
  readonly attemptLog: readonly EndedAttempt[];
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

const SHOWN = [
  ...(['d.delivery_id as deliveryId', 'd.event_id as eventId', 'e.name as event', 'e.code'] as const),
  ...(['e.fund_id as fundId', 'd.status', 'd.created_at as createdAt'] as const),
  ...(['d.last_attempt_at as lastAttemptAt', 'd.next_attempt_at as nextAttemptAt'] as const),
  ...(['d.delivered_at as deliveredAt', 'd.last_response_status as lastResponseStatus'] as const),
  'd.last_error as lastError',
] as const;

/** Without the answers' bodies: a page of them would be megabytes, and the list does not show them. */
const LISTED = [
  ...(['delivery_id as deliveryId', 'attempt', 'started_at as at', 'duration_ms as durationMs'] as const),
  ...(['response_status as responseStatus', 'error'] as const),
] as const;

type Shown = Pick<DeliveryRecord, 'deliveryId' | 'status' | 'nextAttemptAt'>;

const withAttempts = <Row extends Shown, Attempt extends AttemptRecord>(
  rows: readonly Row[],
  all: readonly (Attempt & { readonly deliveryId: string })[],
) => {
  const logs = Map.groupBy(all, ({ deliveryId }) => deliveryId);
  return rows.map((row) => {
    const attemptLog = (logs.get(row.deliveryId) ?? []).map(({ deliveryId: _, ...attempt }) => attempt);
    // Only what is tried again waits for an instant.
    const nextAttemptAt = row.status === 'retrying' ? row.nextAttemptAt : null;
    return { ...row, attempts: attemptLog.length, nextAttemptAt, attemptLog };
  });
};

const headInLane = (eb: ExpressionBuilder<Schema & { d: Schema['webhook_delivery'] }, 'd'>) =>
  eb
    .selectFrom('webhook_delivery as first')
    .select('first.delivery_id')
    .whereRef('first.webhook_id', '=', 'd.webhook_id')
    .whereRef('first.waiting_lane', '=', 'd.waiting_lane')
    .orderBy('first.sequence')
    .orderBy('first.delivery_id')
    .limit(sql.lit(1));

/** Costs grow with the page, not with the history: ids sort by creation, so pages are ranges of the key. */
export class DeliveryLog {
  readonly #database: SqlDatabase;

  constructor(database: SqlDatabase) {
    this.#database = database;
  }

  /** May be short or empty with others behind it. @throws DomainError `invalid_query_parameter` for a foreign cursor */
  async list(query: DeliveryQuery): Promise<DeliveryPage> {
    if (query.cursor !== undefined && !UUID.test(query.cursor)) throw foreignCursor();
    const end = await lookedAt(this.#database, query);
    const found = await this.#database.read(deliveryIds(this.#database, query, end));
    const page = found.slice(0, query.limit).map(({ delivery_id: id }) => id);
    if (page.length === 0) return { deliveries: [], nextCursor: end ?? null };
    const parts = [this.#rows(query.webhookId, page), this.#attempts(page)] as const;
    const [rows, log] = await this.#database.snapshot(parts);
    // Ids run ahead of the clock, and far ahead where it was set back: some of the page may be older than their ids say.
    const asked = rows.filter(({ createdAt }) => query.since === undefined || createdAt >= query.since);
    const deliveries = withAttempts(asked, log);
    return { deliveries, nextCursor: found.length > query.limit ? page.at(-1)! : (end ?? null) };
  }

  #rows(webhookId: string, ids: readonly string[]) {
    return this.#database.builder
      .selectFrom('webhook_delivery as d')
      .innerJoin('webhook_event as e', 'e.event_id', 'd.event_id')
      .select(SHOWN)
      .where('d.webhook_id', '=', webhookId)
      .where('d.delivery_id', 'in', ids)
      .orderBy('d.delivery_id', 'desc');
  }

  #attempts(ids: readonly string[]) {
    return this.#database.builder
      .selectFrom('webhook_attempt')
      .select(LISTED)
      .where('delivery_id', 'in', ids)
      .orderBy('delivery_id')
      .orderBy('attempt');
  }

  /** Of at most a few hundred events; oldest first, of removed subscriptions none. */
  async ofEvents(eventIds: readonly string[]): Promise<readonly EventDelivery[]> {
    if (eventIds.length === 0) return [];
    const { builder } = this.#database;
    const deliveries = builder
      .selectFrom('webhook_delivery as d')
      .innerJoin('webhook_event as e', 'e.event_id', 'd.event_id')
      .innerJoin('webhook_subscription as s', 's.webhook_id', 'd.webhook_id')
      .select([...SHOWN, 'd.webhook_id as webhookId'])
      .where('d.event_id', 'in', eventIds)
      .where('s.status', '<>', 'removed')
      .orderBy('d.delivery_id');
    const attempts = builder
      .selectFrom('webhook_attempt')
      .select([...LISTED, 'response_body as responseBody'])
      .where('delivery_id', 'in', (eb) =>
        eb.selectFrom('webhook_delivery').select('delivery_id').where('event_id', 'in', eventIds),
      )
      .orderBy('delivery_id')
      .orderBy('attempt');
    const [rows, log] = await this.#database.snapshot([deliveries, attempts]);
    return withAttempts(rows, log);
  }

  /** By the ids of these deliveries of one subscription, one to a few hundred, those that wait behind another. */
  async blocked(webhookId: string, deliveryIds: readonly string[]) {
    const rows = await this.#database.read(
      this.#database.builder
        // A cross join is made in this order: SQLite would go through all that waits instead.
        .selectFrom(textRows(this.#database, deliveryIds).as('page'))
        .crossJoin('webhook_delivery as d')
        .innerJoin('webhook_delivery as h', (join) =>
          join.onRef('h.webhook_id', '=', 'd.webhook_id').on('h.delivery_id', '=', headInLane),
        )
        .innerJoin('webhook_event as e', 'e.event_id', 'h.event_id')
        .select(['d.delivery_id', 'h.event_id as eventId', 'e.name as event', 'h.next_attempt_at'])
        .where('d.webhook_id', '=', webhookId)
        .whereRef('d.delivery_id', '=', 'page.value')
        .where('d.waiting_lane', 'is not', null)
        .whereRef('h.delivery_id', '<>', 'd.delivery_id'),
    );
    return new Map(
      rows.map(({ delivery_id: id, next_attempt_at: at, ...head }) => [id, { ...head, triedAt: at! }]),
    );
  }
}
