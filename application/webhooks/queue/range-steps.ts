import { sql } from 'kysely';
import { GuardFailedError } from '../../sql/sql-database.ts';
import type { SqlDatabase, Statement } from '../../sql/sql-database.ts';
import type {
  WebhookAttemptTable,
  WebhookRedeliveryItemTable,
  WebhookRedeliveryTable,
} from '../../sql/webhook-tables.ts';
import { REDELIVERY } from './enqueue.ts';
import { REPEATABLE } from './lane-heads.ts';
import { onceMore } from './redeliver.ts';

/** After so many attempts in a row without an answer nothing more is sent. No more are queued at a time, so it never takes more than these. */
const MOST_SILENT = 10;

type Item = Omit<WebhookRedeliveryItemTable, 'redelivery_id'>;
type Attempt = Pick<
  WebhookAttemptTable,
  'delivery_id' | 'attempt' | 'started_at' | 'duration_ms' | 'response_status' | 'error'
>;

/** What has become of the first item of each lane. */
interface Front {
  readonly ended: readonly { readonly item: Item; readonly attempt: Attempt }[];
  readonly gone: readonly Item[];
  readonly underWay: number;
  readonly next: readonly Item[];
}

const laneOfItem = ({ delivery_id: id, attempt }: Item): string => `${REDELIVERY}${id}/${attempt}`;

const endOf = ({ attempt }: Front['ended'][number]): number =>
  Date.parse(attempt.started_at) + attempt.duration_ms;

/** Works on redeliveries of a span of time, in small transactions: counts what was answered, and queues what comes next. */
export class RangeSteps {
  readonly #database: SqlDatabase;

  constructor(database: SqlDatabase) {
    this.#database = database;
  }

  /**
   * One step of one that is selected. Of two processes that make it at once, one does; after a crash the next one goes on.
   * @returns whether anything changed
   */
  async step(row: WebhookRedeliveryTable, now: string): Promise<boolean> {
    if (row.status !== 'running' || row.selected_to !== null) return false;
    const heads = await this.#database.read(this.#heads(row));
    const { ended, gone, underWay, next } = await this.#front(row, heads);
    const silent = ended
      .toSorted((one, other) => endOf(one) - endOf(other))
      .reduce((count, { attempt }) => (attempt.response_status === null ? count + 1 : 0), row.silent);
    const queued = next.slice(0, Math.max(0, MOST_SILENT - silent - underWay));
    const settled = [...ended.map(({ item }) => item), ...gone];
    if (heads.length > 0 && settled.length + queued.length === 0) return false;
    const delivered = ended.filter(({ attempt }) => attempt.error === null).length;
    const noted = this.#noted(row, {
      silent,
      delivered: row.delivered + delivered,
      failed: row.failed + ended.length - delivered,
      gone: row.gone + gone.length,
      first_lane: heads[0]?.lane ?? null,
      ...(heads.length === 0 && { status: 'completed', completed_at: now }),
      ...(silent >= MOST_SILENT && { status: 'stopped', completed_at: now }),
    });
    return this.#stored([
      noted,
      ...settled.map((item) => this.#removed(row, item)),
      ...this.#queued(row, queued, now),
    ]);
  }

  async #stored(statements: readonly Statement[]): Promise<boolean> {
    try {
      await this.#database.transaction(statements, REPEATABLE);
      return true;
    } catch (error) {
      // Another process was there first, or retention took a delivery away: the next step sees what is true then.
      if (error instanceof GuardFailedError) return false;
      throw error;
    }
  }

  /** The first item of each of the first lanes. What is under way is among them, since lanes are begun in their order. */
  #heads({ redelivery_id: id, first_lane: first }: WebhookRedeliveryTable) {
    return this.#database.builder
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
      .innerJoin('webhook_redelivery_item as item', (join) =>
        join
          .on('item.redelivery_id', '=', id)
          .onRef('item.lane', '=', 'front.lane')
          .on((eb) =>
            eb(
              'item.sequence',
              '=',
              eb
                .selectFrom('webhook_redelivery_item as i')
                .select((head) => head.fn.min('i.sequence').as('sequence'))
                .where('i.redelivery_id', '=', id)
                .whereRef('i.lane', '=', 'front.lane')
                .$asScalar(),
            ),
          ),
      )
      .select(['item.lane', 'item.sequence', 'item.delivery_id', 'item.event_id', 'item.attempt'])
      .orderBy('item.lane')
      .orderBy('item.delivery_id');
  }

  async #front({ webhook_id: webhookId }: WebhookRedeliveryTable, heads: readonly Item[]): Promise<Front> {
    if (heads.length === 0) return { ended: [], gone: [], underWay: 0, next: [] };
    const { builder } = this.#database;
    const ids = heads.map(({ delivery_id: id }) => id);
    const [lanes, attempts, there] = await this.#database.snapshot([
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
  }

  #noted(row: WebhookRedeliveryTable, change: Partial<WebhookRedeliveryTable>): Statement {
    const query = this.#database.builder
      .updateTable('webhook_redelivery')
      .set({ ...change, version: row.version + 1 })
      .where('redelivery_id', '=', row.redelivery_id)
      .where('status', '=', 'running')
      .where('version', '=', row.version);
    return { query: query.compile(), expectChanges: 1 };
  }

  #removed({ redelivery_id: id }: WebhookRedeliveryTable, item: Item): Statement {
    const query = this.#database.builder
      .deleteFrom('webhook_redelivery_item')
      .where('redelivery_id', '=', id)
      .where('lane', '=', item.lane)
      .where('sequence', '=', item.sequence)
      .where('delivery_id', '=', item.delivery_id);
    return { query: query.compile(), expectChanges: 1 };
  }

  /** The number of the attempt is known once it is taken. */
  #queued(
    { redelivery_id, webhook_id: webhookId }: WebhookRedeliveryTable,
    items: readonly Item[],
    now: string,
  ) {
    const { builder } = this.#database;
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
        .where('redelivery_id', '=', redelivery_id)
        .where('lane', '=', item.lane)
        .where('sequence', '=', item.sequence)
        .where('delivery_id', '=', item.delivery_id);
      return { query: query.compile(), expectChanges: 1 };
    });
    return [...onceMore(builder, repeated, now), ...numbered];
  }
}
