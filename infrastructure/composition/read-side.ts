import { decodeEvent } from '../../application/event-codec/event-codec.ts';
import type { LogPosition, RecordedEvent } from '../../application/ports/event-store.ts';
import type { DomainEvent } from '../../domain/domain-event.ts';
import type { LoanEvent } from '../../domain/loan/events.ts';
import type { Projector } from '../../projections/engine/projector.ts';
import type { ProjectedEvent } from '../../projections/engine/projection.ts';

/** The end of the log is handed to each follower as the same objects, so that the first one decodes for all of them. */
const decoded = new WeakMap<RecordedEvent, DomainEvent>();

const decodedOnce = (recorded: RecordedEvent): DomainEvent => {
  const known = decoded.get(recorded);
  if (known) return known;
  const event = decodeEvent(recorded);
  decoded.set(recorded, event);
  return event;
};

export type LoanProjector = Projector<RecordedEvent, LogPosition>;

/** @throws UnreadableEventError for a type of a newer version: passing it by would break the order that was promised */
export const decodeRecorded = (recorded: RecordedEvent): LoanEvent => decodedOnce(recorded) as LoanEvent;

/** @throws UnreadableEventError for a type of a newer version: passing it by would leave rows that are quietly wrong */
export const toProjected = (recorded: RecordedEvent): ProjectedEvent => ({
  event: decodedOnce(recorded),
  id: recorded.id,
  stream: recorded.stream,
  revision: recorded.revision,
  recordedAt: recorded.metadata.recordedAt,
  applicationId: recorded.metadata.applicationId,
});
