import type { LoanEvent } from '../../domain/loan/events.ts';
import { parseLoanStream } from '../command-handling/operation.ts';
import type { OperationPlace } from '../command-handling/operation.ts';
import type { PublicEvent } from '../ports/event-bus.ts';
import type { EventStore, RecordedEvent } from '../ports/event-store.ts';
import { PUBLISHED } from './catalogue.ts';
import { toPublicEvent } from './public-events.ts';

interface Publishable {
  readonly recorded: RecordedEvent;
  readonly operation: OperationPlace;
  readonly event: LoanEvent;
  /** Undefined for an event of a release that did not store it. */
  readonly fundId: string | undefined;
}

interface Dependencies {
  readonly decode: (recorded: RecordedEvent) => LoanEvent | undefined;
  readonly events: Pick<EventStore, 'read'>;
  /** Of recently met operations, by stream; an entry may vanish at any time. */
  readonly funds: Pick<Map<string, string>, 'get'> & { set(stream: string, fundId: string): unknown };
  readonly apiVersion: string;
}

/** Streams read at once, for events that were stored before their metadata said the fund. */
export const READS_AT_ONCE = 16;

export interface Translator {
  translate(recorded: readonly RecordedEvent[]): Promise<readonly PublicEvent[]>;
}

export class PublicEventTranslator implements Translator {
  readonly #deps: Dependencies;

  constructor(dependencies: Dependencies) {
    this.#deps = dependencies;
  }

  async translate(recorded: readonly RecordedEvent[]): Promise<readonly PublicEvent[]> {
    const publishable = recorded.flatMap((one) => this.#read(one) ?? []);
    await this.#lookUpFunds(publishable);
    const events: PublicEvent[] = [];
    for (const one of publishable) {
      const event = await this.#translateOne(one);
      if (event) events.push(event);
    }
    return events;
  }

  /** Undefined for what stays inside. A reserved code has no operation yet, so not every event has a fund. */
  #read(recorded: RecordedEvent): Publishable | undefined {
    const { decode, funds } = this.#deps;
    const { stream, metadata } = recorded;
    const operation = parseLoanStream(stream);
    const event = operation && decode(recorded);
    if (!event) return undefined;
    const fundId = event.type === 'LoanReceived' ? event.fundId : metadata.fundId;
    if (event.type === 'LoanReceived') funds.set(stream, event.fundId);
    return PUBLISHED.has(event.type) ? { recorded, operation, event, fundId } : undefined;
  }

  /** Several streams are read at once, because each answer is waited for. Whatever fails here fails again, for its own event. */
  async #lookUpFunds(events: readonly Publishable[]): Promise<void> {
    const { funds } = this.#deps;
    const unknown = events.filter(
      ({ recorded, fundId }) => fundId === undefined && funds.get(recorded.stream) === undefined,
    );
    const streams = [...new Set(unknown.map(({ recorded }) => recorded.stream))];
    if (streams.length < 2) return;
    const reader = async (): Promise<void> => {
      for (let stream = streams.pop(); stream !== undefined; stream = streams.pop())
        await this.#fundOf(stream);
    };
    await Promise.allSettled(Array.from({ length: Math.min(READS_AT_ONCE, streams.length) }, reader));
  }

  async #translateOne({
    recorded,
    operation,
    event,
    ...known
  }: Publishable): Promise<PublicEvent | undefined> {
    const { apiVersion } = this.#deps;
    const { id: eventId, stream, revision, metadata, position } = recorded;
    const fundId = known.fundId ?? (await this.#fundOf(stream));
    return toPublicEvent(
      event,
      { ...operation, eventId, fundId, revision, position, recordedAt: metadata.recordedAt },
      apiVersion,
    );
  }

  /** Reads the operation's reception once, then remembers; only reservations of its code can stand before it. */
  async #fundOf(stream: string): Promise<string> {
    const { events, decode, funds } = this.#deps;
    const known = funds.get(stream);
    if (known !== undefined) return known;
    for (const recorded of (await events.read(stream)).events) {
      const event = decode(recorded);
      if (event?.type !== 'LoanReceived') continue;
      funds.set(stream, event.fundId);
      return event.fundId;
    }
    throw new Error(`stream ${stream} holds no received operation`);
  }
}
