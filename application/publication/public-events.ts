import { UnreadableEventError } from '../event-codec/fields.ts';
import type { LoanEvent } from '../../domain/loan/events.ts';
import { parseLoanStream } from '../command-handling/operation.ts';
import type { OperationPlace } from '../command-handling/operation.ts';
import type { PublicEvent } from '../ports/event-bus.ts';
import type { EventStore, RecordedEvent } from '../ports/event-store.ts';
import { PUBLISHED, PUBLICATIONS, publicationOf, PING } from './catalogue.ts';
import { hash, randomUUID } from 'node:crypto';
import { shownBy } from '../schemas/shown-fields.ts';

const dataBy = new Map(PUBLICATIONS.map((publication) => [publication, shownBy(publication.data)]));

const bytesOf = (uuid: string): Buffer => Buffer.from(uuid.replaceAll('-', ''), 'hex');

/** The UUID of version 5 of this name in this namespace (RFC 9562): the same in every process and at any time. */
export const derivedId = (namespace: string, name: string): string => {
  const bytes = hash('sha1', Buffer.concat([bytesOf(namespace), Buffer.from(name)]), 'buffer');
  bytes[6] = (bytes[6]! & 0x0f) | 0x50;
  bytes[8] = (bytes[8]! & 0x3f) | 0x80;
  const hex = bytes.toString('hex', 0, 16);
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
};

interface EventPlace extends Pick<PublicEvent, 'eventId' | 'applicationId' | 'fundId' | 'code' | 'position'> {
  readonly revision: bigint;
  readonly recordedAt: string;
}

/** What a body is built of; `sequence` and `apiVersion` are ours, the rest is the envelope that receivers know. */
interface Envelope {
  readonly name: string;
  readonly eventId: string;
  readonly code: string | null;
  readonly fundId: string | null;
  readonly timestamp: string;
  readonly sequence: number;
  readonly apiVersion: string;
  readonly data: object;
  readonly flat?: object;
}

/** The bytes that are stored, signed and sent from now on. */
export const bodyOf = (envelope: Envelope): string =>
  JSON.stringify({
    event: envelope.name,
    event_id: envelope.eventId,
    originator_proposal_code: envelope.code,
    fund_id: envelope.fundId,
    timestamp: envelope.timestamp,
    sequence: envelope.sequence,
    api_version: envelope.apiVersion,
    ...envelope.flat,
    data: envelope.data,
  });

/** Undefined for what stays inside. Pure: the same input gives the same bytes. The time is that of the recording. */
export const toPublicEvent = (
  event: LoanEvent,
  { revision, recordedAt: timestamp, ...place }: EventPlace,
  apiVersion: string,
): PublicEvent | undefined => {
  const publication = publicationOf(event.type);
  if (!publication) return undefined;
  const { name, flat } = publication;
  const data = dataBy.get(publication)!(event);
  const beside = flat && { flat: Object.fromEntries(flat.map((field) => [field, data[field]])) };
  const made = { ...place, name, timestamp, sequence: Number(revision) };
  return { ...made, body: bodyOf({ ...made, apiVersion, data, ...beside }) };
};

/** Of no operation, and so of no fund. */
export const pingEvent = ({
  eventId = randomUUID(),
  applicationId,
  timestamp,
  apiVersion,
}: {
  readonly eventId?: string;
  readonly applicationId: string;
  readonly timestamp: string;
  readonly apiVersion: string;
}) => {
  const data = { message: 'This webhook is registered and reachable. Events will arrive here.' };
  const made = { eventId, name: PING, timestamp, code: null, fundId: null, sequence: 0 };
  return { ...made, applicationId, body: bodyOf({ ...made, apiVersion, data }) };
};

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

/** What a translation throws of an event that no later try will read; anything else may pass. */
export const isOfTheEvent = (error: unknown): boolean =>
  error instanceof UnreadableEventError || error instanceof TypeError || error instanceof RangeError;

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
