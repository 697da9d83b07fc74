import { messageOf } from '../support/error-message.ts';
import type { DomainEvent } from '../../domain/domain-event.ts';
import type { ProjectedEvent } from '../../projections/engine/projection.ts';
import { decodeLoanEvent, decodeRenegotiationEvent } from '../event-codec/event-codec.ts';
import type { EncodedEvent } from '../event-codec/event-codec.ts';
import type { RecordedEvent } from '../ports/event-store.ts';
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
        const { stream, revision, type } = recorded;
        const found = messageOf(error);
        const place = { stream, revision: Number(revision), what: type };
        report({ kind: 'event', ...place, expected: 'an event that this version reads', found });
        return [];
      }
    });

export const decodeOperation = decodeWith(decodeLoanEvent);
export const decodeRenegotiation = decodeWith(decodeRenegotiationEvent);

/** As projections take it. */
export const toProjected = ({ recorded, event }: DecodedEvent<DomainEvent>): ProjectedEvent => ({
  event,
  id: recorded.id,
  stream: recorded.stream,
  revision: recorded.revision,
  recordedAt: recorded.metadata.recordedAt,
  applicationId: recorded.metadata.applicationId,
});
