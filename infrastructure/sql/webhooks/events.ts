import { LRUCache } from 'lru-cache';
import type { FrozenEvents, FrozenPeriod } from '../../../application/ports/audit.ts';
import type { WebhookEvent } from '../../../application/ports/delivery-queue.ts';
import type { PublicEvent } from '../../../application/ports/event-bus.ts';
import type { SqlDatabase } from '../sql-database.ts';
import type { WebhookEventTable } from './schema.ts';

const CACHED_CHARACTERS = 16_000_000;
/** What an entry weighs beside its body. */
const ENVELOPE = 400;

export const eventOf = (row: WebhookEventTable): WebhookEvent => ({
  eventId: row.event_id,
  name: row.name,
  applicationId: row.application_id,
  fundId: row.fund_id,
  code: row.code,
  sequence: row.sequence,
  timestamp: row.occurred_at,
  body: row.body,
});

/** Events never change, so one that was queued here a moment ago need not come back from the store. */
export class EventBodies {
  readonly #database: SqlDatabase;
  readonly #recent = new LRUCache<string, WebhookEvent>({
    maxSize: CACHED_CHARACTERS,
    sizeCalculation: ({ body }) => body.length + ENVELOPE,
  });

  constructor(database: SqlDatabase) {
    this.#database = database;
  }

  remember(event: WebhookEvent): void {
    this.#recent.set(event.eventId, event);
  }

  /** Those that exist. */
  async load(eventIds: readonly string[]): Promise<ReadonlyMap<string, WebhookEvent>> {
    const found = new Map<string, WebhookEvent>();
    const missing = new Set<string>();
    for (const id of eventIds) {
      const event = this.#recent.get(id);
      if (event) found.set(id, event);
      else missing.add(id);
    }
    for (const event of await this.#stored([...missing])) found.set(event.eventId, event);
    return found;
  }

  async #stored(eventIds: readonly string[]): Promise<readonly WebhookEvent[]> {
    if (eventIds.length === 0) return [];
    const query = this.#database.builder
      .selectFrom('webhook_event')
      .selectAll()
      .where('event_id', 'in', eventIds);
    return (await this.#database.read(query)).map(eventOf);
  }
}

const IDS_AT_ONCE = 5_000;

const publicEventOf = (row: WebhookEventTable): PublicEvent => ({
  eventId: row.event_id,
  name: row.name,
  applicationId: row.application_id,
  fundId: row.fund_id ?? '',
  code: row.code ?? '',
  sequence: row.sequence,
  timestamp: row.occurred_at,
  body: row.body,
});

const boundOf = (period: FrozenPeriod): { readonly operator: '<' | '>='; readonly instant: string } =>
  'before' in period ? { operator: '<', instant: period.before } : { operator: '>=', instant: period.from };

/** Events as the delivery log keeps them. Those without a code are pings, which no operation caused. */
export class SqlFrozenEvents implements FrozenEvents {
  readonly #database: SqlDatabase;

  constructor(database: SqlDatabase) {
    this.#database = database;
  }

  async find(eventIds: readonly string[]): Promise<ReadonlyMap<string, PublicEvent>> {
    const found = new Map<string, PublicEvent>();
    for (let at = 0; at < eventIds.length; at += IDS_AT_ONCE) {
      const ids = eventIds.slice(at, at + IDS_AT_ONCE);
      const query = this.#events().where('event_id', 'in', ids);
      for (const row of await this.#database.read(query)) found.set(row.event_id, publicEventOf(row));
    }
    return found;
  }

  async page(period: FrozenPeriod, after: string, limit: number): Promise<readonly PublicEvent[]> {
    const { operator, instant } = boundOf(period);
    const query = this.#events()
      .where('event_id', '>', after)
      .where('code', 'is not', null)
      .where('occurred_at', operator, instant)
      .orderBy('event_id')
      .limit(limit);
    return (await this.#database.read(query)).map(publicEventOf);
  }

  async count(period: FrozenPeriod): Promise<number> {
    const { operator, instant } = boundOf(period);
    const [row] = await this.#database.read(
      this.#database.builder
        .selectFrom('webhook_event')
        .select((eb) => eb.fn.countAll<number | string>().as('events'))
        .where('code', 'is not', null)
        .where('occurred_at', operator, instant),
    );
    return Number(row?.events ?? 0);
  }

  async misplacedDeliveries(limit: number) {
    const rows = await this.#database.read(
      this.#database.builder
        .selectFrom('webhook_delivery as d')
        .leftJoin('webhook_event as e', 'e.event_id', 'd.event_id')
        .select(['d.delivery_id', 'd.event_id', 'e.code'])
        .where((eb) => eb.or([eb('e.event_id', 'is', null), eb('d.sequence', '<>', eb.ref('e.sequence'))]))
        .orderBy('d.delivery_id')
        .limit(limit),
    );
    return rows.map((row) => ({ deliveryId: row.delivery_id, eventId: row.event_id, code: row.code }));
  }

  #events() {
    return this.#database.builder.selectFrom('webhook_event').selectAll();
  }
}
