import { sql } from 'kysely';
import type { ExpressionBuilder } from 'kysely';
import { DomainError } from '../../domain/shared/domain-error.ts';
import type { Schema } from '../sql/schema.ts';
import type { SqlDatabase } from '../sql/sql-database.ts';
import { deliveryIds, lookedAt } from './delivery-ids.ts';
import type { DeliveryQuery } from './delivery-ids.ts';
import type { WebhookAttemptTable, WebhookDeliveryTable, WebhookEventTable } from '../sql/webhook-tables.ts';

export const DELIVERY_STATES = ['pending', 'retrying', 'delivered', 'failed'] as const;

/** pending: no attempt yet. retrying: failed so far. failed: every attempt of the schedule is used up. */
export type DeliveryState = (typeof DELIVERY_STATES)[number];

export interface AttemptRecord {
  /** 1 for the first. */
  readonly attempt: number;
  /** When it started. */
  readonly at: string;
  readonly durationMs: number;
  /** null when no status line came back */
  readonly responseStatus: number | null;
  /** null when it succeeded */
  readonly error: string | null;
}

export interface DeliveryRecord {
  readonly deliveryId: string;
  readonly eventId: string;
  readonly event: string;
  /** null for `webhook.ping`, as is the fund */
  readonly code: string | null;
  readonly fundId: string | null;
  readonly status: DeliveryState;
  readonly attempts: number;
  readonly createdAt: string;
  readonly lastAttemptAt: string | null;
  /** Not before this instant; null unless retrying. */
  readonly nextAttemptAt: string | null;
  readonly deliveredAt: string | null;
  readonly lastResponseStatus: number | null;
  readonly lastError: string | null;
  /** Oldest first. */
  readonly attemptLog: readonly AttemptRecord[];
}

/** What stands before a delivery in its lane, so that it cannot be sent. */
export interface BlockedBy {
  readonly eventId: string;
  readonly event: string;
  /** When it is tried, again or for the first time; past while that is under way. */
  readonly triedAt: string;
}

export interface DeliveryPage {
  readonly deliveries: readonly DeliveryRecord[];
  readonly nextCursor: string | null;
}

/** What is kept of an attempt, as long as its delivery. */
export interface EndedAttempt extends AttemptRecord {
  /** The first 2 KiB of what the receiver answered; null when it answered nothing. */
  readonly responseBody: string | null;
}

export interface EventDelivery extends DeliveryRecord {
  readonly webhookId: string;
  readonly attemptLog: readonly EndedAttempt[];
}

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

/** Id of the first delivery in the lane of `d`. */
const headInLane = (eb: ExpressionBuilder<Schema & { d: WebhookDeliveryTable }, 'd'>) =>
  eb
    .selectFrom('webhook_delivery as first')
    .select('first.delivery_id')
    .whereRef('first.webhook_id', '=', 'd.webhook_id')
    .whereRef('first.waiting_lane', '=', 'd.waiting_lane')
    .orderBy('first.sequence')
    .orderBy('first.delivery_id')
    .limit(sql.lit(1));

/**
 * What became of deliveries. Costs grow with the page, not with the history: delivery ids sort by creation, so pages are ranges of
 * the key.
 */
export class DeliveryLog {
  readonly #database: SqlDatabase;

  constructor(database: SqlDatabase) {
    this.#database = database;
  }

  /**
   * Newest first; a page of some names, or after the clock was set back, may be short, or empty, with others behind it.
   * @throws DomainError `invalid_query_parameter` for a cursor that it did not make
   */
  async list(query: DeliveryQuery): Promise<DeliveryPage> {
    if (query.cursor !== undefined && !UUID.test(query.cursor)) {
      throw new DomainError('invalid_query_parameter', 'cursor: use the next_cursor of the previous page');
    }
    const { builder } = this.#database;
    const end = await lookedAt(this.#database, query);
    const ids = deliveryIds(this.#database, query, end);
    const attempts = builder
      .selectFrom('webhook_attempt')
      .select(LISTED)
      .where('delivery_id', 'in', ids)
      .orderBy('delivery_id')
      .orderBy('attempt');
    const [rows, log] = await this.#database.snapshot([this.#rows(query, ids), attempts]);
    const logs = Map.groupBy(log, (row) => row.delivery_id);
    const page = rows.slice(0, query.limit);
    // Ids run ahead of the clock, and far ahead where it was set back: some of the page may be older than their ids say.
    const shown = page.filter(({ created_at: at }) => query.since === undefined || at >= query.since);
    const deliveries = shown.map((row) => recordOf(row, (logs.get(row.delivery_id) ?? []).map(attemptOf)));
    const last = page.at(-1);
    return { deliveries, nextCursor: last && rows.length > query.limit ? last.delivery_id : (end ?? null) };
  }

  #rows({ webhookId }: DeliveryQuery, ids: ReturnType<typeof deliveryIds>) {
    return this.#database.builder
      .selectFrom(ids.as('page'))
      .innerJoin('webhook_delivery as d', (join) =>
        join.onRef('d.delivery_id', '=', 'page.delivery_id').on('d.webhook_id', '=', webhookId),
      )
      .innerJoin('webhook_event as e', 'e.event_id', 'd.event_id')
      .select(SHOWN)
      .orderBy('page.delivery_id', 'desc');
  }

  /** Oldest first; of removed subscriptions none. An application has few subscriptions. */
  ofEvent(eventId: string): Promise<readonly EventDelivery[]> {
    return this.ofEvents([eventId]);
  }

  /** Deliveries of several events, at most a few hundred. */
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

  /** By the ids of these deliveries of one subscription, at most a few hundred, those that wait behind another. */
  async blocked(webhookId: string, deliveryIds: readonly string[]): Promise<ReadonlyMap<string, BlockedBy>> {
    if (deliveryIds.length === 0) return new Map();
    const rows = await this.#database.read(
      this.#database.builder
        .selectFrom('webhook_delivery as d')
        .innerJoin('webhook_delivery as h', (join) =>
          join.onRef('h.webhook_id', '=', 'd.webhook_id').on('h.delivery_id', '=', headInLane),
        )
        .innerJoin('webhook_event as e', 'e.event_id', 'h.event_id')
        .select(['d.delivery_id', 'h.event_id', 'e.name', 'h.next_attempt_at'])
        .where('d.webhook_id', '=', webhookId)
        .where('d.delivery_id', 'in', deliveryIds)
        .where('d.waiting_lane', 'is not', null)
        .whereRef('h.delivery_id', '<>', 'd.delivery_id'),
    );
    return new Map(
      rows.map((row) => [
        row.delivery_id,
        { eventId: row.event_id, event: row.name, triedAt: row.next_attempt_at! },
      ]),
    );
  }
}
