import type {
  EventMetadata,
  EventToAppend,
  JsonText,
  KeyClaim,
  RecordedEvent,
  StreamRevision,
} from '../../application/ports/event-store.ts';
import { derivedId } from '../../application/publishing/derived-id.ts';

/** An append that is to use up a key. */
export interface Intent {
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

/** The same append writes the same intent, whoever retries it: the id follows from its first event and the claim. */
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

export const readIntent = ({ stream: name, type, data }: RecordedEvent): Intent => {
  if (type !== INTENT_TYPE) throw new Error(`${name} holds an event of type ${type}, which is not an intent`);
  const { stream, expected, events } = JSON.parse(data) as StoredIntent;
  return {
    stream,
    expected: expected === null ? 'no_stream' : BigInt(expected),
    events: events as readonly [EventToAppend, ...EventToAppend[]],
  };
};
