import { sql } from 'kysely';
import type { ExpressionBuilder, Kysely } from 'kysely';
import type { LaneLease } from '../../../application/ports/delivery-queue.ts';
import type { Schema } from '../schema.ts';
import type { SqlDatabase, SqlDialect, Statement, TransactionOptions } from '../sql-database.ts';
import { REDELIVERY } from './enqueue.ts';
import { prepared } from '../prepared-query.ts';

/** A lease or a result that a power cut takes back is a delivery sent again, which receivers must expect anyway. */
export const REPEATABLE: TransactionOptions = { durability: 'relaxed' };

interface LaneKey {
  webhook_id: string;
  lane: string;
  token: string;
}

/** Constants are written out: what is not bound need not travel to the database each time. */
const ONE = sql<number>`1`;
/** Written out also because an index holds only such rows. */
export const UNLEASED = sql.lit('');
export const ACTIVE = sql.lit('active' as const);

/** What stands first in the lane of the enclosing query. */
const headOfLane = (eb: ExpressionBuilder<Schema, 'webhook_lane'>) =>
  eb
    .selectFrom('webhook_delivery as head')
    .whereRef('head.webhook_id', '=', 'webhook_lane.webhook_id')
    .whereRef('head.waiting_lane', '=', 'webhook_lane.lane')
    .orderBy('head.sequence')
    .limit(ONE);

export const isActive = (eb: ExpressionBuilder<Schema, 'webhook_lane'>) =>
  eb.exists(
    eb
      .selectFrom('webhook_subscription')
      .select('webhook_subscription.webhook_id')
      .whereRef('webhook_subscription.webhook_id', '=', 'webhook_lane.webhook_id')
      .where('webhook_subscription.status', '=', ACTIVE),
  );

interface LeasePlace {
  webhook_id: string;
  tier: number;
  /** No lane is due before it. */
  floor: string;
  now: string;
  lease_until: string;
  token: string;
  limit: number;
}

/**
 * Where writers run side by side, a process passes over what another is leasing. Materialized, because a plan may run a subquery
 * several times, and each time other lanes are free.
 */
const dueLanes = (builder: Kysely<Schema>, p: LeasePlace, dialect: SqlDialect) =>
  builder.with(
    (cte) => (dialect === 'postgres' ? cte('due').materialized() : cte('due')),
    (query) =>
      query
        .selectFrom('webhook_lane as waiting')
        .select('waiting.lane')
        .where('waiting.webhook_id', '=', p.webhook_id)
        .where('waiting.tier', '=', p.tier)
        .where('waiting.token', '=', UNLEASED)
        .where('waiting.ready_at', '>=', p.floor)
        .where('waiting.ready_at', '<=', p.now)
        .orderBy('waiting.ready_at')
        .limit(p.limit)
        .$if(dialect === 'postgres', (due) => due.forUpdate().skipLocked()),
  );

const leaseDue = (builder: Kysely<Schema>, dialect: SqlDialect) =>
  prepared((p: LeasePlace) =>
    dueLanes(builder, p, dialect)
      .updateTable('webhook_lane')
      .set({ token: p.token, ready_at: p.lease_until })
      .where('webhook_lane.webhook_id', '=', p.webhook_id)
      .where('webhook_lane.lane', 'in', (eb) => eb.selectFrom('due').select('due.lane'))
      .where(isActive)
      .returning('webhook_lane.lane'),
  );

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
const dueHeads = (builder: Kysely<Schema>, dialect: SqlDialect, now: string) =>
  lanesWithHeads(builder, dialect)
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

const endpoint = (builder: Kysely<Schema>) =>
  prepared((p: { webhook_id: string }) =>
    builder
      .selectFrom('webhook_subscription')
      .select(['webhook_id', 'application_id', 'url', 'sealed_secret'])
      .where('webhook_id', '=', p.webhook_id)
      .where('status', '=', ACTIVE),
  );

const leasedHeads = (builder: Kysely<Schema>, dialect: SqlDialect) =>
  prepared((p: { webhook_id: string; tier: number; lease_until: string; token: string; now: string }) =>
    dueHeads(builder, dialect, p.now)
      .where('webhook_lane.webhook_id', '=', p.webhook_id)
      .where('webhook_lane.tier', '=', p.tier)
      // The index finds them by the end of the lease; the token says which of those are ours.
      .where('webhook_lane.ready_at', '=', p.lease_until)
      .where('webhook_lane.token', '<>', UNLEASED)
      .where('webhook_lane.token', '=', p.token),
  );

const keptHead = (builder: Kysely<Schema>, dialect: SqlDialect) =>
  prepared((p: LaneKey & { now: string }) =>
    dueHeads(builder, dialect, p.now)
      .where('webhook_lane.webhook_id', '=', p.webhook_id)
      .where('webhook_lane.lane', '=', p.lane)
      .where('webhook_lane.token', '=', p.token),
  );

const leased = (builder: Kysely<Schema>, key: LaneKey) =>
  builder
    .updateTable('webhook_lane')
    .where('webhook_lane.webhook_id', '=', key.webhook_id)
    .where('webhook_lane.lane', '=', key.lane)
    .where('webhook_lane.token', '=', key.token);

/** Changes nothing but takes the row's lock, so that all that follows in the transaction happens under a lease still held. */
const guard = (builder: Kysely<Schema>) =>
  prepared((key: LaneKey) => leased(builder, key).set((eb) => ({ token: eb.ref('webhook_lane.token') })));

