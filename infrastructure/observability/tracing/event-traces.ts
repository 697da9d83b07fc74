import { LRUCache } from 'lru-cache';
import type { EventStore, RecordedEvent } from '../../../application/ports/event-store.ts';
import { traceIdOf } from './trace-ids.ts';

/** What a public event says of its place. */
export interface EventPlace {
  readonly eventId: string;
  readonly applicationId: string;
  readonly code: string | null;
  /** Revision of the stored event. */
  readonly sequence: number;
}

const REMEMBERED = 50_000;

/** Which trace an event belongs to: remembered from when it passed by here, otherwise read from its stream. */
export class EventTraces {
  readonly #events: Pick<EventStore, 'read'>;
  readonly #streamOf: (applicationId: string, code: string) => string;
  readonly #known = new LRUCache<string, string>({ max: REMEMBERED });

  constructor(events: Pick<EventStore, 'read'>, streamOf: (applicationId: string, code: string) => string) {
    this.#events = events;
    this.#streamOf = streamOf;
  }

  learn(eventId: string, { metadata, stream }: RecordedEvent): void {
    this.#known.set(eventId, traceIdOf(metadata.correlationId, stream));
  }

  known(eventId: string): string | undefined {
    return this.#known.get(eventId);
  }

  /** Undefined for an event of no operation (a ping), and when the store does not say. */
  async find({ eventId, applicationId, code, sequence }: EventPlace): Promise<string | undefined> {
    const known = this.known(eventId);
    if (known !== undefined || code === null) return known;
    const stream = this.#streamOf(applicationId, code);
    try {
      const [recorded] = (await this.#events.read(stream, BigInt(sequence))).events;
      if (recorded) this.learn(eventId, recorded);
    } catch {
      // A trace is worth no trouble: without it, the attempt is simply not shown.
      return undefined;
    }
    return this.known(eventId);
  }
}
