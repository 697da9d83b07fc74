import { sql } from 'kysely';
import type { ExpressionBuilder, SelectQueryBuilder } from 'kysely';
import { textRows } from '../sql/engine.ts';
import type { Schema } from '../sql/schema.ts';
import type { SqlDatabase } from '../sql/sql-database.ts';
import { firstIdAt } from '../support/time-ordered-id.ts';

type Status = Schema['webhook_delivery']['status'];

export interface DeliveryQuery {
  readonly webhookId: string;
  readonly status?: Status;
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

/** Written out, not bound: a partial index is found by its own condition only. */
const LITERALS: Readonly<Record<Status, ReturnType<typeof sql.lit<Status>>>> = {
  pending: sql.lit('pending'),
  retrying: sql.lit('retrying'),
  delivered: sql.lit('delivered'),
  failed: sql.lit('failed'),
};

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

const inOrder = (from: unknown, { webhookId, status, since, cursor }: Omit<DeliveryQuery, 'limit'>) =>
  (from as Listing)
    .select('delivery_id')
    .where('webhook_id', '=', webhookId)
    .$if(status !== undefined, (q) => q.where('status', '=', LITERALS[status!]))
    .$if(status !== undefined && status !== 'delivered', (q) => q.where('status', '<>', LITERALS.delivered))
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
export const deliveryIds = (database: SqlDatabase, query: DeliveryQuery, from?: string) => {
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

/** The last delivery to look at for a page of some names; undefined where all of them may be. */
export const lookedAt = async (database: SqlDatabase, query: DeliveryQuery): Promise<string | undefined> => {
  if (query.events === undefined || query.eventIds !== undefined) return undefined;
  const end = inOrder(database.builder.selectFrom('webhook_delivery'), query)
    .offset(MOST_LOOKED_AT - 1)
    .limit(2);
  const [last, after] = await database.read(end);
  return after && last?.delivery_id;
};
