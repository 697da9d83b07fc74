import { sql } from 'kysely';
import { guarded } from '../../sql/compare-and-set.ts';
import { textRows } from '../../sql/engine.ts';
import type { SqlDatabase, Statement } from '../../sql/sql-database.ts';
import type { WebhookRedeliveryTable } from '../../sql/webhook-tables.ts';
import { firstIdAt } from '../../support/time-ordered-id.ts';
import { pingLane } from './enqueue.ts';
import { REPEATABLE } from './lane-heads.ts';
import { notedRange } from './range-steps.ts';

/** Deliveries looked at in one step: what follows it in the store waits no longer than for so many rows. */
const PAGE = 1_000;

/** Ids run ahead of the clock where it was set back while a process ran; so far they are followed. */
const IDS_AHEAD_MS = 86_400_000;

const FAILED = sql.lit('failed' as const);
const DELIVERED = sql.lit('delivered' as const);

/**
 * Notes which deliveries a redelivery of a span of time is about, a page in a transaction with how far it has come; nothing where another
 * process has taken the page, or a delivery was removed in this moment.
 */
export const selectPage = async (
  database: SqlDatabase,
  row: WebhookRedeliveryTable,
  now: string,
): Promise<void> => {
  if (row.status !== 'running' || row.selected_to === null) return;
  const looked = await database.read(nextOf(database, row, row.selected_to));
  const ids = looked
    .filter(({ status }) => status === 'failed' || (row.choice === 'any' && status === 'delivered'))
    .filter(({ created_at: at }) => at >= row.since && at < row.until)
    .map(({ delivery_id: id }) => id);
  const done = looked.length < PAGE;
  const queued = row.queued + ids.length;
  const noted = notedRange(database.builder, row, {
    queued,
    selected_to: done ? null : looked.at(-1)!.delivery_id,
    ...(done && queued === 0 && { status: 'completed', first_lane: null, completed_at: now }),
  });
  const statements = ids.length === 0 ? [noted] : [noted, itemsOf(database, row, ids)];
  // The last one makes those before it durable as well.
  await guarded(database.transaction(statements, done ? {} : REPEATABLE));
};

const nextOf = (
  { builder }: SqlDatabase,
  { webhook_id: webhookId, choice, until }: WebhookRedeliveryTable,
  after: string,
) =>
  builder
    .selectFrom('webhook_delivery')
    .select(['delivery_id', 'status', 'created_at'])
    .where('webhook_id', '=', webhookId)
    .where('delivery_id', '>', after)
    .where('delivery_id', '<', firstIdAt(Date.parse(until) + IDS_AHEAD_MS))
    // Written out, as the partial index has it.
    .$if(choice === 'failed', (q) => q.where('status', '=', FAILED).where('status', '<>', DELIVERED))
    .orderBy('delivery_id')
    .limit(PAGE);

const itemsOf = (database: SqlDatabase, row: WebhookRedeliveryTable, ids: readonly string[]): Statement => {
  const { builder } = database;
  // A cross join is made in this order.
  const chosen = builder
    .selectFrom(textRows(database, ids).as('chosen'))
    .crossJoin('webhook_delivery as d')
    .innerJoin('webhook_event as e', 'e.event_id', 'd.event_id')
    .select((eb) => [
      eb.val(row.redelivery_id).as('redelivery_id'),
      eb.fn.coalesce('e.code', pingLane(eb.ref('e.event_id'))).as('lane'),
      'd.sequence',
      'd.delivery_id',
      'd.event_id',
    ])
    .where('d.webhook_id', '=', row.webhook_id)
    .whereRef('d.delivery_id', '=', 'chosen.value');
  const query = builder
    .insertInto('webhook_redelivery_item')
    .columns(['redelivery_id', 'lane', 'sequence', 'delivery_id', 'event_id'])
    .expression(chosen);
  return { query: query.compile(), expectChanges: ids.length };
};
