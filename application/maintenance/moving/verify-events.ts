import { fieldDifferences } from '../../audit/difference.ts';
import { CHAIN_START, chainHash } from '../../event-codec/event-codec.ts';
import type { EventSubscription, LogPosition, RecordedEvent } from '../../ports/event-store.ts';
import { MoveFailedError } from './log-to-move.ts';
import type { EventToMove, LogToMove } from './log-to-move.ts';
import { upToNow } from '../../support/up-to-now.ts';
import { keepsItsPlace } from './copy-events.ts';

/**
 * Reads the whole new log and holds every event against the old one: stream, revision, texts, and the hash that chains it to the
 * event before. Equal events and an equal number of them mean that every stream is as long as it was and ends in the same hash.
 * Nothing is kept in memory but the place.
 * @param cuts places of the old log
 * @returns where they lie in the new log
 * @throws MoveFailedError naming the first event that is not as it should be
 */
export const verifyEvents = async (
  { log, subscription }: { readonly log: LogToMove; readonly subscription: EventSubscription },
  cuts: ReadonlySet<number>,
  verified: (events: number) => void,
): Promise<ReadonlyMap<number, LogPosition>> => {
  const places = new Map<number, LogPosition>();
  // Everything before an event that keeps its place comes before it, everything after it after.
  let [count, furthest, floor] = [0, 0, 0];
  for await (const message of upToNow(subscription, { from: 'start' })) {
    if (message.kind !== 'events') continue;
    for (const event of message.events) {
      const { at } = verify(log, event);
      const kept = keepsItsPlace(event.stream, at, cuts);
      if (at <= floor || (kept && at <= furthest))
        throw new MoveFailedError(
          `the event of place ${at} came out of order: empty the new engines and move again`,
        );
      furthest = Math.max(furthest, at);
      if (kept) floor = at;
      if (cuts.has(at)) places.set(at, event.position);
    }
    count += message.events.length;
    verified(message.events.length);
  }
  const { events } = log.counts();
  if (count !== events) throw new MoveFailedError(`the event store has ${count} events of ${events}`);
  return places;
};

const verify = (log: LogToMove, event: RecordedEvent): EventToMove => {
  const original = log.find(event.id);
  const name = `${event.stream} ${event.revision}`;
  if (!original) throw new MoveFailedError(`the event store holds an event that was never moved: ${name}`);
  const [difference] = fieldDifferences(contentsOf(original.event), contentsOf(event));
  if (difference)
    throw new MoveFailedError(
      `event ${event.id} differs from what was moved: ${name}, field ${difference.path}`,
    );
  const { hash, ...metadata } = event.metadata;
  if (chainHash(original.previousHash ?? CHAIN_START, event.stream, { ...event, metadata }) === hash)
    return original;
  throw new MoveFailedError(`the hash chain does not hold at ${name}`);
};

const contentsOf = ({ position: _, ...contents }: RecordedEvent) => contents;
