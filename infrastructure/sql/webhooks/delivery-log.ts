import { sql } from 'kysely';
import type { ExpressionBuilder, Kysely } from 'kysely';
import { firstIdAt } from '../../../application/support/time-ordered-id.ts';
import { DomainError } from '../../../domain/shared/domain-error.ts';
import type {
  AttemptRecord,
  DeliveryLag,
  DeliveryLog,
  DeliveryPage,
  DeliveryQuery,
  DeliveryRecord,
  DeliveryState,
  EventDelivery,
} from '../../../application/ports/delivery-log.ts';
import type { Schema } from '../schema.ts';
import type { SqlDatabase } from '../sql-database.ts';
import type { WebhookAttemptTable, WebhookDeliveryTable, WebhookEventTable } from './schema.ts';
import { LagFloors } from './lag-floors.ts';
import { floorRows } from './lane-floors.ts';

/** Written out, not bound: a partial index is found by its own condition only. */
const LITERALS: Readonly<Record<DeliveryState, ReturnType<typeof sql.lit<DeliveryState>>>> = {
  pending: sql.lit('pending'),
  retrying: sql.lit('retrying'),
  delivered: sql.lit('delivered'),
  failed: sql.lit('failed'),
};

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

type Row = Pick<
  WebhookDeliveryTable,
  | 'delivery_id'
  | 'event_id'
  | 'status'
  | 'attempts'
  | 'created_at'
  | 'last_attempt_at'
  | 'next_attempt_at'
  | 'delivered_at'
  | 'last_response_status'
  | 'last_error'
> &
  Pick<WebhookEventTable, 'name' | 'code' | 'fund_id'>;

const SHOWN = [
  ...(['d.delivery_id', 'd.event_id', 'd.status', 'd.attempts', 'd.created_at'] as const),
  ...(['d.last_attempt_at', 'd.next_attempt_at', 'd.delivered_at'] as const),
  ...(['d.last_response_status', 'd.last_error', 'e.name', 'e.code', 'e.fund_id'] as const),
] as const;

/** Without the answers' bodies: a page of them would be megabytes, and the list does not show them. */
const LISTED = ['delivery_id', 'attempt', 'started_at', 'duration_ms', 'response_status', 'error'] as const;

const attemptOf = (row: Pick<WebhookAttemptTable, (typeof LISTED)[number]>): AttemptRecord => ({
  attempt: row.attempt,
  at: row.started_at,
  durationMs: row.duration_ms,
  responseStatus: row.response_status,
  error: row.error,
});

const recordOf = (row: Row, attemptLog: readonly AttemptRecord[]): DeliveryRecord => ({
  deliveryId: row.delivery_id,
  eventId: row.event_id,
  event: row.name,
  code: row.code,
  fundId: row.fund_id,
  status: row.status,
  attempts: row.attempts,
  createdAt: row.created_at,
  lastAttemptAt: row.last_attempt_at,
  nextAttemptAt: row.status === 'retrying' ? row.next_attempt_at : null,
  deliveredAt: row.delivered_at,
  lastResponseStatus: row.last_response_status,
  lastError: row.last_error,
  attemptLog,
});

/** Creation of the oldest delivery in this state at the subscription `s` of the enclosing query. */
const oldestOf = (builder: Kysely<Schema>, status: DeliveryState, floored: boolean) =>
  builder
    .selectFrom('webhook_delivery as oldest')
    .select('oldest.created_at')
    .where('oldest.webhook_id', '=', sql.ref<string>('s.webhook_id'))
    .where('oldest.delivery_id', '=', (eb) =>
      eb
        .selectFrom('webhook_delivery as d')
        .select((d) => d.fn.min('d.delivery_id').as('delivery_id'))
        .where('d.webhook_id', '=', sql.ref<string>('s.webhook_id'))
        .where('d.status', '=', LITERALS[status])
        .where('d.status', '<>', LITERALS.delivered)
        .$if(floored, (q) => q.where('d.delivery_id', '>=', sql<string>`coalesce(floor.value, '')`)),
    );

const ofFunds = (fundIds: readonly string[]) => (eb: ExpressionBuilder<Schema, 'webhook_delivery'>) =>
  eb.exists(
    eb
      .selectFrom('webhook_event as of')
      .select('of.event_id')
      .whereRef('of.event_id', '=', 'webhook_delivery.event_id')
      .where('of.fund_id', 'in', fundIds),
  );

/** Delivery ids sort by creation, so pages are ranges of the key. */
export class SqlDeliveryLog implements DeliveryLog {
  readonly #database: SqlDatabase;
  readonly #floors: LagFloors;

  /** @param now UNIX milliseconds */
  constructor(database: SqlDatabase, now: () => number = () => Date.now()) {
    this.#database = database;
    this.#floors = new LagFloors(database.dialect, now);
  }

