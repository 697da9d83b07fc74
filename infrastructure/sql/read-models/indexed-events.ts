import type { EventStore, RecordedEvent, StoredEvents } from '../../../application/ports/event-store.ts';
import type { SqlDatabase } from '../sql-database.ts';

/** Events by their id where the log has no such index: a read model says where they stand, as soon as it has come so far. */
export class IndexedEvents implements StoredEvents {
  readonly #database: SqlDatabase;
  readonly #events: Pick<EventStore, 'read'>;

  constructor(database: SqlDatabase, events: Pick<EventStore, 'read'>) {
    this.#database = database;
    this.#events = events;
  }

  async byId(id: string): Promise<RecordedEvent | undefined> {
    const [place] = await this.#database.read(
      this.#database.builder
        .selectFrom('published_event')
        .select(['stream', 'revision'])
        .where('event_id', '=', id)
        .limit(1),
    );
    if (!place) return undefined;
    const { events } = await this.#events.read(place.stream, BigInt(place.revision));
    return events.find((event) => event.id === id);
  }
}
