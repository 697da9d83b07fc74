import { expressionBuilder, sql } from 'kysely';
import type { Expression, ExpressionBuilder, SqlBool } from 'kysely';
import type { LaneLease } from './lane-heads.ts';
import type { Schema } from '../../sql/schema.ts';
import type { SqlDatabase, Statement } from '../../sql/sql-database.ts';
import { REDELIVERY } from './enqueue.ts';
import { ONE, byKey, dueHeads, headOfLane, laneKey } from './lane-heads.ts';
import {
  asStatements,
  chunks,
  lookedUp,
  prepared,
  preparedRows,
  valuesOf,
} from '../../sql/prepared-query.ts';

interface LaneKey {
  webhook_id: string;
  lane: string;
  token: string;
}

/** Written out, because an index holds only such rows. */
export const UNLEASED = sql.lit('');
export const ACTIVE = sql.lit('active' as const);

const isActive = (eb: ExpressionBuilder<Schema, 'webhook_lane'>) =>
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
  floor: string;
  now: string;
  lease_until: string;
  token: string;
  limit: number;
}

/** A process passes over what another is leasing. Materialized: run twice, a subquery would find other lanes free. */
const taking = (
  { builder, dialect }: Pick<SqlDatabase, 'builder' | 'dialect'>,
  p: Pick<LeasePlace, 'webhook_id' | 'floor' | 'now' | 'limit'>,
  which: (
    eb: ExpressionBuilder<Schema & { waiting: Schema['webhook_lane'] }, 'waiting'>,
  ) => Expression<SqlBool>,
  become: { token: string | typeof UNLEASED; ready_at: string },
) =>
  builder
    .with(
      (cte) => (dialect === 'postgres' ? cte('due').materialized() : cte('due')),
      (query) =>
        query
          .selectFrom('webhook_lane as waiting')
          .select('waiting.lane')
          .where('waiting.webhook_id', '=', p.webhook_id)
          .where(which)
          .where('waiting.ready_at', '>=', p.floor)
          .where('waiting.ready_at', '<=', p.now)
          .orderBy('waiting.ready_at')
          .limit(p.limit)
          .$if(dialect === 'postgres', (due) => due.forUpdate().skipLocked()),
    )
    .updateTable('webhook_lane')
    .set(become)
    .where('webhook_lane.webhook_id', '=', p.webhook_id)
    .where('webhook_lane.lane', 'in', (eb) => eb.selectFrom('due').select('due.lane'))
    .where(isActive);

const lanes = expressionBuilder<Schema, 'webhook_lane'>();

const leased = (keys: readonly LaneKey[]) =>
  lanes.or(
    keys.map((key) =>
      lanes.and({
        'webhook_lane.webhook_id': key.webhook_id,
        'webhook_lane.lane': key.lane,
        'webhook_lane.token': key.token,
      }),
    ),
  );

const tierOfHead = sql<number>`case when head.scheduled_attempts > 0 then 1 else 0 end`.as('tier');

const keyOf = (lease: LaneLease): LaneKey => ({
  webhook_id: lease.webhookId,
  lane: lease.lane,
  token: lease.token,
});

const isRedelivery = ({ lane }: LaneLease): boolean => lane.startsWith(REDELIVERY);

