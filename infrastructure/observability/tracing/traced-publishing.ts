import { LRUCache } from 'lru-cache';
import type { EventBus, EventHandler, PublicEvent } from '../../../application/ports/event-bus.ts';
import type { EventStore, RecordedEvent } from '../../../application/ports/event-store.ts';
import type { AttemptWatch, WatchedAttempt } from '../../../application/ports/observation.ts';
import type { Translator } from '../../../application/publishing/public-event-translator.ts';
import { overriding } from '../observed-work.ts';
import { publicationSpanIdOf, rootSpanIdOf, traceIdOf } from './tracer.ts';
import type { Tracer } from './tracer.ts';

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

type Publish = EventBus['publish'];

const about = (event: PublicEvent) => ({
  'receivables.event_id': event.eventId,
  'receivables.event': event.name,
  'receivables.application_id': event.applicationId,
  'receivables.originator_proposal_code': event.code,
});

/** Remembers of each public event which trace it comes from. */
export const tracedTranslation = (translator: Translator, traces: EventTraces): Translator => ({
  translate: async (recorded) => {
    const all: PublicEvent[] = [];
    for (const one of recorded) {
      const events = await translator.translate([one]);
      for (const { eventId } of events) traces.learn(eventId, one);
      all.push(...events);
    }
    return all;
  },
});

/** One span an event for its way to the bus. */
export const tracedPublish =
  (publish: Publish, traces: EventTraces, tracer: Tracer): Publish =>
  async (events) => {
    const startedAt = Date.now();
    await publish(events);
    const endedAt = Date.now();
    for (const event of events) {
      const traceId = traces.known(event.eventId);
      if (traceId === undefined) continue;
      tracer.record({
        name: 'relay to the event bus',
        kind: 'producer',
        traceId,
        spanId: publicationSpanIdOf(event.eventId),
        parentSpanId: rootSpanIdOf(traceId),
        attributes: about(event),
        startedAt,
        endedAt,
      });
    }
  };

/** One span an event for what a consumer group makes of it; the group does not wait for it. */
export const tracedConsumer =
  (group: string, handle: EventHandler, traces: EventTraces, tracer: Tracer): EventHandler =>
  async (events, progress) => {
    const startedAt = Date.now();
    const answer = await handle(events, progress);
    void recordConsumption(events, { group, startedAt, endedAt: Date.now() }, traces, tracer);
    return answer;
  };

const recordConsumption = async (
  events: readonly PublicEvent[],
  {
    group,
    startedAt,
    endedAt,
  }: { readonly group: string; readonly startedAt: number; readonly endedAt: number },
  traces: EventTraces,
  tracer: Tracer,
): Promise<void> => {
  for (const event of events) {
    const traceId = await traces.find(event);
    if (traceId === undefined) continue;
    tracer.record({
      name: `consume by ${group}`,
      kind: 'consumer',
      traceId,
      parentSpanId: publicationSpanIdOf(event.eventId),
      attributes: about(event),
      startedAt,
      endedAt,
    });
  }
};

/** Shows attempts under the publication of their event. */
export class TracedAttempts implements AttemptWatch {
  readonly #traces: EventTraces;
  readonly #tracer: Tracer;

  constructor(traces: EventTraces, tracer: Tracer) {
    this.#traces = traces;
    this.#tracer = tracer;
  }

  attempted(attempt: WatchedAttempt): void {
    const { event } = attempt.delivery;
    void this.#traces.find(event).then((traceId) => traceId !== undefined && this.#record(traceId, attempt));
  }

  #record(traceId: string, { delivery, startedAt, endedAt, outcome, reason, status }: WatchedAttempt): void {
    const { event, endpoint, attempt, deliveryId } = delivery;
    this.#tracer.record({
      name: `webhook ${event.name}`,
      kind: 'client',
      traceId,
      parentSpanId: publicationSpanIdOf(event.eventId),
      startedAt,
      endedAt,
      attributes: {
        'receivables.event_id': event.eventId,
        'receivables.webhook_id': endpoint.webhookId,
        'receivables.delivery_id': deliveryId,
        'receivables.attempt': attempt,
        'server.address': new URL(endpoint.url).hostname,
        'http.request.method': 'POST',
        ...(status !== null && { 'http.response.status_code': status }),
      },
      ...(outcome === 'failed' && { failure: reason ?? 'other' }),
    });
  }
}

/** A bus whose publications and consumers are traced. */
export const tracedBus = (bus: EventBus, traces: EventTraces, tracer: Tracer): EventBus =>
  overriding(bus, {
    publish: tracedPublish((events) => bus.publish(events), traces, tracer),
    consume: (group, handler) => bus.consume(group, tracedConsumer(group, handler, traces, tracer)),
  });
