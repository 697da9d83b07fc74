import { sql } from 'kysely';

import { alone, briefly } from '../../sql/engine.ts';
import type { SqlDatabase, Statement } from '../../sql/sql-database.ts';
import { GIVING_EVENTS } from './enqueue.ts';
import { UNLEASED } from './lanes.ts';
import { requested } from './redeliver.ts';

export interface Retention {
  /** Delivered ones that ended before this instant go, and what is known of redeliveries of a span of time. */
  readonly deliveredBefore: string;
  readonly failedBefore: string;
  /** Subscriptions removed before this instant are forgotten once nothing is left of them. */
  readonly removedBefore: string;
  readonly limit: number;
}

type Finished = 'delivered' | 'failed';
interface Doomed {
  readonly webhook_id: string;
  readonly delivery_id: string;
  readonly event_id: string;
}

/** A step small enough not to be felt: first what is old, then what belonged to removed subscriptions. 0 when nothing is left to do. */
export const cleanUp = async (database: SqlDatabase, retention: Retention): Promise<number> => {
  const { limit } = retention;
  return (
    (await finished(database, 'delivered', { before: retention.deliveredBefore, limit })) ||
    (await finished(database, 'failed', { before: retention.failedBefore, limit })) ||
    (await removed(database, limit)) ||
    (await forgotten(database, retention.removedBefore)) ||
    (await leftOfRanges(database, limit)) ||
    (await endedRanges(database, retention.deliveredBefore, limit))
  );
};

const finished = async (
  database: SqlDatabase,
  status: Finished,
  { before, limit }: { readonly before: string; readonly limit: number },
): Promise<number> => {
  const doomed = await database.read(
    database.builder
      .selectFrom('webhook_delivery')
      .select(['webhook_id', 'delivery_id', 'event_id'])
      .where('status', '=', status)
      // Says again what the index is restricted to, so that it can be used.
      .where('finished_at', 'is not', null)
      .where('finished_at', '<', before)
      .where(requested, '=', 0)
      .orderBy('finished_at')
      .limit(limit),
  );
  if (doomed.length > 0) await database.transaction(removal(database, doomed, 'finished'));
  return doomed.length;
};

const removed = async (database: SqlDatabase, limit: number): Promise<number> => {
  const { builder } = database;
  const [subscription] = await database.read(removedOnes(database, true).limit(1));
  if (!subscription) return 0;
  const id = subscription.webhook_id;
  const lanesOf = (leased: boolean) =>
    builder
      .selectFrom('webhook_lane')
      .select('lane')
      .where('webhook_id', '=', id)
      .where('token', leased ? '<>' : '=', UNLEASED)
      .limit(limit);
  const [doomed, due, leased] = await database.snapshot([
    builder
      .selectFrom('webhook_delivery')
      .select(['webhook_id', 'delivery_id', 'event_id'])
      .where('webhook_id', '=', id)
      .orderBy('delivery_id')
      .limit(limit),
    lanesOf(false),
    lanesOf(true),
  ]);
  const names = [...due, ...leased].map(({ lane }) => lane);
  // Deliveries only once no lane is left: a result that comes now would leave an attempt without one.
  const lanes = builder.deleteFrom('webhook_lane').where('webhook_id', '=', id).where('lane', 'in', names);
  await database.transaction(
    names.length > 0 ? [{ query: lanes.compile() }] : removal(database, doomed, 'all'),
  );
  return Math.max(doomed.length, names.length);
};

/** Only once no relay can still be queueing for it. */
const forgotten = async (database: SqlDatabase, before: string): Promise<number> => {
  const old = await database.read(removedOnes(database, false).where('s.updated_at', '<', before).limit(1));
  if (old.length === 0) return 0;
  const ids = old.map((row) => row.webhook_id);
  const forget = database.builder.deleteFrom('webhook_subscription').where('webhook_id', 'in', ids);
  await database.transaction([{ query: forget.compile() }]);
  return ids.length;
};

const removedOnes = (database: SqlDatabase, withBelongings: boolean) => {
  return database.builder
    .selectFrom('webhook_subscription as s')
    .select('s.webhook_id')
    .where('s.status', '=', 'removed')
    .where((eb) => {
      // The first of each is looked for; asked whether any exist, PostgreSQL may read all that there are.
      const delivery = eb
        .selectFrom('webhook_delivery as d')
        .select('d.delivery_id')
        .whereRef('d.webhook_id', '=', 's.webhook_id')
        .orderBy('d.delivery_id')
        .limit(sql.lit(1));
      const lane = (leased: boolean) =>
        eb
          .selectFrom('webhook_lane as l')
          .select('l.lane')
          .whereRef('l.webhook_id', '=', 's.webhook_id')
          .where('l.token', leased ? '<>' : '=', UNLEASED)
          .$if(!leased, (q) => q.orderBy('l.tier'))
          .orderBy('l.ready_at')
          .limit(sql.lit(1));
      const belongings = eb(eb.fn.coalesce(delivery, lane(false), lane(true)), 'is not', null);
      return withBelongings ? belongings : eb.not(belongings);
    });
};

