import { sql } from 'kysely';
import type { Kysely } from 'kysely';
import type { LaneLease } from '../../../application/ports/delivery-queue.ts';
import type { Schema } from '../schema.ts';
import type { SqlDatabase, Statement } from '../sql-database.ts';
import { REDELIVERY } from './enqueue-statements.ts';
import { UNLEASED, claim, claimedHeads, endpoint, firstReady, headOfLane, keptHead } from './lane-queries.ts';
import type { LaneKey } from './lane-queries.ts';
import { prepared } from './prepared-query.ts';

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

/** Back to unleased, due when its head is; at once if a redelivery has taken the head away since the lane was found not empty. */
const giveBack = (builder: Kysely<Schema>) =>
  prepared((key: LaneKey) =>
    leased(builder, key).set((eb) => ({
      token: '',
      ready_at: sql<string>`coalesce(${headOfLane(eb).select('head.next_attempt_at')}, ${eb.ref('webhook_lane.ready_at')})`,
      tier: sql<number>`coalesce(${headOfLane(eb).select(tierOfHead)}, ${eb.ref('webhook_lane.tier')})`,
    })),
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

/** A redelivery that succeeded may have taken the head away: whoever claims the lane next sees what is true now. */
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
    keptHead: keptHead(builder),
  };
  return {
    claim: claim(builder, dialect),
    claimedHeads: claimedHeads(builder),
    firstReady: firstReady(builder),
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
        : [{ query: statements.dropIfEmpty(keyOf(lease)) }, { query: statements.giveBack(keyOf(lease)) }],
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
