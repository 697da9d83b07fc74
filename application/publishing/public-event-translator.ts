import type { LoanEvent } from '../../domain/loan/events.ts';
import { LOAN_STREAM_PREFIX } from '../command-handling/operation.ts';
import type { PublicEvent } from '../ports/event-bus.ts';
import type { EventStore, RecordedEvent, StoredEvents } from '../ports/event-store.ts';
import { publicPayloads, toPublicEvents } from './public-events.ts';

type DecodeLoanEvent = (recorded: RecordedEvent) => LoanEvent | undefined;

/** The fund of an operation; an operation never changes its fund. */
interface FundLookup {
  /** @throws Error when the stream holds no received operation */
  fundOf(stream: string): Promise<string>;
  /** Saves the look-up for an operation whose first event has just gone by. */
  learn(stream: string, fundId: string): void;
}

/** Recently used funds; an entry may vanish at any time. */
export interface FundCache {
  get(stream: string): string | undefined;
  set(stream: string, fundId: string): unknown;
}

/** Reads the operation's reception once, then remembers; only reservations of its code can stand before it. */
export class StreamFundLookup implements FundLookup {
  readonly #events: EventStore;
  readonly #decode: DecodeLoanEvent;
  readonly #cache: FundCache;

  constructor(events: EventStore, decode: DecodeLoanEvent, cache: FundCache) {
    this.#events = events;
    this.#decode = decode;
    this.#cache = cache;
  }

  learn(stream: string, fundId: string): void {
    this.#cache.set(stream, fundId);
  }

  async fundOf(stream: string): Promise<string> {
    const known = this.#cache.get(stream);
    if (known !== undefined) return known;
    for (const recorded of (await this.#events.read(stream)).events) {
      const event = this.#decode(recorded);
      if (event?.type !== 'LoanReceived') continue;
      this.learn(stream, event.fundId);
      return event.fundId;
    }
    throw new Error(`stream ${stream} holds no received operation`);
  }
}

interface Dependencies {
  readonly decode: DecodeLoanEvent;
  /** The parts of an operation's stream name; undefined for any other stream. */
  readonly parseStream: (
    stream: string,
  ) => { readonly applicationId: string; readonly code: string } | undefined;
  readonly funds: FundLookup;
  readonly apiVersion: string;
}

/** From recorded events to public ones, in order. */
export class PublicEventTranslator {
  readonly #deps: Dependencies;

  constructor(dependencies: Dependencies) {
    this.#deps = dependencies;
  }

  async translate(recorded: readonly RecordedEvent[]): Promise<readonly PublicEvent[]> {
    const events: PublicEvent[] = [];
    for (const one of recorded) events.push(...(await this.#translateOne(one)));
    return events;
  }

  async #translateOne(recorded: RecordedEvent): Promise<readonly PublicEvent[]> {
    const { decode, parseStream, funds, apiVersion } = this.#deps;
    const operation = parseStream(recorded.stream);
    const event = operation && decode(recorded);
    if (!event) return [];
    if (event.type === 'LoanReceived') funds.learn(recorded.stream, event.fundId);
    // A reserved code has no operation yet, so not every event has a fund.
    if (publicPayloads(event).length === 0) return [];
    const fundId = await funds.fundOf(recorded.stream);
    const { id: eventId, revision, metadata } = recorded;
    return toPublicEvents(
      event,
      { ...operation, eventId, fundId, revision, recordedAt: metadata.recordedAt },
      apiVersion,
    );
  }
}

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
