import type { LoanEvent } from '../../domain/loan/events.ts';
import { LOAN_STREAM_PREFIX } from '../command-handling/operation.ts';
import type { PublicEvent } from '../ports/event-bus.ts';
import type { EventStore, RecordedEvent, StoredEvents } from '../ports/event-store.ts';
import { publicPayloads, toPublicEvents } from './public-events.ts';

type DecodeLoanEvent = (recorded: RecordedEvent) => LoanEvent | undefined;

/** The fund of an operation; an operation never changes its fund. */
interface FundLookup {
  /** False when answering takes a read. */
  knows(stream: string): boolean;
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

  knows(stream: string): boolean {
    return this.#cache.get(stream) !== undefined;
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

interface Publishable {
  readonly recorded: RecordedEvent;
  readonly operation: { readonly applicationId: string; readonly code: string };
  readonly event: LoanEvent;
  /** Undefined for an event of a release that did not store it. */
  readonly fundId: string | undefined;
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

/** Streams read at once, for events that were stored before their metadata said the fund. */
export const READS_AT_ONCE = 16;

/** From recorded events to public ones, in order. */
export interface Translator {
  translate(recorded: readonly RecordedEvent[]): Promise<readonly PublicEvent[]>;
}

/** What the rules of publishing make of the log. */
export class PublicEventTranslator implements Translator {
  readonly #deps: Dependencies;

  constructor(dependencies: Dependencies) {
    this.#deps = dependencies;
  }

  async translate(recorded: readonly RecordedEvent[]): Promise<readonly PublicEvent[]> {
    const publishable = recorded.flatMap((one) => this.#read(one) ?? []);
    await this.#lookUpFunds(publishable);
    const events: PublicEvent[] = [];
    for (const one of publishable) events.push(...(await this.#translateOne(one)));
    return events;
  }

  /** Undefined for what stays inside. A reserved code has no operation yet, so not every event has a fund. */
  #read(recorded: RecordedEvent): Publishable | undefined {
    const { decode, parseStream, funds } = this.#deps;
    const { stream, metadata } = recorded;
    const operation = parseStream(stream);
    const event = operation && decode(recorded);
    if (!event) return undefined;
    const fundId = event.type === 'LoanReceived' ? event.fundId : metadata.fundId;
    if (event.type === 'LoanReceived') funds.learn(stream, event.fundId);
    return publicPayloads(event).length === 0 ? undefined : { recorded, operation, event, fundId };
  }

  /** Several streams are read at once, because each answer is waited for. Whatever fails here fails again, for its own event. */
  async #lookUpFunds(events: readonly Publishable[]): Promise<void> {
    const { funds } = this.#deps;
    const unknown = events.filter(
      ({ recorded, fundId }) => fundId === undefined && !funds.knows(recorded.stream),
    );
    const streams = [...new Set(unknown.map(({ recorded }) => recorded.stream))];
    if (streams.length < 2) return;
    const reader = async (): Promise<void> => {
      for (let stream = streams.pop(); stream !== undefined; stream = streams.pop())
        await funds.fundOf(stream);
    };
    await Promise.allSettled(Array.from({ length: Math.min(READS_AT_ONCE, streams.length) }, reader));
  }

  async #translateOne({
    recorded,
    operation,
    event,
    ...known
  }: Publishable): Promise<readonly PublicEvent[]> {
    const { funds, apiVersion } = this.#deps;
    const { id: eventId, stream, revision, metadata } = recorded;
    const fundId = known.fundId ?? (await funds.fundOf(stream));
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
  readonly #translator: Translator;

  constructor(stored: StoredEvents, translator: Translator) {
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
