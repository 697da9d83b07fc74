import type { DomainEvent } from '../../domain/domain-event.ts';
import type { ProjectedEvent } from '../../projections/projection.ts';
import {
  CHAIN_START,
  chainHash,
  decodeDeskEvent,
  decodeDecisionEvent,
  decodeFourEyesEvent,
  decodeFundEvent,
  decodeLoanEvent,
  decodeRenegotiationEvent,
} from '../event-codec/event-codec.ts';
import type { EncodedEvent } from '../event-codec/event-codec.ts';
import type { RecordedEvent } from '../ports/event-store.ts';
import { projectedEvent } from '../projecting/projected-event.ts';
import { messageOf } from '../support/failures.ts';
import { telling } from './difference.ts';
import type { Report } from './difference.ts';

export interface DecodedEvent<Event extends DomainEvent> {
  readonly recorded: RecordedEvent;
  readonly event: Event;
}

/** The events that this version can read; each other one is reported, never passed by. */
const decodeWith =
  <Event extends DomainEvent>(decode: (stored: EncodedEvent) => Event) =>
  (events: readonly RecordedEvent[], report: Report): readonly DecodedEvent<Event>[] =>
    events.flatMap((recorded) => {
      try {
        return [{ recorded, event: decode(recorded) }];
      } catch (error) {
        const tell = telling(report, 'event', recorded);
        tell(recorded.type, 'an event that this version reads', messageOf(error));
        return [];
      }
    });

export const decodeOperation = decodeWith(decodeLoanEvent);
export const decodeRenegotiation = decodeWith(decodeRenegotiationEvent);
export const decodeFunds = decodeWith(decodeFundEvent);
export const decodeDesk = decodeWith(decodeDeskEvent);
export const decodeFourEyes = decodeWith(decodeFourEyesEvent);
export const decodeDecisions = decodeWith(decodeDecisionEvent);

export const toProjected = ({ recorded, event }: DecodedEvent<DomainEvent>): ProjectedEvent =>
  projectedEvent(recorded, event);

/** The fields that the hash covers, and itself: anything beside them could be changed without a trace. */
const FIELDS: ReadonlySet<string> = new Set([
  'correlationId',
  'causationId',
  'actor',
  'applicationId',
  'recordedAt',
  'fundId',
  'hash',
]);
const FIELDS_OF_KEY: ReadonlySet<string> = new Set(['endpoint', 'key', 'fingerprint']);

const fieldsOutside = ({ idempotency, ...metadata }: RecordedEvent['metadata']): readonly string[] => [
  ...Object.keys(metadata).filter((field) => !FIELDS.has(field)),
  ...Object.keys(idempotency ?? {}).flatMap((field) =>
    FIELDS_OF_KEY.has(field) ? [] : [`idempotency.${field}`],
  ),
];

const expectedHash = (previous: string, { stream, id, type, data, metadata }: RecordedEvent): string => {
  try {
    return chainHash(previous, stream, { id, type, data, metadata });
  } catch {
    return '(cannot be computed)';
  }
};

export const checkStream = (stream: string, events: readonly RecordedEvent[], report: Report): void => {
  let previous = CHAIN_START;
  events.forEach((event, index) => {
    const { revision, metadata } = event;
    const tell = telling(report, 'chain', { stream, revision });
    if (Number(revision) !== index) tell('revision', String(index), String(revision));
    const expected = expectedHash(previous, event);
    const { hash } = metadata;
    if (expected !== hash) tell('hash', expected, hash ?? '(nothing)');
    for (const field of fieldsOutside(metadata))
      tell(`metadata.${field}`, 'no such field', 'a field outside the hash');
    // Goes on from what is stored, so that one changed event is one difference.
    previous = hash ?? '';
  });
};
