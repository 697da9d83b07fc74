import type { SealRecord, SqlSealBook } from '../audit/seals/seal-book.ts';
import type { BusinessClock, RealClock } from '../ports/clock.ts';
import type { LogPosition, RecordedEvent } from '../ports/event-store.ts';
import type { LogOrder } from '../ports/read-models.ts';
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
export interface DeliveryDifference {
  readonly kind: 'missing' | 'not_asked_for' | 'out_of_order' | 'twice' | 'unknown';
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
    return (await this.#database.read(query)).map(({ filter_from: from, filter_held: held, ...row }) => ({
      ...subscriptionOf(row),
      // A release that does not know the note may have changed the filter since.
      filterFrom: held === heldFilter(row) ? (from as ComparedSubscription['filterFrom']) : null,
    }));
  }

  async ofEvents(eventIds: readonly string[]): Promise<readonly ComparedDelivery[]> {
    const found: ComparedDelivery[] = [];
    for (let at = 0; at < eventIds.length; at += IDS_AT_ONCE) {
      const query = this.#database.builder
        .selectFrom('webhook_delivery')
        .select(['webhook_id as webhookId', 'event_id as eventId', 'delivery_id as deliveryId', 'sequence'])
        .select(['attempts', 'scheduled_attempts', 'waiting_lane', 'delivered_at', 'finished_at'])
        .where('event_id', 'in', eventIds.slice(at, at + IDS_AT_ONCE));
      for (const row of await this.#database.read(query)) {
        const {
          attempts,
          scheduled_attempts: scheduled,
          waiting_lane,
          delivered_at,
          finished_at,
          ...is
        } = row;
        // An attempt by hand moves the times.
        const endedAt = attempts === scheduled ? (delivered_at ?? finished_at) : null;
        found.push({ ...is, waits: waiting_lane !== null, attempted: scheduled > 0, endedAt });
      }
    }
    return found;
  }

  /** Of one subscription with ids from `from` on and before `to`, by bucket. */
  async counts(webhookId: string, from: string, to: string) {
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

export interface KeptDependencies {
  readonly book: Pick<SqlSealBook, 'page' | 'head' | 'lastBegin'>;
  readonly order: Pick<LogOrder, 'compare'>;
  readonly clock: BusinessClock;
  readonly realClock: RealClock;
  /** Of what was delivered; what was given up stays longer. */
  readonly keptForMs: number;
}

/** What a comparison takes may be removed meanwhile. */
const SLACK_MS = 3_600_000;

/**
 * Tells for which events no delivery can have been removed for its age. That goes by real time, events are recorded by business time: a
 * sandbox may have moved it by months. The seals say when a stretch of the log was there; without one the two clocks' distance bounds it.
 */
export const keptDeliveries = async ({ book, order, clock, realClock, keptForMs }: KeptDependencies) => {
  const from = Date.parse(realClock.realNow()) - keptForMs + SLACK_MS;
  const since = new Date(from).toISOString();
  const sealed = await appendedAfter(book, since);
  const ahead = Math.max(0, Date.parse(clock.now()) - Date.parse(realClock.realNow()));
  const recordedSince = new Date(from + ahead).toISOString();
  return {
    since,
    // What was found there may be young all the same: its own times say so.
    from: sealed === undefined || sealed.kind === 'found' ? 'start' : sealed.through,
    covers: ({ position, metadata }: Pick<RecordedEvent, 'position' | 'metadata'>): boolean =>
      metadata.recordedAt >= recordedSince ||
      (sealed !== undefined && order.compare(position, sealed.through) > 0),
  };
};

/** Undefined where the seals do not say. A live seal is made within seconds of its events. */
const appendedAfter = async (
  book: KeptDependencies['book'],
  instant: string,
): Promise<SealRecord | undefined> => {
  const [begin, head] = [await book.lastBegin(), await book.head()];
  if (begin === 0 || !head) return undefined;
  const at = async (number: number): Promise<SealRecord> => (await book.page(number - 1, 1))[0]!;
  let [before, first] = [begin, head.number + 1];
  while (first - before > 1) {
    const middle = Math.floor((before + first) / 2);
    const { kind, sealedAt } = await at(middle);
    if (kind === 'live' && sealedAt >= instant) first = middle;
    else before = middle;
  }
  return first > head.number ? undefined : at(before);
};
