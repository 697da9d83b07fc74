import { LRUCache } from 'lru-cache';
import type { WebhookEvent } from '../../../application/ports/delivery-queue.ts';
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
