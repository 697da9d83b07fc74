import { LOAN_STREAM_PREFIX } from '../command-handling/stream-names.ts';
import type { PublicEvent } from '../ports/event-bus.ts';
import type { StoredEvents } from '../ports/event-store.ts';
import type { PublicEventTranslator } from './public-event-translator.ts';

/** Makes a public event anew from what is stored, for one that no delivery keeps: the same id and the same contents. */
export class PublishedEvents {
  readonly #stored: StoredEvents;
  readonly #translator: Pick<PublicEventTranslator, 'translate'>;

  constructor(stored: StoredEvents, translator: Pick<PublicEventTranslator, 'translate'>) {
    this.#stored = stored;
    this.#translator = translator;
  }

  async find(applicationId: string, eventId: string): Promise<PublicEvent | undefined> {
    const recorded = await this.#stored.byId(eventId);
    if (!recorded?.stream.startsWith(LOAN_STREAM_PREFIX)) return undefined;
    if (recorded.metadata.applicationId !== applicationId) return undefined;
    const events = await this.#translator.translate([recorded]);
    return events.find((event) => event.eventId === eventId);
  }
}
