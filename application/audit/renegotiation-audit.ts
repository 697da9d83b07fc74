import { messageOf } from '../support/failures.ts';
import { sandboxWishesOf } from '../../domain/loan/events.ts';
import { fold, loanDecider } from '../../domain/loan/index.ts';
import type { LoanEvent } from '../../domain/loan/index.ts';
import { renegotiationDecider } from '../../domain/renegotiation/decider.ts';
import type {
  RenegotiationCommand,
  RenegotiationCommitted,
  RenegotiationEvent,
  RenegotiationState,
  Reservation,
  Reserved,
} from '../../domain/renegotiation/state.ts';
import type { RenegotiationId } from '../../domain/shared/identifiers.ts';
import { renegotiationStream } from '../command-handling/operation.ts';
import { encodeEvent } from '../event-codec/event-codec.ts';
import type { EventStore, RecordedEvent } from '../ports/event-store.ts';
import { tellFields, telling } from './difference.ts';
import type { Report, Tell } from './difference.ts';
import { decodeOperation, decodeRenegotiation } from './stored-events.ts';
import type { DecodedEvent } from './stored-events.ts';

export interface RenegotiationRecord {
  readonly committed: DecodedEvent<RenegotiationCommitted> | undefined;
  readonly aborted: boolean;
  /** With it the operations that were replaced leave the portfolio. */
  readonly disbursement: DecodedEvent<LoanEvent> | undefined;
}

const isCommit = (one: DecodedEvent<RenegotiationEvent>): one is DecodedEvent<RenegotiationCommitted> =>
  one.event.type === 'RenegotiationCommitted';

const unheard = (): void => undefined;

const renegotiationNamedBy = (event: LoanEvent): RenegotiationId | undefined => {
  if (event.type === 'LoanReserved' || event.type === 'LoanReservationReleased') return event.renegotiationId;
  return 'renegotiation' in event ? event.renegotiation?.renegotiationId : undefined;
};

type Store = Pick<EventStore, 'read'>;

const loadRenegotiation = async (store: Store, id: RenegotiationId): Promise<RenegotiationRecord> => {
  const { events } = await store.read(renegotiationStream(id));
  const decoded = decodeRenegotiation(events, unheard);
  const committed = decoded.find(isCommit);
  const aborted = decoded.some(({ event }) => event.type === 'RenegotiationAborted');
  if (!committed) return { committed, aborted, disbursement: undefined };
  const successor = await store.read(committed.event.newLoan.stream);
  const disbursement = decodeOperation(successor.events, unheard).find(
    ({ event }) => event.type === 'LoanDisbursed',
  );
  return { committed, aborted, disbursement };
};

export const renegotiationsOf = async (
  store: Store,
  events: readonly RecordedEvent[],
): Promise<ReadonlyMap<RenegotiationId, RenegotiationRecord>> => {
  const records = new Map<RenegotiationId, RenegotiationRecord>();
  const marked = events.some(
    ({ type, data }) => type === 'loan.reserved.v1' || data.includes('"renegotiation'),
  );
  if (!marked) return records;
  const named = decodeOperation(events, unheard).flatMap(({ event }) => renegotiationNamedBy(event) ?? []);
  for (const id of new Set(named)) records.set(id, await loadRenegotiation(store, id));
  return records;
};

const reserved = async (store: Store, reservation: Reservation): Promise<Reserved> => {
  const { events } = await store.read(reservation.stream);
  const until = decodeOperation(events.slice(0, reservation.revision + 1), unheard);
  const state = fold(
    loanDecider.initialState,
    until.map(({ event }) => event),
  );
  return { reservation, state };
};

const commitAgain = async (store: Store, event: RenegotiationCommitted): Promise<RenegotiationCommand> => {
  const { renegotiation, received, originals, newLoan, fingerprint, committedAt: now } = event;
  const { originalProposalCodes, newProposalCode, effectiveDate } = renegotiation;
  const { acquisitionValue, installments, dateIssued, productType, borrower, documents } = received;
  return {
    type: 'CommitRenegotiation',
    proposal: {
      ...{ originalProposalCodes, newProposalCode, effectiveDate },
      ...{ acquisitionValue, installments, dateIssued, productType },
      ...sandboxWishesOf(received),
    },
    originals: await Promise.all(originals.map((one) => reserved(store, one))),
    newLoan: await reserved(store, newLoan),
    ...{ borrower, documents, fingerprint, now },
  };
};

