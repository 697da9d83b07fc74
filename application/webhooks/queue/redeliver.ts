import { sql } from 'kysely';
import type { CompiledQuery, ExpressionBuilder, Kysely } from 'kysely';

import type { EnqueueStatements, WebhookEvent } from './enqueue.ts';
import { notAlone } from '../../sql/engine.ts';
import { EVENT_COLUMNS } from '../../sql/schema.ts';
import type { Schema } from '../../sql/schema.ts';
import type { SqlDatabase, Statement } from '../../sql/sql-database.ts';
import { GIVING_EVENTS, REDELIVERY, laneOf } from './enqueue.ts';

export interface Redelivery {
  readonly webhookId: string;
  readonly deliveryId: string;
  readonly attempt: number;
}

type Delivery = ExpressionBuilder<Schema, 'webhook_delivery'>;

const over = (eb: Delivery) =>
  eb
    .selectFrom('webhook_attempt as a')
    .select((attempt) => attempt.fn.countAll().as('count'))
    .whereRef('a.delivery_id', '=', 'webhook_delivery.delivery_id');

/** Attempts asked for by hand that have not ended: one that has ended does not end the delivery for the others. */
export const requested = (eb: Delivery) =>
  eb
    .selectFrom('webhook_lane as l')
    .select((lane) => lane.fn.countAll<number>().as('count'))
    .whereRef('l.webhook_id', '=', 'webhook_delivery.webhook_id')
    .where('l.lane', '>', sql<string>`${sql.lit(REDELIVERY)} || webhook_delivery.delivery_id || '/'`)
    // The character after the slash.
    .where('l.lane', '<', sql<string>`${sql.lit(REDELIVERY)} || webhook_delivery.delivery_id || '0'`);

/** 1 while the lane is leased and this delivery is its head, also where the lease has ended: the result may come all the same. */
const underWay = (eb: Delivery) =>
  eb
    .selectFrom('webhook_lane as l')
    .select((lane) => lane.fn.countAll().as('count'))
    .whereRef('l.webhook_id', '=', 'webhook_delivery.webhook_id')
    .whereRef('l.lane', '=', 'webhook_delivery.waiting_lane')
    .where('l.token', '<>', '')
    .where((lane) =>
      lane.not(
        lane.exists(
          lane
            .selectFrom('webhook_delivery as before')
            .select('before.delivery_id')
            .whereRef('before.webhook_id', '=', 'l.webhook_id')
            .whereRef('before.waiting_lane', '=', 'l.lane')
            .whereRef('before.sequence', '<', 'webhook_delivery.sequence'),
        ),
      ),
    );

interface Repeated {
  readonly webhookId: string;
  readonly eventId: string;
  readonly lane: string;
}

/** Waits for another request for the same delivery, so that the numbers below are counted after it. */
const holdDelivery = (builder: Kysely<Schema>, { webhookId, eventId }: Repeated): CompiledQuery =>
  builder
    .updateTable('webhook_delivery')
    .set((eb) => ({ attempts: eb.ref('attempts') }))
    .where('event_id', '=', eventId)
    .where('webhook_id', '=', webhookId)
    .compile();

/** Waits for a worker that is about to move the lane on. Like the worker, first the lane and then the delivery. */
const holdLane = (builder: Kysely<Schema>, { webhookId, lane }: Repeated): CompiledQuery =>
  builder
    .updateTable('webhook_lane')
    .set((eb) => ({ token: eb.ref('token') }))
    .where('webhook_id', '=', webhookId)
    .where('lane', '=', lane)
    .compile();

/**
 * One more than all numbers given out: a worker that died left its number unused, so it may exceed the attempts. However old, the delivery
 * has not ended any more, so that retention does not remove it before it is sent.
 */
const takeNumber = (builder: Kysely<Schema>, { webhookId, eventId }: Repeated): CompiledQuery =>
  builder
    .updateTable('webhook_delivery')
    .set((eb) => {
      const given = sql<number>`(${over(eb)} + ${requested(eb)} + ${underWay(eb)})`;
      const highest = eb.ref('webhook_delivery.attempts');
      return {
        attempts: sql<number>`case when ${highest} > ${given} then ${highest} else ${given} end + 1`,
        finished_at: sql.lit(null),
      };
    })
    .where('event_id', '=', eventId)
    .where('webhook_id', '=', webhookId)
    .returning(['webhook_id as webhookId', 'delivery_id as deliveryId', 'attempts as attempt'])
    .compile();

const openLane = (builder: Kysely<Schema>, { webhookId, eventId }: Repeated, now: string): CompiledQuery => {
  const redelivery = builder
    .selectFrom('webhook_delivery')
    .select((eb) => [
      'webhook_id',
      sql<string>`${sql.lit(REDELIVERY)} || delivery_id || '/' || attempts`.as('lane'),
      eb.lit(0).as('tier'),
      eb.val(now).as('ready_at'),
      eb.val('').as('token'),
      'delivery_id',
      'attempts',
    ])
    .where('event_id', '=', eventId)
    .where('webhook_id', '=', webhookId);
  return builder
    .insertInto('webhook_lane')
    .columns(['webhook_id', 'lane', 'tier', 'ready_at', 'token', 'delivery_id', 'attempt'])
    .expression(redelivery)
    .compile();
};

/** One attempt more of each of these deliveries, which are there, in a lane of its own. Rows are locked as workers do: lanes, then deliveries. */
export const onceMore = (
  builder: Kysely<Schema>,
  repeated: readonly Repeated[],
  now: string,
): readonly Statement[] => {
  const each = (query: (one: Repeated) => CompiledQuery): Statement[] =>
    repeated.map((one) => ({ query: query(one) }));
  return [
    ...each((one) => holdLane(builder, one)),
    ...each((one) => holdDelivery(builder, one)),
    ...each((one) => takeNumber(builder, one)).map(({ query }) => ({ query, expectChanges: 1 })),
    ...each((one) => openLane(builder, one, now)),
  ];
};

export const findEvent = async (database: SqlDatabase, applicationId: string, eventId: string) => {
  const { builder } = database;
  const [[event], deliveries] = await database.snapshot([
    builder
      .selectFrom('webhook_event')
      .select(EVENT_COLUMNS)
      .where('event_id', '=', eventId)
      .where('application_id', '=', applicationId),
    builder.selectFrom('webhook_delivery').select('webhook_id').where('event_id', '=', eventId),
  ]);
  return event && { event, webhookIds: deliveries.map((delivery) => delivery.webhook_id) };
};

/** Asks for one attempt more at each of these subscriptions. Rare, so queries are built as they come. */
export const redeliver = async (
  database: SqlDatabase,
  enqueue: EnqueueStatements,
  {
    event,
    webhookIds,
    now,
  }: { readonly event: WebhookEvent; readonly webhookIds: readonly string[]; readonly now: string },
): Promise<readonly Redelivery[]> => {
  if (webhookIds.length === 0) return [];
  const sorted = webhookIds.toSorted();
  const { eventId } = event;
  const repeated = sorted.map((webhookId) => ({ webhookId, eventId, lane: laneOf(event) }));
  const kept = sorted.flatMap((webhookId) => enqueue.outsideLanes(webhookId, event, now));
  const attempts = onceMore(database.builder, repeated, now);
  const results = await database.transaction([...notAlone(database, GIVING_EVENTS), ...kept, ...attempts]);
  return results.slice(-attempts.length).flatMap(({ rows }) => rows) as unknown as readonly Redelivery[];
};
