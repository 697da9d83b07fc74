import { fieldDifferences } from '../../audit/difference.ts';
import { RENEGOTIATION_STREAM_PREFIX } from '../../command-handling/operation.ts';
import { CHAIN_START, chainHash } from '../../event-codec/event-codec.ts';
import { ConcurrencyError, KeyAlreadyClaimedError } from '../../ports/event-store.ts';
import type {
  EventStore,
  EventSubscription,
  EventToAppend,
  KeyClaim,
  LogPosition,
  RecordedEvent,
  StreamRevision,
} from '../../ports/event-store.ts';
import { retryUntilAvailable } from '../../support/retry.ts';
import { upToNow } from '../../support/up-to-now.ts';
import { MoveFailedError } from './what-moves.ts';
import type { EventToMove, LogToMove } from './what-moves.ts';

interface PendingAppend {
  readonly stream: string;
  readonly expected: StreamRevision;
  readonly events: readonly EventToAppend[];
  readonly claim: KeyClaim | undefined;
  readonly through: number;
}

/** Well below what an event store takes at once, escaped inside of an intent or not. */
const MOST_CHARACTERS = 250_000;

const sizeOf = ({ event: { data } }: EventToMove): number => data.length;

const belongsTo = (last: EventToMove, next: EventToMove): boolean => {
  const [before, after] = [last.event, next.event];
  return (
    after.stream === before.stream &&
    after.revision === before.revision + 1n &&
    after.metadata.idempotency === undefined &&
    after.metadata.recordedAt === before.metadata.recordedAt &&
    after.metadata.correlationId === before.metadata.correlationId
  );
};

const toAppend = (members: readonly EventToMove[]): PendingAppend => {
  const [first] = members;
  const { stream, revision } = first!.event;
  return {
    stream,
    expected: revision === 0n ? 'no_stream' : revision - 1n,
    events: members.map(({ event: { id, type, data, metadata } }) => ({ id, type, data, metadata })),
    claim: first!.claim,
    through: members.at(-1)!.at,
  };
};

/** Appends again as they were. One ends at every place of `cuts`, so that a follower can go on right behind it. */
function* appendsOf(events: Iterable<EventToMove>, cuts: ReadonlySet<number>): Generator<PendingAppend> {
  let members: EventToMove[] = [];
  let characters = 0;
  for (const next of events) {
    const last = members.at(-1);
    const fits = characters + sizeOf(next) <= MOST_CHARACTERS;
    if (last && !(fits && belongsTo(last, next) && !cuts.has(last.at))) {
      yield toAppend(members);
      members = [];
      characters = 0;
    }
    members.push(next);
    characters += sizeOf(next);
  }
  if (members.length > 0) yield toAppend(members);
}

/** What has to keep its place among the events of all streams: renegotiations, and where a follower goes on. */
const keepsItsPlace = (stream: string, at: number, cuts: ReadonlySet<number>): boolean =>
  stream.startsWith(RENEGOTIATION_STREAM_PREFIX) || cuts.has(at);

/** One that keeps its place comes alone, after everything before it and before everything after it. */
function* wavesOf(
  appends: Iterable<PendingAppend>,
  cuts: ReadonlySet<number>,
  size: number,
): Generator<readonly PendingAppend[]> {
  let wave = new Map<string, PendingAppend>();
  for (const append of appends) {
    const alone = keepsItsPlace(append.stream, append.through, cuts);
    if (wave.size > 0 && (alone || wave.size >= size || wave.has(append.stream))) {
      yield [...wave.values()];
      wave = new Map();
    }
    if (alone) yield [append];
    else wave.set(append.stream, append);
  }
  if (wave.size > 0) yield [...wave.values()];
}

interface Dependencies {
  readonly log: LogToMove;
  readonly store: Pick<EventStore, 'append'>;
  readonly pause: (ms: number) => Promise<void>;
}

const PAGE = 250;
const IN_FLIGHT = 64;

/**
 * Appends every event again: same ids, revisions, texts and keys. Events of an operation keep their order, and so does everything
 * around a renegotiation and around the places where followers go on; between operations it may change by a few dozen appends,
 * which no reader of the log relies on. The store recognises an append that it has: a copy that was stopped is simply begun again.
 * @param cuts places of the old log where followers go on
 * @param moved called with a number of events as soon as they are stored
 */
export const copyEvents = async (
  dependencies: Dependencies,
  cuts: ReadonlySet<number>,
  moved: (events: number) => void,
): Promise<void> => {
  for (const wave of wavesOf(appendsOf(eventsOf(dependencies.log), cuts), cuts, IN_FLIGHT)) {
    await settled(wave.map((one) => append(dependencies, one)));
    moved(wave.reduce((sum, { events }) => sum + events.length, 0));
  }
};

function* eventsOf(log: LogToMove): Generator<EventToMove> {
  for (let after = 0; ;) {
    const page = log.page(after, PAGE);
    yield* page;
    const last = page.at(-1);
    if (!last) return;
    after = last.at;
  }
}

const append = async (
  { store, pause }: Dependencies,
  { stream, expected, events, claim }: PendingAppend,
): Promise<void> => {
  try {
    await retryUntilAvailable(() => store.append(stream, expected, events, claim), pause);
  } catch (error) {
    if (!(error instanceof ConcurrencyError) && !(error instanceof KeyAlreadyClaimedError)) throw error;
    throw new MoveFailedError(`the event store holds something else already: ${error.message}`, {
      cause: error,
    });
  }
};

/** Waits for all of them before it fails with the first failure: nothing is left under way. */
const settled = async (work: readonly Promise<void>[]): Promise<void> => {
  for (const result of await Promise.allSettled(work)) if (result.status === 'rejected') throw result.reason;
};

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
