import { DomainError } from '../../domain/shared/domain-error.ts';
import { LOAN_STREAM_PREFIX, ownerOf } from '../command-handling/operation.ts';
import type { PublicEvent } from '../ports/event-bus.ts';
import type {
  EventSubscription,
  LogPosition,
  RecordedEvent,
  StoredEvents,
  SubscribeOptions,
  SubscriptionMessage,
} from '../ports/event-store.ts';
import { numberOf } from '../projecting/projected-event.ts';
import { upToNow } from '../support/up-to-now.ts';
import type { LoanEventName } from './catalogue.ts';
import type { Translator } from './public-events.ts';

/** A place to begin or to end at: in the log, or in time (an instant in UTC with milliseconds). */
export type StreamBound =
  | { readonly kind: 'position'; readonly position: LogPosition }
  | { readonly kind: 'instant'; readonly instant: string };

export interface EventStreamQuery {
  /** Exclusive for a position and for an event, which is named by its id; inclusive for an instant; default: the first event there is. */
  readonly from?: StreamBound | { readonly kind: 'event'; readonly id: string };
  /** Inclusive for a position, exclusive for an instant; default: no end. */
  readonly to?: StreamBound;
  readonly follow: boolean;
  readonly applicationId?: string;
  readonly fundId?: string;
  readonly code?: string;
  readonly names?: readonly LoanEventName[];
}

export interface StreamedEvent {
  /** Of the stored event; reading on from here repeats nothing and leaves nothing out. */
  readonly position: LogPosition;
  readonly event: PublicEvent;
}

interface Dependencies {
  readonly subscription: EventSubscription;
  /** Of a log with an index of ids; any other is read from its start for one. */
  readonly byId?: StoredEvents['byId'];
  readonly translator: Translator;
}

/** Clocks of several processes differ a little, so the log is followed so much further than the end in time. */
const CLOCK_DIFFERENCE_MS = 60_000;

const instantOf = (bound: EventStreamQuery['from']): string | undefined =>
  bound?.kind === 'instant' ? bound.instant : undefined;
const positionOf = (bound: EventStreamQuery['from']): LogPosition | undefined =>
  bound?.kind === 'position' ? bound.position : undefined;

const matcher = ({ from, to, applicationId, fundId, code, names }: EventStreamQuery) => {
  const [earliest, end] = [instantOf(from), instantOf(to)];
  return {
    recorded: ({ stream }: RecordedEvent, at: string): boolean =>
      (earliest === undefined || at >= earliest) &&
      (end === undefined || at < end) &&
      (applicationId === undefined || ownerOf(stream) === applicationId),
    event: (event: PublicEvent): boolean =>
      (fundId === undefined || event.fundId === fundId) &&
      (code === undefined || event.code === code) &&
      (names === undefined || (names as readonly string[]).includes(event.name)),
  };
};

const isPast = (to: StreamBound | undefined, at: string): boolean => {
  const end = instantOf(to);
  return end !== undefined && Date.parse(at) >= Date.parse(end) + CLOCK_DIFFERENCE_MS;
};

const isNotHere = (what: string): DomainError =>
  new DomainError(
    'invalid_query_parameter',
    `${what} is none of an event in this log: it is of another log, or an older state was restored; begin at an instant, or after an event that is there`,
  );

async function* messagesOf(
  { subscription }: Dependencies,
  options: SubscribeOptions,
): AsyncGenerator<SubscriptionMessage> {
  try {
    yield* subscription.subscribe(options);
  } catch (error) {
    // What an adapter says of a position that is not its own.
    if (error instanceof RangeError) throw isNotHere(`position ${options.from}`);
    throw error;
  }
}

/** Before anything is handed out: a bound that is never met would let everything through. */
const requirePosition = async (
  deps: Dependencies,
  position: LogPosition,
  signal: AbortSignal,
): Promise<void> => {
  for await (const _ of messagesOf(deps, { from: position, batchSize: 1, signal })) return;
};

/** A position may be another event's once an older state of the log was restored; an id never is. */
const withPosition = async (deps: Dependencies, query: EventStreamQuery): Promise<EventStreamQuery> => {
  if (query.from?.kind !== 'event') return query;
  const { id } = query.from;
  const found = await (deps.byId?.(id) ?? soughtFor(deps, id));
  if (!found?.stream.startsWith(LOAN_STREAM_PREFIX)) throw isNotHere(id);
  return { ...query, from: { kind: 'position', position: found.position } };
};

const soughtFor = async ({ subscription }: Dependencies, id: string): Promise<RecordedEvent | undefined> => {
  for await (const message of upToNow(subscription, { from: 'start', streamPrefix: LOAN_STREAM_PREFIX })) {
    const found = message.kind === 'events' && message.events.find((event) => event.id === id);
    if (found) return found;
  }
  return undefined;
};

async function* recordedOf(
  deps: Dependencies,
  query: EventStreamQuery,
  signal: AbortSignal,
): AsyncGenerator<RecordedEvent> {
  const from = positionOf(query.from) ?? 'start';
  // The end may be a position in any stream.
  const last = positionOf(query.to);
  const streamPrefix = last === undefined ? LOAN_STREAM_PREFIX : '';
  for await (const message of messagesOf(deps, { from, streamPrefix, signal })) {
    for (const event of message.kind === 'events' ? message.events : []) {
      if (last !== undefined && numberOf(event.position) > numberOf(last)) return;
      yield event;
    }
    if (message.kind === 'caught_up' && !query.follow) return;
  }
}

/** The same ids and bytes as on the bus. @throws DomainError `invalid_query_parameter` for a position or an event that is not there */
export async function* streamEvents(
  deps: Dependencies,
  asked: EventStreamQuery,
  signal: AbortSignal,
): AsyncGenerator<StreamedEvent> {
  const query = await withPosition(deps, asked);
  const matches = matcher(query);
  const last = positionOf(query.to);
  if (last !== undefined) await requirePosition(deps, last, signal);
  if (last !== undefined && last === positionOf(query.from)) return;
  let at = '';
  for await (const recorded of recordedOf(deps, query, signal)) {
    // One whose metadata is lost was recorded about when the one before it was.
    at = recorded.metadata.recordedAt || at;
    if (isPast(query.to, at)) return;
    if (recorded.stream.startsWith(LOAN_STREAM_PREFIX) && matches.recorded(recorded, at)) {
      for (const event of await deps.translator.translate([recorded])) {
        if (matches.event(event)) yield { position: recorded.position, event };
      }
    }
    if (recorded.position === last) return;
  }
  if (last !== undefined && !signal.aborted)
    throw new DomainError('invalid_query_parameter', `position ${last} does not come after the start`);
}