const dropIfEmpty = (builder: Kysely<Schema>) =>
  prepared((key: LaneKey) =>
    builder
      .deleteFrom('webhook_lane')
      .where('webhook_lane.webhook_id', '=', key.webhook_id)
      .where('webhook_lane.lane', '=', key.lane)
      .where('webhook_lane.token', '=', key.token)
      .where((eb) => eb.not(eb.exists(headOfLane(eb).select('head.delivery_id')))),
  );

/** A redelivery whose delivery is gone will never be sent. */
const dropOrphan = (builder: Kysely<Schema>) =>
  prepared((key: LaneKey) =>
    builder
      .deleteFrom('webhook_lane')
      .where('webhook_lane.webhook_id', '=', key.webhook_id)
      .where('webhook_lane.lane', '=', key.lane)
      .where('webhook_lane.token', '=', key.token)
      .where((eb) =>
        eb.not(
          eb.exists(
            eb
              .selectFrom('webhook_delivery')
              .innerJoin('webhook_event', 'webhook_event.event_id', 'webhook_delivery.event_id')
              .select('webhook_delivery.delivery_id')
              .whereRef('webhook_delivery.webhook_id', '=', 'webhook_lane.webhook_id')
              .whereRef('webhook_delivery.delivery_id', '=', 'webhook_lane.delivery_id'),
          ),
        ),
      ),
  );

const drop = (builder: Kysely<Schema>) =>
  prepared((key: LaneKey) =>
    builder
      .deleteFrom('webhook_lane')
      .where('webhook_id', '=', key.webhook_id)
      .where('lane', '=', key.lane)
      .where('token', '=', key.token),
  );

const tierOfHead = sql<number>`case when head.scheduled_attempts > 0 then 1 else 0 end`.as('tier');

/**
 * Back to unleased, due when its head is, and never before now: the search for due lanes relies on that (`lane-floors.ts`). At once
 * also if a redelivery has taken the head away since the lane was found not empty.
 */
const giveBack = (builder: Kysely<Schema>) =>
  prepared((key: LaneKey & { now: string }) =>
    leased(builder, key).set((eb) => {
      const due = headOfLane(eb).select('head.next_attempt_at');
      return {
        token: '',
        ready_at: sql<string>`case when ${due} > ${key.now} then ${due} else ${key.now} end`,
        tier: sql<number>`coalesce(${headOfLane(eb).select(tierOfHead)}, ${eb.ref('webhook_lane.tier')})`,
      };
    }),
  );

const giveBackRedelivery = (builder: Kysely<Schema>) =>
  prepared((key: LaneKey & { now: string }) =>
    leased(builder, key)
      .where('webhook_lane.delivery_id', 'is not', null)
      .set({ token: UNLEASED, ready_at: key.now }),
  );

const renew = (builder: Kysely<Schema>) =>
  prepared((key: LaneKey & { lease_until: string }) =>
    leased(builder, key).set({ ready_at: key.lease_until, tier: sql.lit(0) }),
  );

/** A redelivery that succeeded may have taken the head away: the next process that leases the lane sees what is true now. */
const nudge = (builder: Kysely<Schema>) =>
  prepared((key: { webhook_id: string; lane: string; now: string }) =>
    builder
      .updateTable('webhook_lane')
      .where('webhook_id', '=', key.webhook_id)
      .where('lane', '=', key.lane)
      .where('token', '=', UNLEASED)
      .set({ ready_at: key.now }),
  );

const keyOf = (lease: LaneLease): LaneKey => ({
  webhook_id: lease.webhookId,
  lane: lease.lane,
  token: lease.token,
});

/** Every statement on lanes, compiled once. */
export const laneStatements = ({ builder, dialect }: Pick<SqlDatabase, 'builder' | 'dialect'>) => {
  const statements = {
    guard: guard(builder),
    dropIfEmpty: dropIfEmpty(builder),
    drop: drop(builder),
    dropOrphan: dropOrphan(builder),
    giveBack: giveBack(builder),
    giveBackRedelivery: giveBackRedelivery(builder),
    renew: renew(builder),
    keptHead: keptHead(builder, dialect),
  };
  return {
    leaseDue: leaseDue(builder, dialect),
    leasedHeads: leasedHeads(builder, dialect),
    /** Where to send now; no row unless active. */
    endpoint: endpoint(builder),
    nudge: nudge(builder),
    /** For what follows to see what was queued before, also by others: they lock the lane as well. */
    hold: (lease: LaneLease): Statement => ({ query: statements.guard(keyOf(lease)) }),
    guard: (lease: LaneLease): Statement => ({ query: statements.guard(keyOf(lease)), expectChanges: 1 }),
    end: (lease: LaneLease): Statement => ({ query: statements.drop(keyOf(lease)), expectChanges: 1 }),
    /** Gone when empty, otherwise given back. */
    handBack: (lease: LaneLease, now: string): Statement[] =>
      lease.lane.startsWith(REDELIVERY)
        ? [
            { query: statements.dropOrphan(keyOf(lease)) },
            { query: statements.giveBackRedelivery({ ...keyOf(lease), now }) },
          ]
        : [
            { query: statements.dropIfEmpty(keyOf(lease)) },
            { query: statements.giveBack({ ...keyOf(lease), now }) },
          ],
    /** Leased until then from now on. */
    renew: (lease: LaneLease, until: string): Statement => ({
      query: statements.renew({ ...keyOf(lease), lease_until: until }),
    }),
    /** Gone when empty, says the first; otherwise the second answers its head, if that is due. */
    goOn: (lease: LaneLease, now: string): [dropped: Statement, head: Statement] => [
      { query: statements.dropIfEmpty(keyOf(lease)) },
      { query: statements.keptHead({ ...keyOf(lease), now }) },
    ],
  };
};
export type LaneStatements = ReturnType<typeof laneStatements>;