  async list(query: DeliveryQuery): Promise<DeliveryPage> {
    if (query.cursor !== undefined && !UUID.test(query.cursor)) {
      throw new DomainError('invalid_query_parameter', 'cursor: use the next_cursor of the previous page');
    }
    const { builder } = this.#database;
    const attempts = builder
      .selectFrom('webhook_attempt')
      .select(LISTED)
      .where('delivery_id', 'in', this.#ids(query))
      .orderBy('delivery_id')
      .orderBy('attempt');
    const [rows, log] = await this.#database.snapshot([this.#rows(query), attempts]);
    const logs = Map.groupBy(log, (row) => row.delivery_id);
    const shown = rows.slice(0, query.limit);
    const deliveries = shown.map((row) => recordOf(row, (logs.get(row.delivery_id) ?? []).map(attemptOf)));
    const last = shown.at(-1);
    return { deliveries, nextCursor: last && rows.length > query.limit ? last.delivery_id : null };
  }

  /** Found by an index alone, but for a choice of funds. One more than asked for tells whether there is a next page. */
  #ids({ webhookId, status, onlyFundIds, since, limit, cursor }: DeliveryQuery) {
    return this.#database.builder
      .selectFrom('webhook_delivery')
      .select('delivery_id')
      .where('webhook_id', '=', webhookId)
      .$if(status !== undefined, (q) => q.where('status', '=', LITERALS[status!]))
      .$if(status !== undefined && status !== 'delivered', (q) => q.where('status', '<>', LITERALS.delivered))
      .$if(onlyFundIds !== undefined, (q) => q.where(ofFunds(onlyFundIds!)))
      .$if(since !== undefined, (q) => q.where('delivery_id', '>=', firstIdAt(Date.parse(since!))))
      .$if(cursor !== undefined, (q) => q.where('delivery_id', '<', cursor!))
      .orderBy('delivery_id', 'desc')
      .limit(limit + 1);
  }

  #rows(query: DeliveryQuery) {
    const { webhookId, since } = query;
    return (
      this.#database.builder
        .selectFrom(this.#ids(query).as('page'))
        .innerJoin('webhook_delivery as d', (join) =>
          join.onRef('d.delivery_id', '=', 'page.delivery_id').on('d.webhook_id', '=', webhookId),
        )
        .innerJoin('webhook_event as e', 'e.event_id', 'd.event_id')
        .select(SHOWN)
        // Ids may run a little ahead of the clock, so the oldest of the page can be older than their ids say.
        .$if(since !== undefined, (q) => q.where('d.created_at', '>=', since!))
        .orderBy('page.delivery_id', 'desc')
    );
  }

  ofEvent(eventId: string): Promise<readonly EventDelivery[]> {
    return this.ofEvents([eventId]);
  }

  async ofEvents(eventIds: readonly string[]): Promise<readonly EventDelivery[]> {
    if (eventIds.length === 0) return [];
    const { builder } = this.#database;
    const deliveries = builder
      .selectFrom('webhook_delivery as d')
      .innerJoin('webhook_event as e', 'e.event_id', 'd.event_id')
      .innerJoin('webhook_subscription as s', 's.webhook_id', 'd.webhook_id')
      .select(['d.webhook_id', ...SHOWN])
      .where('d.event_id', 'in', eventIds)
      .where('s.status', '<>', 'removed')
      .orderBy('d.delivery_id');
    const attempts = builder
      .selectFrom('webhook_attempt')
      .select([...LISTED, 'response_body'])
      .where('delivery_id', 'in', (eb) =>
        eb.selectFrom('webhook_delivery').select('delivery_id').where('event_id', 'in', eventIds),
      )
      .orderBy('delivery_id')
      .orderBy('attempt');
    const [rows, log] = await this.#database.snapshot([deliveries, attempts]);
    const logs = Map.groupBy(log, (row) => row.delivery_id);
    return rows.map((row) => {
      const own = logs.get(row.delivery_id) ?? [];
      const attemptLog = own.map((one) => ({ ...attemptOf(one), responseBody: one.response_body }));
      return { ...recordOf(row, attemptLog), webhookId: row.webhook_id, attemptLog };
    });
  }

  async lag(): Promise<readonly DeliveryLag[]> {
    const { builder } = this.#database;
    const floors = this.#floors.known();
    const oldest = (status: DeliveryState) => oldestOf(builder, status, floors !== undefined);
    const rows = await this.#database.read(
      builder
        .selectFrom('webhook_subscription as s')
        .$if(floors !== undefined, (q) =>
          q.leftJoin(floorRows(floors!, 'floor'), 'floor.key', 's.webhook_id'),
        )
        .select('s.webhook_id')
        .select([oldest('pending').as('pending'), oldest('retrying').as('retrying')])
        .where('s.status', '<>', 'removed'),
    );
    const lags = rows.map(({ webhook_id: webhookId, pending, retrying }) => ({
      webhookId,
      oldestCreatedAt: [pending, retrying].filter((instant) => instant !== null).sort()[0],
    }));
    this.#floors.looked(lags, floors === undefined);
    return lags.flatMap(({ webhookId, oldestCreatedAt }) =>
      oldestCreatedAt === undefined ? [] : [{ webhookId, oldestCreatedAt }],
    );
  }
}
