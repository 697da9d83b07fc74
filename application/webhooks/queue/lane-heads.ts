import { sql } from 'kysely';
import type { ExpressionBuilder, Kysely } from 'kysely';
import type { Schema } from '../../sql/schema.ts';
import type { SqlDialect, TransactionOptions } from '../../sql/sql-database.ts';

/** The right to send what stands at the head of one lane, until the lease ends or the result is in. */
export interface LaneLease {
  readonly webhookId: string;
  readonly lane: string;
  /** Another lease of the lane gets another token, so a result under an old one can be refused. */
  readonly token: string;
  readonly until: string;
}

export const laneKey = ({ webhookId, lane }: Pick<LaneLease, 'webhookId' | 'lane'>): string =>
  `${webhookId} ${lane}`;

/** Writers lock rows in the order of their keys. */
export const byKey =
  <Row>(keyOf: (row: Row) => string) =>
  (one: Row, other: Row): number => {
    const [key, otherKey] = [keyOf(one), keyOf(other)];
    return key < otherKey ? -1 : Number(key > otherKey);
  };

/** A lease or a result that a power cut takes back is a delivery sent again, which receivers must expect anyway. */
export const REPEATABLE: TransactionOptions = { durability: 'relaxed' };

/** Written out: what is not bound need not travel to the database each time. */
export const ONE = sql<number>`1`;

export const headOfLane = (eb: ExpressionBuilder<Schema, 'webhook_lane'>) =>
  eb
    .selectFrom('webhook_delivery as head')
    .whereRef('head.webhook_id', '=', 'webhook_lane.webhook_id')
    .whereRef('head.waiting_lane', '=', 'webhook_lane.lane')
    .orderBy('head.sequence')
    .limit(ONE);

/** The delivery that a lane sends now: the one that a redelivery names, else the first that waits. */
const headIs = (eb: ExpressionBuilder<Schema & { d: Schema['webhook_delivery'] }, 'webhook_lane' | 'd'>) =>
  eb.and([
    eb('d.webhook_id', '=', eb.ref('webhook_lane.webhook_id')),
    eb(
      'd.delivery_id',
      '=',
      eb.fn.coalesce('webhook_lane.delivery_id', headOfLane(eb).select('head.delivery_id').$asScalar()),
    ),
  ]);

/**
 * PostgreSQL keeps the plan that it made while the tables were empty until it has analysed them, and for empty tables a hash join
 * over all deliveries of the subscription is as cheap as a look-up. A lateral subquery with a limit leaves it only the look-up.
 */
const lanesWithHeads = (builder: Kysely<Schema>, dialect: SqlDialect) =>
  dialect === 'postgres'
    ? builder.selectFrom('webhook_lane').innerJoinLateral(
        (eb) => eb.selectFrom('webhook_delivery as d').selectAll().where(headIs).limit(ONE).as('d'),
        (join) => join.onTrue(),
      )
    : builder.selectFrom('webhook_lane').innerJoin('webhook_delivery as d', (join) => join.on(headIs));

/** A lane may be ready a moment before its head is due; nothing is ever sent early. */
export const dueHeads = (builder: Kysely<Schema>, dialect: SqlDialect, now: string) =>
  lanesWithHeads(builder, dialect)
    .select(['webhook_lane.webhook_id as webhookId', 'webhook_lane.lane', 'd.delivery_id as deliveryId'])
    .select(['d.event_id as eventId', 'd.attempts', 'd.scheduled_attempts as scheduledAttempts'])
    .select(['d.created_at as createdAt', 'webhook_lane.attempt as redeliveryAttempt'])
    .where((eb) =>
      eb.or([eb('webhook_lane.delivery_id', 'is not', null), eb('d.next_attempt_at', '<=', now)]),
    );