const commandOf = async (store: Store, event: RenegotiationEvent): Promise<RenegotiationCommand> => {
  switch (event.type) {
    case 'RenegotiationStarted':
      return { ...event, type: 'StartRenegotiation', now: event.startedAt };
    case 'RenegotiationCommitted':
      return commitAgain(store, event);
    case 'RenegotiationAborted':
      return { type: 'AbortRenegotiation', now: event.abortedAt };
    case 'RenegotiationCompleted':
      return { type: 'CompleteRenegotiation', now: event.completedAt };
  }
};

/** Once it is said to be through, every operation has to show it. */
const checkCarriedOut = async (
  store: Store,
  stream: string,
  { originals, newLoan, renegotiation }: RenegotiationCommitted,
  report: Report,
): Promise<void> => {
  const tell = telling(report, 'renegotiation', { stream, revision: null });
  for (const place of [...originals, newLoan]) {
    const type = place === newLoan ? 'LoanReceived' : 'LoanRenegotiated';
    const { events } = await store.read(place.stream);
    const done = decodeOperation(events, unheard).some(
      ({ event }) =>
        event.type === type && event.renegotiation?.renegotiationId === renegotiation.renegotiationId,
    );
    if (!done) tell('carried out', type, `nothing of it in ${place.stream}`);
  }
};

/** Answers the fund of its operations; undefined before it is decided. */
export const auditRenegotiation = async (
  store: Store,
  stream: string,
  events: readonly RecordedEvent[],
  report: Report,
): Promise<string | undefined> => {
  let state: RenegotiationState = renegotiationDecider.initialState;
  for (const found of decodeRenegotiation(events, report)) {
    const { recorded, event } = found;
    const tell = telling(report, 'renegotiation', recorded);
    try {
      const [again] = renegotiationDecider.decide(await commandOf(store, event), state);
      if (!again) tell('rule', `nothing causes it in status ${state.status}`, recorded.type);
      else tellFields(tell, JSON.parse(encodeEvent(again).data), JSON.parse(recorded.data));
    } catch (error) {
      tell('rule', messageOf(error), recorded.type);
    }
    state = renegotiationDecider.evolve(state, event);
  }
  if (state.status === 'none') return undefined;
  const named = renegotiationStream(state.started.renegotiationId);
  if (named !== stream) telling(report, 'renegotiation', { stream, revision: 0 })('stream', named, stream);
  if (!('committed' in state)) return undefined;
  if (state.status === 'completed') await checkCarriedOut(store, stream, state.committed, report);
  return state.committed.received.fundId;
};

const payload = (event: LoanEvent): unknown => JSON.parse(encodeEvent(event).data);

const outcomeOf = ({ committed, aborted }: RenegotiationRecord): string =>
  committed ? 'committed' : aborted ? 'given up' : 'undecided';

const checkReservation = (
  { stream, revision }: DecodedEvent<LoanEvent>['recorded'],
  { committed }: RenegotiationRecord,
  refuse: Tell,
): void => {
  if (!committed) return;
  const { originals, newLoan } = committed.event;
  const place = [...originals, newLoan].find((one) => one.stream === stream);
  if (place?.revision === Number(revision)) return;
  refuse('reservation', `at revision ${place?.revision ?? '(nowhere)'}`, `at revision ${revision}`);
};

/** What one event of an operation says of a renegotiation must be what the renegotiation says of the operation. */
const checkEvent = (found: DecodedEvent<LoanEvent>, record: RenegotiationRecord, report: Report): void => {
  const { event, recorded } = found;
  const refuse = telling(report, 'renegotiation', recorded);
  const outcome = outcomeOf(record);
  if (event.type === 'LoanReserved') checkReservation(recorded, record, refuse);
  if (event.type === 'LoanReservationReleased' && outcome !== 'given up')
    refuse('outcome', 'given up', outcome);
  if (event.type !== 'LoanRenegotiated' && event.type !== 'LoanReceived') return;
  if (!record.committed) return refuse('outcome', 'committed', outcome);
  const { renegotiation, committedAt: renegotiatedAt, received } = record.committed.event;
  const expected: LoanEvent =
    event.type === 'LoanReceived' ? received : { type: 'LoanRenegotiated', renegotiation, renegotiatedAt };
  tellFields(refuse, payload(expected), payload(event));
};

export const checkReservations = (
  events: readonly DecodedEvent<LoanEvent>[],
  records: ReadonlyMap<string, RenegotiationRecord>,
  report: Report,
): void => {
  if (records.size === 0) return;
  for (const found of events) {
    const record = records.get(renegotiationNamedBy(found.event) ?? '');
    if (record) checkEvent(found, record, report);
  }
};
