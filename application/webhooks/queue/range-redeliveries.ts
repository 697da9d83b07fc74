import { sql } from 'kysely';
import type { Kysely } from 'kysely';
import { guarded } from '../../sql/compare-and-set.ts';
import type { Schema } from '../../sql/schema.ts';
import { textRows } from '../../sql/engine.ts';
import type { SqlDatabase, Statement } from '../../sql/sql-database.ts';
import { firstIdAt } from '../../support/time-ordered-id.ts';
import { pingLane } from './enqueue.ts';
import { REPEATABLE } from './lane-heads.ts';
import { notedRange, stepRange } from './range-steps.ts';

export const RANGE_CHOICES = ['failed', 'any'] as const;
export const RANGE_STATES = ['running', 'completed', 'stopped', 'cancelled'] as const;

/** Written out, because an index holds only such rows. */
const RUNNING = sql.lit('running' as const);

export interface RangeRedelivery {
  readonly redeliveryId: string;
  readonly webhookId: string;
  /** stopped: nobody answered ten attempts in a row. cancelled: the webhook was deleted. */
  readonly status: (typeof RANGE_STATES)[number];
  /** Created at or after. */
  readonly since: string;
  /** Created before. */
  readonly until: string;
  readonly queued: number;
  /** Of them, how many were removed for their age before their attempt. */
  readonly gone: number;
  readonly delivered: number;
  readonly failed: number;
  readonly createdAt: string;
  readonly completedAt: string | null;
}

interface NewRange extends Pick<
  RangeRedelivery,
  'redeliveryId' | 'webhookId' | 'since' | 'until' | 'createdAt'
> {
  readonly applicationId: string;
  readonly choice: (typeof RANGE_CHOICES)[number];
}

const SHOWN = [
  ...(['redelivery_id as redeliveryId', 'webhook_id as webhookId', 'status', 'since', 'until'] as const),
  ...(['queued', 'gone', 'delivered', 'failed'] as const),
  ...(['created_at as createdAt', 'completed_at as completedAt'] as const),
] as const;

export const cancellation = (builder: Kysely<Schema>, now: string, webhookId?: string) =>
  builder
    .updateTable('webhook_redelivery')
    .set((eb) => ({ status: 'cancelled', completed_at: now, version: eb('version', '+', 1) }))
    .where('status', '=', RUNNING)
    .$if(webhookId !== undefined, (q) => q.where('webhook_id', '=', webhookId!))
    .where((eb) =>
      eb.not(
        eb.exists(
          eb
            .selectFrom('webhook_subscription as s')
            .select('s.webhook_id')
            .whereRef('s.webhook_id', '=', 'webhook_redelivery.webhook_id')
            .where('s.status', '<>', 'removed'),
        ),
      ),
    )
    .compile();

/** Redeliveries of a span of time, of all webhooks: at most one runs at a webhook. Everything is durable when a call resolves. */
export class RangeRedeliveries {
  readonly #database: SqlDatabase;

  constructor(database: SqlDatabase) {
    this.#database = database;
  }

  /** False, and nothing stored, while one runs at this webhook. What it is about is not selected yet. */
  async begin(range: NewRange): Promise<boolean> {
    const insert = this.#database.builder
      .insertInto('webhook_redelivery')
      .values({
        redelivery_id: range.redeliveryId,
        webhook_id: range.webhookId,
        application_id: range.applicationId,
        status: 'running',
        choice: range.choice,
        since: range.since,
        until: range.until,
        ...{ queued: 0, gone: 0, delivered: 0, failed: 0, silent: 0, version: 0 },
        selected_to: firstIdAt(Date.parse(range.since)),
        first_lane: '',
        created_at: range.createdAt,
      })
      .onConflict((conflict) => conflict.doNothing());
    return guarded(this.#database.transaction([{ query: insert.compile(), expectChanges: 1 }]));
  }

  /** Selects what is not selected yet, in small steps, beside whoever else does. */
  async select(redeliveryId: string, now: string): Promise<void> {
    while (await this.selectSome(redeliveryId, now));
  }

  /** One of these steps; false once there is nothing more to select. */
  async selectSome(redeliveryId: string, now: string): Promise<boolean> {
    const [row] = await this.#database.read(this.#one(redeliveryId).selectAll());
    return row !== undefined && selectPage(this.#database, row, now);
  }

  async find(
    applicationId: string,
    webhookId: string,
    redeliveryId: string,
  ): Promise<RangeRedelivery | undefined> {
    const query = this.#one(redeliveryId)
      .select(SHOWN)
      .where('application_id', '=', applicationId)
      .where('webhook_id', '=', webhookId);
    return (await this.#database.read(query))[0];
  }

  async runningAt(webhookId: string): Promise<RangeRedelivery | undefined> {
    return (await this.#database.read(this.#running().select(SHOWN).where('webhook_id', '=', webhookId)))[0];
  }

  running(): Promise<readonly Schema['webhook_redelivery'][]> {
    return this.#database.read(this.#running().selectAll());
  }

  /** The next step at this webhook: what was answered is counted, what comes next is queued. False when nothing changed. */
  async step(webhookId: string, now: string): Promise<boolean> {
    const [row] = await this.#database.read(this.#running().selectAll().where('webhook_id', '=', webhookId));
    return row !== undefined && stepRange(this.#database, row, now);
  }

  async cancelRemoved(now: string): Promise<void> {
    await this.#database.transaction([{ query: cancellation(this.#database.builder, now) }]);
  }

  #running() {
    return this.#database.builder
      .selectFrom('webhook_redelivery')
      .where('status', '=', RUNNING)
      .orderBy('redelivery_id');
  }

  #one(redeliveryId: string) {
    return this.#database.builder.selectFrom('webhook_redelivery').where('redelivery_id', '=', redeliveryId);
  }
}

/** Deliveries looked at in one step: what follows it in the store waits no longer than for so many rows. */
const PAGE = 1_000;

/** Ids run ahead of the clock where it was set back while a process ran; so far they are followed. */
const IDS_AHEAD_MS = 86_400_000;

const FAILED = sql.lit('failed' as const);
const DELIVERED = sql.lit('delivered' as const);

/** A page in a transaction; nothing where another process has taken it, or a delivery was removed. */
const selectPage = async (
  database: SqlDatabase,
  row: Schema['webhook_redelivery'],
  now: string,
): Promise<boolean> => {
  if (row.status !== 'running' || row.selected_to === null) return false;
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
  return true;
};

const nextOf = (
  { builder }: SqlDatabase,
  { webhook_id: webhookId, choice, until }: Schema['webhook_redelivery'],
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

const itemsOf = (
  database: SqlDatabase,
  row: Schema['webhook_redelivery'],
  ids: readonly string[],
): Statement => {
  const { builder } = database;
  // A cross join is made in this order.
  const chosen = builder
    .selectFrom(textRows(database, ids).as('chosen'))
    .crossJoin('webhook_delivery as d')
    // One that lost its event has no lane to say; it is gone once its turn comes.
    .leftJoin('webhook_event as e', 'e.event_id', 'd.event_id')
    .select((eb) => [
      eb.val(row.redelivery_id).as('redelivery_id'),
      eb.fn.coalesce('e.code', pingLane(eb.ref('d.event_id'))).as('lane'),
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
