import { expressionBuilder, sql } from 'kysely';
import type { Kysely } from 'kysely';
import { guarded } from '../../sql/compare-and-set.ts';
import type { Schema } from '../../sql/schema.ts';
import type { SqlDatabase, Statement } from '../../sql/sql-database.ts';
import { REDELIVERY } from './enqueue.ts';
import { REPEATABLE } from './lane-heads.ts';
import { onceMore } from './redeliver.ts';

/** After so many attempts in a row without an answer nothing more is sent. No more are queued at a time, so it never takes more than these. */
const MOST_SILENT = 10;

type Item = Omit<Schema['webhook_redelivery_item'], 'redelivery_id'>;
type Attempt = Pick<
  Schema['webhook_attempt'],
  'delivery_id' | 'attempt' | 'started_at' | 'duration_ms' | 'response_status' | 'error'
>;

interface Front {
  readonly ended: readonly { readonly item: Item; readonly attempt: Attempt }[];
  readonly gone: readonly Item[];
  readonly underWay: number;
  readonly next: readonly Item[];
}

const laneOfItem = ({ delivery_id: id, attempt }: Item): string => `${REDELIVERY}${id}/${attempt}`;

const endOf = ({ attempt }: Front['ended'][number]): number =>
  Date.parse(attempt.started_at) + attempt.duration_ms;

/** Notes how far a redelivery has come; another process that was there first leaves nothing of its transaction. */
export const notedRange = (
  builder: Kysely<Schema>,
  row: Schema['webhook_redelivery'],
  change: Partial<Schema['webhook_redelivery']>,
): Statement => {
  const query = builder
    .updateTable('webhook_redelivery')
    .set({ ...change, version: row.version + 1 })
    .where('redelivery_id', '=', row.redelivery_id)
    .where('status', '=', 'running')
    .where('version', '=', row.version);
  return { query: query.compile(), expectChanges: 1 };
};

/** Of two processes one does it; after a crash the next goes on. @returns whether anything changed */
export const stepRange = async (
  database: SqlDatabase,
  row: Schema['webhook_redelivery'],
  now: string,
): Promise<boolean> => {
  if (row.status !== 'running' || row.selected_to !== null) return false;
  const { builder } = database;
  const heads = await database.read(headsOf(builder, row));
  const { ended, gone, underWay, next } = await frontOf(database, row, heads);
  const silent = ended
    .toSorted((one, other) => endOf(one) - endOf(other))
    .reduce((count, { attempt }) => (attempt.response_status === null ? count + 1 : 0), row.silent);
  const queued = next.slice(0, Math.max(0, MOST_SILENT - silent - underWay));
  const settled = [...ended.map(({ item }) => item), ...gone];
  if (heads.length > 0 && settled.length + queued.length === 0) return false;
  const delivered = ended.filter(({ attempt }) => attempt.error === null).length;
  const noted = notedRange(builder, row, {
    silent,
    delivered: row.delivered + delivered,
    failed: row.failed + ended.length - delivered,
    gone: row.gone + gone.length,
    first_lane: heads[0]?.lane ?? null,
    ...(heads.length === 0 && { status: 'completed', completed_at: now }),
    ...(silent >= MOST_SILENT && { status: 'stopped', completed_at: now }),
  });
  const statements = [
    noted,
    ...settled.map((item) => removed(builder, row, item)),
    ...begun(builder, row, { items: queued, now }),
  ];
  // Another process was there first, or retention took a delivery away: the next step sees what is true then.
  return guarded(database.transaction(statements, REPEATABLE));
};

const isItem = ({ redelivery_id: id }: Schema['webhook_redelivery'], item: Item) =>
  expressionBuilder<Schema, 'webhook_redelivery_item'>().and({
    redelivery_id: id,
    lane: item.lane,
    sequence: item.sequence,
    delivery_id: item.delivery_id,
  });

