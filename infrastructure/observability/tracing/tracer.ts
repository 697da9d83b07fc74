import { hash } from 'node:crypto';
import type { LRUCache } from 'lru-cache';
import { loanStream } from '../../../application/command-handling/operation.ts';
import type { PublicEvent } from '../../../application/ports/event-bus.ts';
import type { EventStore, RecordedEvent } from '../../../application/ports/event-store.ts';
import type { PublicationWatch } from '../../../application/ports/observation.ts';
import type { AttemptWatch, WatchedAttempt } from '../../../application/webhooks/queue/result-statements.ts';
import type { LeasedDelivery } from '../../../application/webhooks/queue/lease-lanes.ts';
import { MIB, sizedCache } from '../../../application/support/sized-cache.ts';

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const TRACEPARENT = /^(?!ff)[0-9a-f]{2}-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}(-.*)?$/;
const NOTHING = /^0+$/;
const SPAN_ID_CHARACTERS = 16;
const TRACE_ID_CHARACTERS = 32;

/**
 * The trace of everything that one request or decision caused: 32 hexadecimal digits that follow from its correlation id, so
 * that any process that reads an event, at any time, finds the trace without anything being stored for it. A request's
 * trace id is its request id without dashes. Other correlation ids are shared by many operations (a sweep of the scheduler), so
 * there the stream tells them apart.
 */
export const traceIdOf = (correlationId: string, stream: string): string => {
  if (UUID.test(correlationId)) {
    const digits = correlationId.replaceAll('-', '');
    if (!NOTHING.test(digits)) return digits;
  }
  return hash('sha256', `trace ${correlationId} ${stream}`).slice(0, TRACE_ID_CHARACTERS);
};

/** The first span of a trace. */
export const rootSpanIdOf = (traceId: string): string =>
  hash('sha256', `root ${traceId}`).slice(0, SPAN_ID_CHARACTERS);

/** The span in which a public event went to the bus. */
export const publicationSpanIdOf = (eventId: string): string =>
  hash('sha256', `publication ${eventId}`).slice(0, SPAN_ID_CHARACTERS);

/** The span of another service, as it stands in a W3C `traceparent`; undefined for anything that is not one. */
export const parseTraceparent = (
  text: string | undefined,
): { readonly traceId: string; readonly spanId: string } | undefined => {
  const [, traceId = '', spanId = ''] = TRACEPARENT.exec(text ?? '') ?? [];
  if (traceId === '' || NOTHING.test(traceId) || NOTHING.test(spanId)) return undefined;
  return { traceId, spanId };
};

export type Attributes = Readonly<Record<string, string | number | boolean>>;

export interface SpanDescription {
  readonly name: string;
  readonly kind: 'server' | 'internal' | 'client' | 'producer' | 'consumer';
  readonly traceId: string;
  /** Never personal data. */
  readonly attributes: Attributes;
  /** Of another service, whose work this one is a part of. */
  readonly link?: ReturnType<typeof parseTraceparent>;
}

/** A span of work that has ended. Instants are UNIX milliseconds. */
export interface EndedSpan extends Omit<SpanDescription, 'link'> {
  /** Where others have to find it; by default any. */
  readonly spanId?: string;
  readonly parentSpanId: string;
  readonly startedAt: number;
  readonly endedAt: number;
  /** Short stable word; present when it failed. */
  readonly failure?: string;
}

/** Adds to the span that runs; `failure` is a short stable word. */
export type NoteOnSpan = (attributes: Attributes, failure?: string) => void;

export interface Tracer {
  /** False when nothing is traced: callers then make no descriptions. */
  readonly active: boolean;
  /**
   * Runs the work as a span: inside the one that runs now when that is of the same trace, otherwise as the trace's first one.
   * Returns or throws what the work does.
   */
  run<T>(span: SpanDescription, work: (note: NoteOnSpan) => Promise<T>): Promise<T>;
  record(span: EndedSpan): void;
  /** Whether spans of this trace are kept; the same answer in every process. */
  keeps(traceId: string): boolean;
  /** Hands over what is still here, for a moment. */
  close(): Promise<void>;
}

const noNote: NoteOnSpan = () => undefined;

export const NO_TRACER: Tracer = {
  active: false,
  run: (_, work) => work(noNote),
  record: () => undefined,
  keeps: () => false,
  close: () => Promise.resolve(),
};

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
