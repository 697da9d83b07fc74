import {
  decodeEvent,
  decodeLoanEvent,
  isLoanEventType,
  storedTypes,
} from '../../application/event-codec/event-codec.ts';
import type { LogPosition, RecordedEvent } from '../../application/ports/event-store.ts';
import type { LoanEvent } from '../../domain/loan/events.ts';
import type { Projector } from '../../projections/engine/projector.ts';
import type { ProjectedEvent } from '../../projections/engine/projection.ts';

export type LoanProjector = Projector<RecordedEvent, LogPosition>;

const known = new Set(storedTypes);

/** Events of other kinds (of a newer version, of another stream) are nobody's here. */
export const decodeRecorded = (recorded: RecordedEvent): LoanEvent | undefined =>
  isLoanEventType(recorded.type) ? decodeLoanEvent(recorded) : undefined;

export const toProjected = (recorded: RecordedEvent): ProjectedEvent | undefined => {
  const event = known.has(recorded.type) ? decodeEvent(recorded) : undefined;
  return (
    event && {
      event,
      id: recorded.id,
      stream: recorded.stream,
      revision: recorded.revision,
      recordedAt: recorded.metadata.recordedAt,
      applicationId: recorded.metadata.applicationId,
    }
  );
};
