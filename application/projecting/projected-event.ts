import type { DomainEvent } from '../../domain/domain-event.ts';
import type { ProjectedEvent } from '../../projections/projection.ts';
import type { LogPosition, RecordedEvent } from '../ports/event-store.ts';

export const numberOf = (position: LogPosition | 'start'): bigint =>
  position === 'start' ? 0n : BigInt(position.split('/', 1)[0]!);

export const projectedEvent = (recorded: RecordedEvent, event: DomainEvent): ProjectedEvent => ({
  event,
  id: recorded.id,
  stream: recorded.stream,
  revision: recorded.revision,
  position: Number(numberOf(recorded.position)),
  recordedAt: recorded.metadata.recordedAt,
  applicationId: recorded.metadata.applicationId,
});
