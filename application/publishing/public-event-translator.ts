import type { PublicEvent } from '../ports/event-bus.ts';
import type { RecordedEvent } from '../ports/event-store.ts';
import type { DecodeLoanEvent, FundLookup } from './fund-lookup.ts';
import { publicPayloads } from './event-payloads.ts';
import { toPublicEvents } from './public-events.ts';

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