/** Events go when no delivery of theirs is left. */
const removal = (
  database: SqlDatabase,
  doomed: readonly Doomed[],
  which: 'finished' | 'all',
): Statement[] => {
  const { builder } = database;
  const events = [...new Set(doomed.map((row) => row.event_id))];
  const orphaned = builder
    .deleteFrom('webhook_event')
    .where('event_id', 'in', events)
    .where((eb) =>
      eb.not(
        eb.exists(
          eb
            .selectFrom('webhook_delivery')
            .select('webhook_delivery.delivery_id')
            .whereRef('webhook_delivery.event_id', '=', 'webhook_event.event_id'),
        ),
      ),
    );
  return [
    ...deliveriesRemoved(database, doomed, which),
    // No other transaction gives an event a new delivery between the look for its deliveries and its removal. Taken last and waited for
    // briefly: transactions that queue deliveries wait behind it meanwhile.
    ...briefly(database),
    ...alone(database, GIVING_EVENTS),
    { query: orphaned.compile() },
  ];
};

/** Deliveries first, since whoever is about to store an attempt holds its delivery. */
const deliveriesRemoved = (
  { builder }: SqlDatabase,
  doomed: readonly Doomed[],
  which: 'finished' | 'all',
): Statement[] =>
  [...Map.groupBy(doomed, (row) => row.webhook_id)].flatMap(([webhookId, rows]) => {
    const ids = rows.map((row) => row.delivery_id);
    const deliveries = builder
      .deleteFrom('webhook_delivery')
      .where('webhook_id', '=', webhookId)
      .where('delivery_id', 'in', ids)
      // One more attempt may have been asked for since they were looked for.
      .$if(which === 'finished', (query) =>
        query.where('finished_at', 'is not', null).where(requested, '=', 0),
      );
    const attempts = builder
      .deleteFrom('webhook_attempt')
      .where('delivery_id', 'in', ids)
      .where((eb) =>
        eb.not(
          eb.exists(
            eb
              .selectFrom('webhook_delivery as d')
              .select('d.delivery_id')
              .where('d.webhook_id', '=', webhookId)
              .whereRef('d.delivery_id', '=', 'webhook_attempt.delivery_id'),
          ),
        ),
      );
    return [{ query: deliveries.compile() }, { query: attempts.compile() }];
  });

const leftOfRanges = async (database: SqlDatabase, limit: number): Promise<number> => {
  const { builder } = database;
  const [ended] = await database.read(
    builder
      .selectFrom('webhook_redelivery')
      .select('redelivery_id')
      .where('status', 'in', ['stopped', 'cancelled'])
      .where('first_lane', 'is not', null)
      .limit(1),
  );
  if (!ended) return 0;
  const { redelivery_id: id } = ended;
  const items = await database.read(
    builder
      .selectFrom('webhook_redelivery_item')
      .select(['lane', 'sequence'])
      .where('redelivery_id', '=', id)
      .orderBy('lane')
      .orderBy('sequence')
      .orderBy('delivery_id')
      .limit(limit),
  );
  const last = items.at(-1);
  const query = last
    ? builder
        .deleteFrom('webhook_redelivery_item')
        .where('redelivery_id', '=', id)
        .where('lane', '<=', last.lane)
        .where((eb) => eb.or([eb('lane', '<', last.lane), eb('sequence', '<=', last.sequence)]))
    : builder.updateTable('webhook_redelivery').set({ first_lane: null }).where('redelivery_id', '=', id);
  await database.transaction([{ query: query.compile() }]);
  return Math.max(1, items.length);
};

const endedRanges = async (database: SqlDatabase, before: string, limit: number): Promise<number> => {
  const { builder } = database;
  const ended = await database.read(
    builder
      .selectFrom('webhook_redelivery')
      .select('redelivery_id')
      // Says again what the index is restricted to, so that it can be used.
      .where('completed_at', 'is not', null)
      .where('completed_at', '<', before)
      .where('first_lane', 'is', null)
      .orderBy('completed_at')
      .limit(limit),
  );
  if (ended.length === 0) return 0;
  const ids = ended.map(({ redelivery_id: id }) => id);
  const query = builder.deleteFrom('webhook_redelivery').where('redelivery_id', 'in', ids);
  await database.transaction([{ query: query.compile() }]);
  return ids.length;
};
