import { hash } from 'node:crypto';
import type { DomainEvent } from '../../domain/domain-event.ts';
import type { DeskEvent } from '../../domain/desk/line.ts';
import type { DecisionEvent } from '../../domain/decision/first-decision.ts';
import type { FourEyesEvent } from '../../domain/fund/four-eyes.ts';
import type { FundNamed } from '../../domain/fund/names.ts';
import type { LoanEvent } from '../../domain/loan/events.ts';
import type { RenegotiationEvent } from '../../domain/renegotiation/state.ts';
import type { EventMetadata, EventToAppend, JsonText } from '../ports/event-store.ts';
import { decisionEntries, deskEntries, fourEyesEntries } from './desk-entries.ts';
import { fundEntries, loanEntries, renegotiationEntries } from './entries.ts';
import { UnreadableEventError } from './fields.ts';
import type { EntriesOf, EventEntry, Payload } from './fields.ts';

export const CHAIN_START = '0'.repeat(64);

type Unchained = Omit<EventToAppend, 'metadata'> & { readonly metadata: Omit<EventMetadata, 'hash'> };

/**
 * Hexadecimal SHA-256 over the previous hash, the stream, and everything of the event but its own hash. Fields are length-prefixed,
 * so that no two events share an input. Metadata fields stand in a fixed order: stores may hand them back in another.
 */
export const chainHash = (previous: string, stream: string, event: Unchained): string => {
  const { metadata } = event;
  const { idempotency, fundId } = metadata;
  const parts = [
    previous,
    stream,
    event.id,
    event.type,
    event.data,
    metadata.correlationId,
    metadata.causationId,
    metadata.actor,
    metadata.applicationId,
    metadata.recordedAt,
    // Absent fields are left out, so every event keeps the hash that it was written with; no two sets of them are equally many.
    ...(idempotency ? [idempotency.endpoint, idempotency.key, idempotency.fingerprint] : []),
    ...(fundId === undefined ? [] : [fundId]),
  ];
  return hash('sha256', parts.map((part) => `${part.length}:${part}`).join(''));
};

export const chainEvents = (
  previous: string,
  stream: string,
  events: readonly Unchained[],
): EventToAppend[] => {
  let link = previous;
  return events.map((event) => {
    link = chainHash(link, stream, event);
    return { ...event, metadata: { ...event.metadata, hash: link } };
  });
};

/** Never before what it follows, although clocks of two machines differ and one may have been moved. */
export const notEarlier = <Instant extends string>(now: Instant, before: string | undefined): Instant =>
  before !== undefined && before > now ? (before as Instant) : now;

/** Of the last event of a stream. */
export interface Last {
  readonly hash: string;
  /** Undefined before the first. */
  readonly recordedAt: string | undefined;
}
export const BEFORE_THE_FIRST: Last = { hash: CHAIN_START, recordedAt: undefined };

/** As they are stored behind the last event of the stream, recorded no earlier. A key stands on the first alone. */
export const eventsAfter = (
  last: Last,
  stream: string,
  events: readonly DomainEvent[],
  {
    metadata: { idempotency, ...given },
    idOf,
  }: {
    readonly metadata: Omit<EventMetadata, 'hash'>;
    readonly idOf: (type: DomainEvent['type'], recordedAt: string) => string;
  },
): EventToAppend[] => {
  const recordedAt = notEarlier(given.recordedAt, last.recordedAt);
  const metadata = { ...given, recordedAt };
  return chainEvents(
    last.hash,
    stream,
    events.map((event, i) => ({
      id: idOf(event.type, recordedAt),
      ...encodeEvent(event),
      metadata: idempotency && i === 0 ? { ...metadata, idempotency } : metadata,
    })),
  );
};

export const findBrokenLink = (stream: string, events: readonly EventToAppend[]): number => {
  let previous = CHAIN_START;
  return events.findIndex((event) => {
    const { hash: stored, ...metadata } = event.metadata;
    const holds = chainHash(previous, stream, { ...event, metadata }) === stored;
    previous = stored;
    return !holds;
  });
};

const entries = {
  ...loanEntries,
  ...renegotiationEntries,
  ...fundEntries,
  ...deskEntries,
  ...fourEyesEntries,
  ...decisionEntries,
};
type AnyEntry = EventEntry<DomainEvent['type']>;

export interface EncodedEvent {
  readonly type: string;
  readonly data: JsonText;
  /** Of one that was stored. */
  readonly metadata?: Pick<EventMetadata, 'hash'>;
}

const NO_METADATA: EventMetadata = {
  ...{ correlationId: '', causationId: '', actor: '', applicationId: '', recordedAt: '', hash: '' },
};
const ALWAYS_THERE = Object.keys(NO_METADATA) as readonly (keyof EventMetadata)[];

/**
 * Events that others wrote, or wrote over, come without our metadata. They are handed out all the same, so that whoever meets one can put
 * it aside: reading it is refused, and the hash chain tells it from ours.
 */
export const metadataOf = (text: string): EventMetadata => {
  try {
    const found = JSON.parse(text) as EventMetadata;
    return ALWAYS_THERE.every((field) => typeof found[field] === 'string') ? found : NO_METADATA;
  } catch {
    return NO_METADATA;
  }
};

export const encodeEvent = (event: DomainEvent): EncodedEvent => {
  const entry = entries[event.type] as unknown as AnyEntry;
  return { type: entry.storedType, data: JSON.stringify(entry.encode(event)) as JsonText };
};

/** Reads events of these types. @throws UnreadableEventError naming the type and the field */
const decoderOf = <Event extends DomainEvent>(of: EntriesOf<Event>): ((stored: EncodedEvent) => Event) => {
  const known = new Map((Object.values(of) as AnyEntry[]).map((entry) => [entry.storedType, entry]));
  return (stored) => {
    const entry = known.get(stored.type);
    if (!entry) throw new UnreadableEventError(`unknown stored event type ${stored.type}`);
    if (stored.metadata?.hash === '')
      throw new UnreadableEventError(`${stored.type}: its metadata is not what was stored`);
    try {
      return entry.decode(JSON.parse(stored.data) as Payload) as Event;
    } catch (error) {
      throw new UnreadableEventError(`${stored.type}: ${(error as Error).message}`, { cause: error });
    }
  };
};

export const decodeEvent = decoderOf<DomainEvent>(entries);
export const decodeLoanEvent = decoderOf<LoanEvent>(loanEntries);
export const decodeRenegotiationEvent = decoderOf<RenegotiationEvent>(renegotiationEntries);
export const decodeFundEvent = decoderOf<FundNamed>(fundEntries);
export const decodeDeskEvent = decoderOf<DeskEvent>(deskEntries);
export const decodeFourEyesEvent = decoderOf<FourEyesEvent>(fourEyesEntries);
export const decodeDecisionEvent = decoderOf<DecisionEvent>(decisionEntries);

/** What `decode` makes of an event; undefined, after `leave` was told why, for one that cannot be read. */
export const readOrLeave = <Event>(
  decode: (recorded: EncodedEvent) => Event,
  recorded: EncodedEvent,
  leave: (error: UnreadableEventError) => void,
): Event | undefined => {
  try {
    return decode(recorded);
  } catch (error) {
    if (!(error instanceof UnreadableEventError)) throw error;
    leave(error);
    return undefined;
  }
};
