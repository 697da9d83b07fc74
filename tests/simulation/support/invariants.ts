import { decodeEvent, findBrokenLink } from '../../../application/event-codec/event-codec.ts';
import type { RecordedEvent } from '../../../application/ports/event-store.ts';
import type { DomainEvent } from '../../../domain/domain-event.ts';
import type { RenegotiationCommitted } from '../../../domain/renegotiation/state.ts';
import type { RenegotiationId } from '../../../domain/shared/identifiers.ts';

interface Told {
  readonly event: DomainEvent;
  readonly stream: string;
  /** Its place in the whole log. */
  readonly at: number;
}

interface Acknowledged {
  /** Keys of payments that were accepted, and of those that were refused. */
  readonly paid: readonly string[];
  readonly refused: readonly string[];
  /** New codes of renegotiations that were accepted. */
  readonly renegotiated: readonly string[];
}

/** The renegotiation that an event of an operation's stream belongs to. */
const renegotiationOf = (event: DomainEvent): RenegotiationId | undefined => {
  if (event.type === 'LoanReserved' || event.type === 'LoanReservationReleased') return event.renegotiationId;
  if (event.type === 'LoanReceived' || event.type === 'LoanRenegotiated')
    return event.renegotiation?.renegotiationId;
  return undefined;
};

const count = <T>(items: readonly T[], matches: (item: T) => boolean): number => items.filter(matches).length;

/** Between a reservation and what ends it nothing else happens, and it does end. */
const heldProperly = (stream: string, events: readonly Told[]): readonly string[] => {
  let holder: RenegotiationId | undefined;
  const violations: string[] = [];
  for (const { event } of events) {
    if (holder !== undefined && renegotiationOf(event) !== holder)
      violations.push(`${stream}: ${event.type} while reserved`);
    if (event.type === 'LoanReserved') holder = event.renegotiationId;
    else holder = undefined;
  }
  return holder === undefined ? violations : [...violations, `${stream}: reserved for ever`];
};

const carriedOut = (
  committed: RenegotiationCommitted,
  streams: ReadonlyMap<string, readonly Told[]>,
): readonly string[] => {
  const { originals, newLoan, renegotiation } = committed;
  const id = renegotiation.renegotiationId;
  const times = (stream: string, type: DomainEvent['type']): number =>
    count(streams.get(stream) ?? [], ({ event }) => event.type === type && renegotiationOf(event) === id);
  return [
    ...originals
      .filter(({ stream }) => times(stream, 'LoanRenegotiated') !== 1)
      .map(
        ({ stream }) =>
          `${stream}: renegotiated ${times(stream, 'LoanRenegotiated')} times by a committed one`,
      ),
    ...(times(newLoan.stream, 'LoanReceived') === 1 ? [] : [`${newLoan.stream}: not received exactly once`]),
  ];
};

const MONEY = new Set<DomainEvent['type']>([
  'InstallmentSettled',
  'PrepaymentProcessed',
  'RepurchaseRequested',
]);

const noMoneyAfter = (
  commit: Told,
  { originals }: RenegotiationCommitted,
  all: readonly Told[],
): readonly string[] => {
  const closed = new Set(originals.map(({ stream }) => stream));
  return all
    .filter(({ event, stream, at }) => at > commit.at && closed.has(stream) && MONEY.has(event.type))
    .map(({ event, stream }) => `${stream}: ${event.type} after the commit`);
};

const acknowledgementsHold = (
  log: readonly RecordedEvent[],
  told: readonly Told[],
  acknowledged: Acknowledged,
) => {
  const keys = new Set(log.map(({ metadata }) => metadata.idempotency?.key));
  const committed = told.flatMap(({ event }) => (event.type === 'RenegotiationCommitted' ? [event] : []));
  const codes = new Set<string>(committed.map(({ renegotiation }) => renegotiation.newProposalCode));
  return [
    ...acknowledged.paid
      .filter((key) => !keys.has(key))
      .map((key) => `payment ${key} was acknowledged and is lost`),
    ...acknowledged.refused
      .filter((key) => keys.has(key))
      .map((key) => `payment ${key} was refused and is stored`),
    ...acknowledged.renegotiated
      .filter((code) => !codes.has(code))
      .map((code) => `${code} was acknowledged and is lost`),
  ];
};

/** Everything that is wrong with a log at the end of its story; nothing when all is well. */
export const violationsOf = (
  log: readonly RecordedEvent[],
  acknowledged: Acknowledged,
): readonly string[] => {
  const told = log.map((recorded, at) => ({ event: decodeEvent(recorded), stream: recorded.stream, at }));
  const streams = Map.groupBy(told, ({ stream }) => stream);
  const commits = told.flatMap((one) =>
    one.event.type === 'RenegotiationCommitted' ? [{ one, commit: one.event }] : [],
  );
  const committedIds = new Set(commits.map(({ commit }) => commit.renegotiation.renegotiationId));
  const originals = commits.flatMap(({ commit }) => commit.originals.map(({ stream }) => stream));
  const decisions = (events: readonly Told[]): number =>
    count(
      events,
      ({ event }) => event.type === 'RenegotiationCommitted' || event.type === 'RenegotiationAborted',
    );
  return [
    ...commits.flatMap(({ one, commit }) => [
      ...carriedOut(commit, streams),
      ...noMoneyAfter(one, commit, told),
    ]),
    ...told
      .filter(
        ({ event }) =>
          event.type === 'LoanRenegotiated' && !committedIds.has(event.renegotiation.renegotiationId),
      )
      .map(({ stream }) => `${stream}: renegotiated without a commit`),
    ...(new Set(originals).size === originals.length
      ? []
      : ['an original is in two committed renegotiations']),
    ...[...streams].flatMap(([stream, events]) => [
      ...heldProperly(stream, events),
      ...(decisions(events) > 1 ? [`${stream}: decided twice`] : []),
      ...(count(events, ({ event }) => event.type === 'LoanReceived') > 1
        ? [`${stream}: received twice`]
        : []),
    ]),
    ...[...Map.groupBy(log, ({ stream }) => stream)]
      .filter(([stream, events]) => findBrokenLink(stream, events) !== -1)
      .map(([stream]) => `${stream}: broken hash chain`),
    ...acknowledgementsHold(log, told, acknowledged),
  ];
};
