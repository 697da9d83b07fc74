import { decodeEvent } from '../../application/event-codec/event-codec.ts';
import type { EventSubscription, RecordedEvent, StoredEvents } from '../../application/ports/event-store.ts';
import type { LogOrder } from '../../application/ports/read-models.ts';
import { numberOf, projectedEvent } from '../../application/projecting/projected-event.ts';
import { PUBLISHED } from '../../application/publication/catalogue.ts';
import type { DomainEvent } from '../../domain/domain-event.ts';
import type { LoanEvent } from '../../domain/loan/events.ts';
import type { ProjectedEvent, Projection } from '../../projections/projection.ts';
import { loanProjection } from '../../projections/loan/loan-projection.ts';
import { eventIndexProjection } from '../../projections/publication/event-index-projection.ts';

/** True for a log that finds events by their id, as the embedded one does. */
const findsById = <Log extends EventSubscription>(log: Log): log is Log & StoredEvents => 'byId' in log;

export const eventIndex = eventIndexProjection(PUBLISHED);

/** Every read model of a service on this log; together they are one generation. */
export const projectionsOn = (log: EventSubscription): readonly Projection[] =>
  findsById(log) ? [loanProjection] : [loanProjection, eventIndex];

/** The end of the log is handed to each follower as the same objects, so that the first one decodes for all of them. */
const decoded = new WeakMap<RecordedEvent, DomainEvent>();

const decodedOnce = (recorded: RecordedEvent): DomainEvent => {
  const known = decoded.get(recorded);
  if (known) return known;
  const event = decodeEvent(recorded);
  decoded.set(recorded, event);
  return event;
};

/** @throws UnreadableEventError for a type of a newer version: skipping it would break the order that is promised */
export const decodeRecorded = (recorded: RecordedEvent): LoanEvent => decodedOnce(recorded) as LoanEvent;

/** @throws UnreadableEventError for a type of a newer version: skipping it would leave rows that are wrong without a trace */
export const toProjected = (recorded: RecordedEvent): ProjectedEvent =>
  projectedEvent(recorded, decodedOnce(recorded));

const [EMBEDDED, OF_EVENTSTOREDB] = [/^\d+$/, /^\d+\/\d+$/];

export const logOrder: LogOrder = {
  comparable: (...places) =>
    [EMBEDDED, OF_EVENTSTOREDB].some((shape) =>
      places.every((place) => place === 'start' || shape.test(place)),
    ),
  compare: (one, other) => {
    const [left, right] = [numberOf(one), numberOf(other)];
    return left < right ? -1 : left > right ? 1 : 0;
  },
  share: (done, whole) => Math.min(1, Number(numberOf(done)) / Math.max(1, Number(numberOf(whole)))),
};