export const laneStatements = (database: Pick<SqlDatabase, 'builder' | 'dialect'>) => {
  const { builder, dialect } = database;
  const statements = {
    /** Only locks rows, in the order of the keys, so that all that follows happens under leases still held. */
    hold: preparedRows((keys: readonly LaneKey[]) =>
      builder
        .with('lease(webhook_id, lane, token)', () =>
          valuesOf<LaneKey>(keys.map((key) => [key.webhook_id, key.lane, key.token])),
        )
        .updateTable('webhook_lane')
        .from('lease')
        .set((eb) => ({ token: eb.ref('webhook_lane.token') }))
        .where(
          lookedUp(dialect, [
            ['webhook_lane.lane', 'lease.lane'],
            ['webhook_lane.webhook_id', 'lease.webhook_id'],
          ]),
        )
        .whereRef('webhook_lane.token', '=', 'lease.token'),
    ),
    dropEmpty: preparedRows((keys: readonly LaneKey[]) =>
      builder
        .deleteFrom('webhook_lane')
        .where(leased(keys))
        // PostgreSQL would make a join of `not exists`.
        .where((eb) => eb(headOfLane(eb).select('head.delivery_id'), 'is', null))
        .returning(['webhook_lane.webhook_id as webhookId', 'webhook_lane.lane']),
    ),
    drop: prepared((key: LaneKey) =>
      builder
        .deleteFrom('webhook_lane')
        .where('webhook_id', '=', key.webhook_id)
        .where('lane', '=', key.lane)
        .where('token', '=', key.token),
    ),
    /** A redelivery whose delivery is gone will never be sent. */
    dropOrphans: preparedRows((keys: readonly LaneKey[]) =>
      builder
        .deleteFrom('webhook_lane')
        .where(leased(keys))
        .where((eb) => {
          const named = eb
            .selectFrom('webhook_delivery')
            .select((of) =>
              of
                .selectFrom('webhook_event')
                .select('webhook_event.event_id')
                .whereRef('webhook_event.event_id', '=', 'webhook_delivery.event_id')
                .limit(ONE)
                .as('event_id'),
            )
            .whereRef('webhook_delivery.webhook_id', '=', 'webhook_lane.webhook_id')
            .whereRef('webhook_delivery.delivery_id', '=', 'webhook_lane.delivery_id');
          return eb(named.limit(ONE), 'is', null);
        }),
    ),
    /** Due when its head is, never before now (`floors.ts`); at once if a redelivery took the head away. */
    giveBack: preparedRows((keys: readonly (LaneKey & { now: string })[]) =>
      builder
        .updateTable('webhook_lane')
        .where(leased(keys))
        .set((eb) => {
          const { now } = keys[0]!;
          const due = headOfLane(eb).select('head.next_attempt_at');
          return {
            token: UNLEASED,
            ready_at: sql<string>`case when ${due} > ${now} then ${due} else ${now} end`,
            tier: sql<number>`coalesce(${headOfLane(eb).select(tierOfHead)}, ${eb.ref('webhook_lane.tier')})`,
          };
        }),
    ),
    giveBackRedeliveries: preparedRows((keys: readonly (LaneKey & { now: string })[]) =>
      builder
        .updateTable('webhook_lane')
        .where(leased(keys))
        .where('webhook_lane.delivery_id', 'is not', null)
        .set({ token: UNLEASED, ready_at: keys[0]!.now }),
    ),
    renew: preparedRows((keys: readonly (LaneKey & { lease_until: string })[]) =>
      builder
        .updateTable('webhook_lane')
        .where(leased(keys))
        .set({ ready_at: keys[0]!.lease_until, tier: sql.lit(0) }),
    ),
    keptHeads: preparedRows((keys: readonly (LaneKey & { now: string })[]) =>
      dueHeads(builder, dialect, keys[0]!.now).where(leased(keys)),
    ),
  };
  return {
    /** Lanes whose lease has ended are due like others; the process that had them is refused from now on. */
    reclaim: prepared((p: { webhook_id: string; floor: string; now: string; limit: number }) =>
      taking(database, p, (eb) => eb('waiting.token', '<>', UNLEASED), { token: UNLEASED, ready_at: p.now }),
    ),
    leaseDue: prepared((p: LeasePlace) =>
      taking(
        database,
        p,
        (eb) => eb.and([eb('waiting.tier', '=', p.tier), eb('waiting.token', '=', UNLEASED)]),
        { token: p.token, ready_at: p.lease_until },
      ).returning('webhook_lane.lane'),
    ),
    leasedHeads: prepared(
      (p: { webhook_id: string; tier: number; lease_until: string; token: string; now: string }) =>
        dueHeads(builder, dialect, p.now)
          .where('webhook_lane.webhook_id', '=', p.webhook_id)
          .where('webhook_lane.tier', '=', p.tier)
          // The index finds them by the end of the lease; the token says which of those are ours.
          .where('webhook_lane.ready_at', '=', p.lease_until)
          .where('webhook_lane.token', '<>', UNLEASED)
          .where('webhook_lane.token', '=', p.token),
    ),
    firstReady: prepared((p: { webhook_id: string; tier: number; floor: string }) =>
      builder
        .selectFrom('webhook_lane')
        .select((eb) => eb.fn.min('ready_at').as('ready_at'))
        .where('webhook_id', '=', p.webhook_id)
        .where('tier', '=', p.tier)
        .where('token', '=', UNLEASED)
        .where('ready_at', '>=', p.floor),
    ),
    /** Where to send now; no row unless active. */
    endpoint: prepared((p: { webhook_id: string }) =>
      builder
        .selectFrom('webhook_subscription')
        .select(['webhook_id as webhookId', 'application_id as applicationId'])
        .select(['url', 'sealed_secret as sealedSecret'])
        .where('webhook_id', '=', p.webhook_id)
        .where('status', '=', ACTIVE),
    ),
    /** A redelivery that succeeded may have taken the head away: the next process that leases the lane sees what is true now. */
    nudge: prepared((key: { webhook_id: string; lane: string; now: string }) =>
      builder
        .updateTable('webhook_lane')
        .where('webhook_id', '=', key.webhook_id)
        .where('lane', '=', key.lane)
        // Unleased, said so that the index of all unleased lanes of the subscription does not serve.
        .where(sql<SqlBool>`length(token) = 0`)
        .set({ ready_at: key.now }),
    ),
    /** For what follows to see what was queued before, also by others: they lock the lanes as well. */
    hold: (leases: readonly LaneLease[]): readonly Statement[] =>
      asStatements(statements.hold(leases.toSorted(byKey(laneKey)).map(keyOf))),
    /** Locks the lanes of these leases, and fails the transaction where one has ended. */
    guard: (leases: readonly LaneLease[]): readonly Statement[] =>
      chunks(leases.toSorted(byKey(laneKey)).map(keyOf)).flatMap((keys) =>
        statements.hold(keys).map((query) => ({ query, expectChanges: keys.length })),
      ),
    end: (lease: LaneLease): Statement => ({ query: statements.drop(keyOf(lease)), expectChanges: 1 }),
    handBack: (leases: readonly LaneLease[], now: string): readonly Statement[] => {
      const { true: redeliveries = [], false: ordered = [] } = Object.groupBy(leases, (lease) =>
        isRedelivery(lease) ? 'true' : 'false',
      );
      return asStatements([
        ...statements.dropOrphans(redeliveries.map(keyOf)),
        ...statements.giveBackRedeliveries(redeliveries.map((lease) => ({ ...keyOf(lease), now }))),
        ...statements.dropEmpty(ordered.map(keyOf)),
        ...statements.giveBack(ordered.map((lease) => ({ ...keyOf(lease), now }))),
      ]);
    },
    renew: (leases: readonly LaneLease[], until: string): readonly Statement[] =>
      asStatements(statements.renew(leases.map((lease) => ({ ...keyOf(lease), lease_until: until })))),
    /** `emptied` takes empty lanes away and answers them; `heads` answers what those that stay send next, if it is due. */
    goOn: (leases: readonly LaneLease[], now: string) => ({
      emptied: asStatements(statements.dropEmpty(leases.map(keyOf))),
      heads: asStatements(statements.keptHeads(leases.map((lease) => ({ ...keyOf(lease), now })))),
    }),
  };
};
export type LaneStatements = ReturnType<typeof laneStatements>;
