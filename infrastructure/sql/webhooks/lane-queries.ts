import { sql } from 'kysely';
import type { ExpressionBuilder, Kysely } from 'kysely';
import type { Schema } from '../schema.ts';
import type { SqlDialect } from '../sql-database.ts';
import { prepared } from './prepared-query.ts';

export interface LaneKey {
  webhook_id: string;
  lane: string;
  token: string;
}

/** Constants are written out: what is not bound need not travel to the database each time. */
const ONE = sql<number>`1`;
export const UNLEASED = sql.lit('');
const ACTIVE = sql.lit('active' as const);

/** What stands first in the lane of the enclosing query. */
export const headOfLane = (eb: ExpressionBuilder<Schema, 'webhook_lane'>) =>
  eb
    .selectFrom('webhook_delivery as head')
    .whereRef('head.webhook_id', '=', 'webhook_lane.webhook_id')
    .whereRef('head.waiting_lane', '=', 'webhook_lane.lane')
    .orderBy('head.sequence')
    .limit(ONE);

const isActive = (eb: ExpressionBuilder<Schema, 'webhook_lane'>) =>
  eb.exists(
    eb
      .selectFrom('webhook_subscription')
      .select('webhook_subscription.webhook_id')
      .whereRef('webhook_subscription.webhook_id', '=', 'webhook_lane.webhook_id')
      .where('webhook_subscription.status', '=', ACTIVE),
  );

interface ClaimPlace {
  webhook_id: string;
  tier: number;
  now: string;
  lease_until: string;
  token: string;
  limit: number;
}

/**
 * Where writers run side by side, a claim passes over what another is claiming. Materialized, because a plan may run a subquery
 * several times, and each time other lanes are free.
 */
const dueLanes = (builder: Kysely<Schema>, p: ClaimPlace, dialect: SqlDialect) =>
  builder.with(
    (cte) => (dialect === 'postgres' ? cte('due').materialized() : cte('due')),
    (query) =>
      query
        .selectFrom('webhook_lane as waiting')
        .select('waiting.lane')
        .where('waiting.webhook_id', '=', p.webhook_id)
        .where('waiting.tier', '=', p.tier)
        .where('waiting.ready_at', '<=', p.now)
        .orderBy('waiting.ready_at')
        .limit(p.limit)
        .$if(dialect === 'postgres', (due) => due.forUpdate().skipLocked()),
  );

export const claim = (builder: Kysely<Schema>, dialect: SqlDialect) =>
  prepared((p: ClaimPlace) =>
    dueLanes(builder, p, dialect)
      .updateTable('webhook_lane')
      .set({ token: p.token, ready_at: p.lease_until })
      .where('webhook_lane.webhook_id', '=', p.webhook_id)
      .where('webhook_lane.lane', 'in', (eb) => eb.selectFrom('due').select('due.lane'))
      .where(isActive)
      .returning('webhook_lane.lane'),
  );

/** A lane may be ready a moment before its head is due; nothing is ever sent early. */
const dueHeads = (builder: Kysely<Schema>, now: string) =>
  builder
    .selectFrom('webhook_lane')
    .innerJoin('webhook_delivery as d', (join) =>
      join
        .onRef('d.webhook_id', '=', 'webhook_lane.webhook_id')
        .on((eb) =>
          eb(
            'd.delivery_id',
            '=',
            eb.fn.coalesce('webhook_lane.delivery_id', headOfLane(eb).select('head.delivery_id').$asScalar()),
          ),
        ),
    )
    .select([
      'webhook_lane.webhook_id',
      'webhook_lane.lane',
      'webhook_lane.attempt as redelivery_attempt',
      'd.delivery_id',
      'd.event_id',
      'd.attempts',
      'd.scheduled_attempts',
      'd.created_at',
    ])
    .where((eb) =>
      eb.or([eb('webhook_lane.delivery_id', 'is not', null), eb('d.next_attempt_at', '<=', now)]),
    );

export const endpoint = (builder: Kysely<Schema>) =>
  prepared((p: { webhook_id: string }) =>
    builder
      .selectFrom('webhook_subscription')
      .select(['webhook_id', 'application_id', 'url', 'sealed_secret'])
      .where('webhook_id', '=', p.webhook_id)
      .where('status', '=', ACTIVE),
  );

export const claimedHeads = (builder: Kysely<Schema>) =>
  prepared((p: { webhook_id: string; tier: number; lease_until: string; token: string; now: string }) =>
    dueHeads(builder, p.now)
      .where('webhook_lane.webhook_id', '=', p.webhook_id)
      .where('webhook_lane.tier', '=', p.tier)
      // The index finds them by the end of the lease; the token says which of those are ours.
      .where('webhook_lane.ready_at', '=', p.lease_until)
      .where('webhook_lane.token', '=', p.token),
  );

export const keptHead = (builder: Kysely<Schema>) =>
  prepared((p: LaneKey & { now: string }) =>
    dueHeads(builder, p.now)
      .where('webhook_lane.webhook_id', '=', p.webhook_id)
      .where('webhook_lane.lane', '=', p.lane)
      .where('webhook_lane.token', '=', p.token),
  );

export const firstReady = (builder: Kysely<Schema>) =>
  prepared((p: { webhook_id: string; tier: number }) =>
    builder
      .selectFrom('webhook_lane')
      .select((eb) => eb.fn.min('ready_at').as('ready_at'))
      .where('webhook_id', '=', p.webhook_id)
      .where('tier', '=', p.tier),
  );
