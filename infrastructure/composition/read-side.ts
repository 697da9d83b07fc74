import { decodeEvent, decodeLoanEvent } from '../../application/event-codec/event-codec.ts';
import type { LogPosition, RecordedEvent } from '../../application/ports/event-store.ts';
import type { LoanEvent } from '../../domain/loan/events.ts';
import type { Projector } from '../../projections/engine/projector.ts';
import type { ProjectedEvent } from '../../projections/engine/projection.ts';

export type LoanProjector = Projector<RecordedEvent, LogPosition>;

/** @throws UnreadableEventError for a type of a newer version: passing it by would break the order that was promised */
export const decodeRecorded = (recorded: RecordedEvent): LoanEvent => decodeLoanEvent(recorded);

/** @throws UnreadableEventError for a type of a newer version: passing it by would leave rows that are quietly wrong */
export const toProjected = (recorded: RecordedEvent): ProjectedEvent => ({
  event: decodeEvent(recorded),
  id: recorded.id,
  stream: recorded.stream,
  revision: recorded.revision,
  recordedAt: recorded.metadata.recordedAt,
  applicationId: recorded.metadata.applicationId,
});
