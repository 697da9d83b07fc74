import type { LRUCache } from 'lru-cache';
import { loanStream } from '../../../application/command-handling/operation.ts';
import type { PublicEvent } from '../../../application/ports/event-bus.ts';
import type { EventStore, RecordedEvent } from '../../../application/ports/event-store.ts';
import type { PublicationWatch } from '../../../application/ports/observation.ts';
import type { AttemptWatch, WatchedAttempt } from '../../../application/webhooks/queue/result-statements.ts';
import type { LeasedDelivery } from '../../../application/webhooks/queue/lease-lanes.ts';
import { MIB, sizedCache } from '../../../application/support/sized-cache.ts';
import { publicationSpanIdOf, rootSpanIdOf, traceIdOf } from './tracer.ts';
import type { Tracer } from './tracer.ts';

/** Of the id of a trace. */
const TRACE_BYTES = 60;

const about = (event: PublicEvent) => ({
  'receivables.event_id': event.eventId,
  'receivables.event': event.name,
  'receivables.application_id': event.applicationId,
  'receivables.originator_proposal_code': event.code,
});

/** Shows how events reach the webhooks: one span an event for each step of its way, and one an attempt under its publication. */
export class TracedEvents implements PublicationWatch, AttemptWatch {
  readonly #events: Pick<EventStore, 'read'>;
  readonly #tracer: Tracer;
  /** The traces of events that passed by here. */
  readonly #known: LRUCache<string, string>;

  constructor(events: Pick<EventStore, 'read'>, tracer: Tracer, cacheBytes = 2 * MIB) {
    this.#events = events;
    this.#tracer = tracer;
    this.#known = sizedCache<string>(cacheBytes, () => TRACE_BYTES);
  }

  translated(recorded: readonly RecordedEvent[], events: readonly PublicEvent[]): void {
    const sources = new Map(recorded.map((one) => [one.position, one]));
    for (const { eventId, position } of events) {
      const source = position !== undefined && sources.get(position);
      if (source) this.#learn(eventId, source);
    }
  }

  published(events: readonly PublicEvent[], startedAt: number): void {
    const endedAt = Date.now();
    for (const event of events) {
      const traceId = this.#known.get(event.eventId);
      if (traceId === undefined) continue;
      this.#tracer.record({
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
  }

  consumed(group: string, events: readonly PublicEvent[], startedAt: number): void {
    const endedAt = Date.now();
    const record = async (): Promise<void> => {
      for (const event of events) {
        const traceId = await this.#find(event);
        if (traceId === undefined) continue;
        this.#tracer.record({
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
    void record();
  }

  attempted(attempt: WatchedAttempt): void {
    const { event } = attempt.delivery;
    void this.#find(event).then((traceId) => traceId !== undefined && this.#record(traceId, attempt));
  }

  #record(traceId: string, { delivery, startedAt, endedAt, outcome }: WatchedAttempt): void {
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
        ...(outcome.status !== null && { 'http.response.status_code': outcome.status }),
      },
      ...(outcome.kind === 'failed' && { failure: outcome.reason ?? 'other' }),
    });
  }
  #learn(eventId: string, { metadata, stream }: RecordedEvent): void {
    this.#known.set(eventId, traceIdOf(metadata.correlationId, stream));
  }

  /** Otherwise read from its stream. Undefined for an event of no operation (a ping), and when the store does not say. */
  async #find({
    eventId,
    applicationId,
    code,
    sequence,
  }: Pick<LeasedDelivery['event'], 'eventId' | 'applicationId' | 'code' | 'sequence'>): Promise<
    string | undefined
  > {
    const known = this.#known.get(eventId);
    if (known !== undefined || code === null) return known;
    try {
      const { events } = await this.#events.read(loanStream(applicationId, code), BigInt(sequence));
      if (events[0]) this.#learn(eventId, events[0]);
    } catch {
      // A trace is worth no trouble: without it, the attempt is simply not shown.
      return undefined;
    }
    return this.#known.get(eventId);
  }
}
