import type { DomainEvent } from '../../domain/domain-event.ts';
import type { Projection } from '../projection.ts';

/** Where each published event stands, for a log that finds no event by its id. */
export const eventIndexProjection = (published: ReadonlySet<DomainEvent['type']>): Projection => ({
  name: 'event-index',
  version: 1,
  tables: ['published_event'],
  ofOperationsAlone: true,
  project: ({ event, id, stream, revision }) =>
    published.has(event.type)
      ? [
          {
            op: 'insert',
            table: 'published_event',
            rows: [{ stream, revision: Number(revision), event_id: id }],
          },
        ]
      : [],
});
