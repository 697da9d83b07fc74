import { hash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { ConcurrencyError, KeyAlreadyClaimedError } from '../../application/ports/event-store.ts';
import type {
  AppendResult,
  EventMetadata,
  EventToAppend,
  JsonText,
  KeyClaim,
  RecordedEvent,
  StreamRevision,
} from '../../application/ports/event-store.ts';
import { derivedId } from '../../application/publication/public-events.ts';
import { outcomeUnknown } from './failures.ts';

/** An append that is to use up a key. */
interface Intent {
  readonly stream: string;
  readonly expected: StreamRevision;
  readonly events: readonly [EventToAppend, ...EventToAppend[]];
}

interface StoredIntent {
  readonly stream: string;
  /** Null before the stream's first event. */
  readonly expected: string | null;
  readonly claim: readonly [applicationId: string, endpoint: string, key: string];
  readonly events: readonly EventToAppend[];
}

const INTENT_TYPE = 'key.claimed.v1';

/** An append that is repeated writes an intent with the same id, in whichever process: it follows from its first event and the claim. */
export const toIntentEvent = (intent: Intent, claim: KeyClaim, claimStreamName: string): EventToAppend => {
  const [first] = intent.events;
  const stored: StoredIntent = {
    stream: intent.stream,
    expected: intent.expected === 'no_stream' ? null : String(intent.expected),
    claim: [claim.applicationId, claim.endpoint, claim.key],
    events: intent.events.map(({ id, type, data, metadata }) => ({ id, type, data, metadata })),
  };
  const { correlationId, causationId, actor, applicationId, recordedAt } = first.metadata;
  const metadata: EventMetadata = { correlationId, causationId, actor, applicationId, recordedAt, hash: '' };
  return {
    id: derivedId(first.id, claimStreamName),
    type: INTENT_TYPE,
    data: JSON.stringify(stored) as JsonText,
    metadata,
  };
};

const readIntent = ({ stream: name, type, data }: RecordedEvent): Intent => {
  if (type !== INTENT_TYPE) throw new Error(`${name} holds an event of type ${type}, which is not an intent`);
  const { stream, expected, events } = JSON.parse(data) as StoredIntent;
  return {
    stream,
    expected: expected === null ? 'no_stream' : BigInt(expected),
    events: events as readonly [EventToAppend, ...EventToAppend[]],
  };
};

/** As an audit follows it; what stands there and is no claim leaves the key without one. */
export const loggedClaim = (event: RecordedEvent) => {
  const key = event.stream;
  try {
    const intent = readIntent(event);
    return { key, first: { stream: intent.stream, revision: placeOf(intent), eventId: intent.events[0].id } };
  } catch {
    return { key, first: undefined };
  }
};

/** What the claims need of a store that appends to one stream at a time. */
export interface SingleStreams {
  append(
    stream: string,
    expected: StreamRevision,
    events: readonly [EventToAppend, ...EventToAppend[]],
  ): Promise<AppendResult>;
  head(stream: string): Promise<StreamRevision>;
  last(stream: string): Promise<RecordedEvent | undefined>;
  /** The event at this place, if there is one. */
  at(stream: string, revision: bigint): Promise<RecordedEvent | undefined>;
  /** Whether the stream is known to have come as far as this revision. */
  hasReached(stream: string, revision: bigint): Promise<boolean>;
}

export const CLAIM_STREAM_PREFIX = 'claim-';

const MAX_TRIES = 50;
const BEGUN_REMEMBERED = 10_000;

export const claimStream = ({ applicationId, endpoint, key }: KeyClaim): string =>
  `${CLAIM_STREAM_PREFIX}${hash('sha256', JSON.stringify([applicationId, endpoint, key]))}`;

const placeOf = ({ expected }: Intent): bigint => (expected === 'no_stream' ? 0n : expected + 1n);

/**
 * Keys that are unique over all streams, on a store whose appends cover one stream. Each key has a stream of intents: what is
 * to be appended, whole, and where. The last intent holds the key unless its place went to something else. A process that needs a key
 * whose intent is still open carries it out first, which any process may do any number of times, because ids and revision are fixed;
 * so no process has to wait for one that died, and one that only slept finds its own work done.
 */
export class KeyClaims {
  readonly #streams: SingleStreams;
  /** First ids of appends whose intent may be stored: others may carry them out from then on. */
  readonly #begun = new LRUCache<string, true>({ max: BEGUN_REMEMBERED });

  constructor(streams: SingleStreams) {
    this.#streams = streams;
  }

  /** As the port's append with a claim. */
  async append(intent: Intent, claim: KeyClaim): Promise<AppendResult> {
    const [{ id }] = intent.events;
    try {
      await this.#hold(intent, claim);
      const result = await this.#streams.append(intent.stream, intent.expected, intent.events);
      this.#begun.delete(id);
      return result;
    } catch (error) {
      const certain = error instanceof ConcurrencyError || error instanceof KeyAlreadyClaimedError;
      if (!certain && this.#begun.has(id)) throw outcomeUnknown(`appending to ${intent.stream}`, error);
      if (certain) this.#begun.delete(id);
      throw error;
    }
  }

  /** The stream that used the key up, if any. */
  async find(claim: KeyClaim): Promise<string | undefined> {
    const last = await this.#streams.last(claimStream(claim));
    if (!last) return undefined;
    const intent = readIntent(last);
    return (await this.#fate(intent)) === 'used' ? intent.stream : undefined;
  }

  /** Resolves once the key's last intent is this one. */
  async #hold(intent: Intent, claim: KeyClaim): Promise<void> {
    await this.#ensureReached(intent);
    const stream = claimStream(claim);
    const event = toIntentEvent(intent, claim, stream);
    let expected: StreamRevision = 'no_stream';
    for (let attempt = 0; attempt < MAX_TRIES; attempt++) {
      if (await this.#write(stream, expected, event, intent)) return;
      const last = await this.#streams.last(stream);
      if (last?.id === event.id) return;
      if (last) {
        const holder = readIntent(last);
        if ((await this.#settle(holder)) === 'used') throw await this.#refusal(intent, holder);
        expected = last.revision;
      }
    }
    throw new Error(`the key of ${stream} kept changing hands`);
  }

  /**
   * An intent for a place that the stream has not come to would stay open, and be carried out when another append has long been
   * told that it was refused.
   */
  async #ensureReached({ stream, expected }: Intent): Promise<void> {
    if (expected === 'no_stream' || (await this.#streams.hasReached(stream, expected))) return;
    throw new ConcurrencyError(stream, expected, await this.#streams.head(stream));
  }

  /** False when the claim's stream is not at that revision. */
  async #write(
    stream: string,
    expected: StreamRevision,
    event: EventToAppend,
    { events: [{ id }] }: Intent,
  ): Promise<boolean> {
    const begunBefore = this.#begun.has(id);
    this.#begun.set(id, true);
    try {
      await this.#streams.append(stream, expected, [event]);
      return true;
    } catch (error) {
      const nothingStored = error instanceof Error && error.name === 'StoreUnavailableError';
      if (nothingStored && !begunBefore) this.#begun.delete(id);
      if (error instanceof ConcurrencyError) return false;
      throw error;
    }
  }

  /** What became of an intent: its events stand where it said, or something else does, or the place is still free. */
  async #fate(intent: Intent): Promise<'used' | 'superseded' | 'open'> {
    const stored = await this.#streams.at(intent.stream, placeOf(intent));
    if (!stored) return 'open';
    return stored.id === intent.events[0].id ? 'used' : 'superseded';
  }

  async #settle(intent: Intent): Promise<'used' | 'superseded'> {
    const fate = await this.#fate(intent);
    if (fate !== 'open') return fate;
    try {
      await this.#streams.append(intent.stream, intent.expected, intent.events);
      return 'used';
    } catch (error) {
      if (error instanceof ConcurrencyError) return 'superseded';
      throw error;
    }
  }

  /** A wrong revision is the reason that goes first: the caller decides again and then hears of the key. */
  async #refusal({ stream, expected }: Intent, holder: Intent): Promise<Error> {
    const head = await this.#streams.head(stream);
    if (head !== expected) return new ConcurrencyError(stream, expected, head);
    return new KeyAlreadyClaimedError(holder.stream);
  }
}
