import type { LogPosition } from '../ports/event-store.ts';
import type { WebhookSubscription } from './subscriptions.ts';
import { sql } from 'kysely';

import type { SqlDatabase } from '../sql/sql-database.ts';
import { VISIBLE, heldFilter, subscriptionOf } from './subscriptions.ts';

export interface ComparedSubscription extends WebhookSubscription {
  /** Place in the log behind which its present choice of events and funds held for certain; null where none was noted. */
  readonly filterFrom: LogPosition | 'start' | null;
}

export interface ComparedDelivery {
  readonly webhookId: string;
  readonly eventId: string;
  readonly deliveryId: string;
  readonly sequence: number;
  readonly waits: boolean;
  readonly attempted: boolean;
  /** When it was delivered or given up; null while it waits, and where an attempt by hand was made. */
  readonly endedAt: string | null;
}

export interface KeptDelivery {
  readonly deliveryId: string;
  readonly eventId: string;
  readonly event: {
    readonly name: string;
    readonly code: string;
    readonly sequence: number;
    readonly timestamp: string;
  } | null;
}

/**
 * missing: the subscription asked for the event and has no delivery of it. not_asked_for: it has one of an event that it did not ask for.
 * out_of_order: an event went out before an earlier one of its operation. twice: a delivery repeats an event under another id. unknown: the
 * log has no such event.
 */
type DifferenceKind = 'missing' | 'not_asked_for' | 'out_of_order' | 'twice' | 'unknown';

export interface DeliveryDifference {
  readonly kind: DifferenceKind;
  readonly webhookId: string;
  readonly applicationId: string;
  readonly eventId: string;
  /** Null where the stored event is gone, like the rest. */
  readonly event: string | null;
  readonly code: string | null;
  readonly sequence: number | null;
  readonly timestamp: string | null;
  readonly detail: string;
  readonly repaired: boolean;
}

interface KeptCount {
  readonly bucket: string;
  readonly deliveries: number;
}

/** Characters of an id that name its bucket: about a quarter of an hour of deliveries each. */
export const BUCKET_CHARACTERS = 7;

const IDS_AT_ONCE = 1_000;

/** What is read to compare deliveries with the log; pings are in no answer, nor are removed subscriptions. */
export class DeliveryComparison {
  readonly #database: SqlDatabase;

  constructor(database: SqlDatabase) {
    this.#database = database;
  }

  /** In no order; default: of all applications. */
  async subscriptions(applicationId?: string): Promise<readonly ComparedSubscription[]> {
    const query = this.#database.builder
      .selectFrom('webhook_subscription')
      .select([...VISIBLE, 'filter_from', 'filter_held'])
      .where('status', '<>', 'removed')
      .$if(applicationId !== undefined, (q) => q.where('application_id', '=', applicationId!));
    return (await this.#database.read(query)).map((row) => ({
      ...subscriptionOf(row),
      // A release that does not know the note may have changed the filter since.
      filterFrom:
        row.filter_held === heldFilter(row) ? (row.filter_from as ComparedSubscription['filterFrom']) : null,
    }));
  }

  async ofEvents(eventIds: readonly string[]): Promise<readonly ComparedDelivery[]> {
    const found: ComparedDelivery[] = [];
    for (let at = 0; at < eventIds.length; at += IDS_AT_ONCE) {
      const query = this.#database.builder
        .selectFrom('webhook_delivery')
        .select(['webhook_id', 'event_id', 'delivery_id', 'sequence', 'waiting_lane'])
        .select(['attempts', 'scheduled_attempts', 'delivered_at', 'finished_at'])
        .where('event_id', 'in', eventIds.slice(at, at + IDS_AT_ONCE));
      for (const row of await this.#database.read(query))
        found.push({
          webhookId: row.webhook_id,
          eventId: row.event_id,
          deliveryId: row.delivery_id,
          sequence: row.sequence,
          waits: row.waiting_lane !== null,
          attempted: row.scheduled_attempts > 0,
          // An attempt by hand moves the times.
          endedAt: row.attempts === row.scheduled_attempts ? (row.delivered_at ?? row.finished_at) : null,
        });
    }
    return found;
  }

  /** Of one subscription with ids from `from` on and before `to`, by bucket. */
  async counts(webhookId: string, from: string, to: string): Promise<readonly KeptCount[]> {
    const bucket = sql<string>`substr(delivery_id, 1, ${sql.lit(BUCKET_CHARACTERS)})`;
    return this.#database.read(
      this.#ofOperations(webhookId)
        .select((eb) => [bucket.as('bucket'), eb.fn.countAll<number>().as('deliveries')])
        .where('d.delivery_id', '>=', from)
        .where('d.delivery_id', '<', to)
        .groupBy(bucket),
    );
  }

  async page(
    webhookId: string,
    { after, to }: { readonly after: string; readonly to: string },
    limit: number,
  ): Promise<readonly KeptDelivery[]> {
    const rows = await this.#database.read(
      this.#ofOperations(webhookId)
        .select(['d.delivery_id', 'd.event_id', 'e.name', 'e.code', 'e.sequence', 'e.occurred_at'])
        .where('d.delivery_id', '>', after)
        .where('d.delivery_id', '<', to)
        .orderBy('d.delivery_id')
        .limit(limit),
    );
    return rows.map((row) => ({
      deliveryId: row.delivery_id,
      eventId: row.event_id,
      event:
        row.code === null
          ? null
          : { name: row.name!, code: row.code, sequence: row.sequence!, timestamp: row.occurred_at! },
    }));
  }

  /** An event without a code is a ping; a delivery without an event is one too many. */
  #ofOperations(webhookId: string) {
    return this.#database.builder
      .selectFrom('webhook_delivery as d')
      .leftJoin('webhook_event as e', 'e.event_id', 'd.event_id')
      .where('d.webhook_id', '=', webhookId)
      .where((eb) => eb.or([eb('e.code', 'is not', null), eb('e.event_id', 'is', null)]));
  }
}
