import { sql } from 'kysely';
import { textRows } from '../../sql/engine.ts';
import { GuardFailedError } from '../../sql/sql-database.ts';
import type { SqlDatabase, Statement } from '../../sql/sql-database.ts';
import type { WebhookRedeliveryTable } from '../../sql/webhook-tables.ts';
import { firstIdAt } from '../../support/time-ordered-id.ts';
import { pingLane } from './enqueue.ts';
import { REPEATABLE } from './lane-heads.ts';

/** Deliveries looked at in one step: what follows it in the store waits no longer than for so many rows. */
const PAGE = 1_000;

/** Ids run ahead of the clock where it was set back while a process ran; so far they are followed. */
const IDS_AHEAD_MS = 86_400_000;

const FAILED = sql.lit('failed' as const);
const DELIVERED = sql.lit('delivered' as const);

/** Notes which deliveries a redelivery of a span of time is about, page by page, each in a transaction with how far it has come. */
export class RangeSelection {
  readonly #database: SqlDatabase;

  constructor(database: SqlDatabase) {
    this.#database = database;
  }

  /** The next page; nothing where another process has taken it, or a delivery was removed in this moment. */
  async page(row: WebhookRedeliveryTable, now: string): Promise<void> {
    if (row.status !== 'running' || row.selected_to === null) return;
    const looked = await this.#database.read(this.#next(row, row.selected_to));
    const ids = looked
      .filter(({ status }) => status === 'failed' || (row.choice === 'any' && status === 'delivered'))
      .filter(({ created_at: at }) => at >= row.since && at < row.until)
      .map(({ delivery_id: id }) => id);
    const done = looked.length < PAGE;
    const noted = this.#noted(row, ids.length, done ? null : looked.at(-1)!.delivery_id, now);
    const statements = ids.length === 0 ? [noted] : [noted, this.#items(row, ids)];
    try {
      // The last one makes those before it durable as well.
      await this.#database.transaction(statements, done ? {} : REPEATABLE);
    } catch (error) {
      if (!(error instanceof GuardFailedError)) throw error;
    }
  }

  #next({ webhook_id: webhookId, choice, until }: WebhookRedeliveryTable, after: string) {
    return (
      this.#database.builder
        .selectFrom('webhook_delivery')
        .select(['delivery_id', 'status', 'created_at'])
        .where('webhook_id', '=', webhookId)
        .where('delivery_id', '>', after)
        .where('delivery_id', '<', firstIdAt(Date.parse(until) + IDS_AHEAD_MS))
        // Written out, as the partial index has it.
        .$if(choice === 'failed', (q) => q.where('status', '=', FAILED).where('status', '<>', DELIVERED))
        .orderBy('delivery_id')
        .limit(PAGE)
    );
  }

  #noted(row: WebhookRedeliveryTable, found: number, selectedTo: string | null, now: string): Statement {
    const empty = selectedTo === null && row.queued + found === 0;
    const query = this.#database.builder
      .updateTable('webhook_redelivery')
      .set({
        queued: row.queued + found,
        selected_to: selectedTo,
        version: row.version + 1,
        ...(empty && { status: 'completed', first_lane: null, completed_at: now }),
      })
      .where('redelivery_id', '=', row.redelivery_id)
      .where('status', '=', 'running')
      .where('version', '=', row.version);
    return { query: query.compile(), expectChanges: 1 };
  }

  #items(row: WebhookRedeliveryTable, ids: readonly string[]): Statement {
    const { builder } = this.#database;
    // A cross join is made in this order.
    const chosen = builder
      .selectFrom(textRows(this.#database, ids).as('chosen'))
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
  }
}