/** The first item of each of the first lanes. What is under way is among them, since lanes are begun in their order. */
const headsOf = (
  builder: Kysely<Schema>,
  { redelivery_id: id, first_lane: first }: Schema['webhook_redelivery'],
) =>
  builder
    .withRecursive('front(lane, n)', (cte) =>
      cte
        .selectFrom('webhook_redelivery_item as i')
        .select((eb) => [eb.fn.min('i.lane').as('lane'), sql<number>`1`.as('n')])
        .where('i.redelivery_id', '=', id)
        .where('i.lane', '>=', first ?? '')
        .unionAll(
          cte
            .selectFrom('front')
            .select((eb) => [
              eb
                .selectFrom('webhook_redelivery_item as i')
                .select((later) => later.fn.min('i.lane').as('lane'))
                .where('i.redelivery_id', '=', id)
                .whereRef('i.lane', '>', 'front.lane')
                .$asScalar()
                .as('lane'),
              sql<number>`front.n + 1`.as('n'),
            ])
            .where('front.lane', 'is not', null)
            .where('front.n', '<', sql.lit(MOST_SILENT)),
        ),
    )
    .selectFrom('front')
    // A cross join is made in this order: SQLite would go through all items for it instead.
    .crossJoin('webhook_redelivery_item as item')
    .where('item.redelivery_id', '=', id)
    .whereRef('item.lane', '=', 'front.lane')
    .where('item.sequence', '=', (eb) =>
      eb
        .selectFrom('webhook_redelivery_item as i')
        .select((head) => head.fn.min('i.sequence').as('sequence'))
        .where('i.redelivery_id', '=', id)
        .whereRef('i.lane', '=', 'front.lane'),
    )
    .select(['item.lane', 'item.sequence', 'item.delivery_id', 'item.event_id', 'item.attempt'])
    .orderBy('item.lane')
    .orderBy('item.delivery_id');

const frontOf = async (
  database: SqlDatabase,
  { webhook_id: webhookId }: Schema['webhook_redelivery'],
  heads: readonly Item[],
): Promise<Front> => {
  if (heads.length === 0) return { ended: [], gone: [], underWay: 0, next: [] };
  const { builder } = database;
  const ids = heads.map(({ delivery_id: id }) => id);
  const [lanes, attempts, there] = await database.snapshot([
    builder
      .selectFrom('webhook_lane')
      .select('lane')
      .where('webhook_id', '=', webhookId)
      .where('lane', 'in', heads.map(laneOfItem)),
    builder
      .selectFrom('webhook_attempt')
      .select(['delivery_id', 'attempt', 'started_at', 'duration_ms', 'response_status', 'error'])
      .where('delivery_id', 'in', ids),
    builder
      .selectFrom('webhook_delivery')
      .select('delivery_id')
      .where('webhook_id', '=', webhookId)
      .where('delivery_id', 'in', ids),
  ]);
  const waiting = new Set(lanes.map(({ lane }) => lane));
  const made = new Map(attempts.map((one) => [`${REDELIVERY}${one.delivery_id}/${one.attempt}`, one]));
  const present = new Set(there.map(({ delivery_id: id }) => id));
  const begun = heads.filter(({ attempt }) => attempt !== null);
  const over = begun.filter((item) => !waiting.has(laneOfItem(item)));
  const waits = heads.filter(({ attempt }) => attempt === null);
  return {
    ended: over.flatMap((item) => {
      const attempt = made.get(laneOfItem(item));
      return attempt ? [{ item, attempt }] : [];
    }),
    gone: [
      ...over.filter((item) => !made.has(laneOfItem(item))),
      ...waits.filter(({ delivery_id: id }) => !present.has(id)),
    ],
    underWay: begun.length - over.length,
    next: waits.filter(({ delivery_id: id }) => present.has(id)),
  };
};

const removed = (builder: Kysely<Schema>, row: Schema['webhook_redelivery'], item: Item): Statement => {
  const query = builder.deleteFrom('webhook_redelivery_item').where(isItem(row, item));
  return { query: query.compile(), expectChanges: 1 };
};

/** The number of the attempt is known once it is taken. */
const begun = (
  builder: Kysely<Schema>,
  row: Schema['webhook_redelivery'],
  { items, now }: { readonly items: readonly Item[]; readonly now: string },
) => {
  const { webhook_id: webhookId } = row;
  const repeated = items.map(({ event_id: eventId, lane }) => ({ webhookId, eventId, lane }));
  const numbered = items.map((item): Statement => {
    const query = builder
      .updateTable('webhook_redelivery_item')
      .set((eb) => ({
        attempt: eb
          .selectFrom('webhook_delivery as d')
          .select('d.attempts')
          .where('d.webhook_id', '=', webhookId)
          .where('d.delivery_id', '=', item.delivery_id),
      }))
      .where(isItem(row, item));
    return { query: query.compile(), expectChanges: 1 };
  });
  return [...onceMore(builder, repeated, now), ...numbered];
};
