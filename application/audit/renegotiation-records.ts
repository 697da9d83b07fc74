import type { LoanEvent } from '../../domain/loan/index.ts';
import type { RenegotiationCommitted, RenegotiationEvent } from '../../domain/renegotiation/index.ts';
import type { RenegotiationId } from '../../domain/shared/identifiers.ts';
import { renegotiationStream } from '../command-handling/stream-names.ts';
import type { EventStore } from '../ports/event-store.ts';
import { decodeOperation, decodeRenegotiation } from './decoded-event.ts';
import type { DecodedEvent } from './decoded-event.ts';

/** A renegotiation as the streams of those that took part need to see it. */
export interface RenegotiationRecord {
  readonly id: RenegotiationId;
  readonly committed: DecodedEvent<RenegotiationCommitted> | undefined;
  readonly aborted: boolean;
  /** With it the operations that were replaced leave the portfolio. */
  readonly disbursement: DecodedEvent<LoanEvent> | undefined;
}

const isCommit = (one: DecodedEvent<RenegotiationEvent>): one is DecodedEvent<RenegotiationCommitted> =>
  one.event.type === 'RenegotiationCommitted';

/** What is unreadable is reported where its own stream is verified. */
const unheard = (): void => undefined;

/** Renegotiations that these events name. */
export const namedRenegotiations = (
  events: readonly DecodedEvent<LoanEvent>[],
): readonly RenegotiationId[] => [
  ...new Set(
    events.flatMap(({ event }) => {
      if (event.type === 'LoanReserved' || event.type === 'LoanReservationReleased')
        return [event.renegotiationId];
      return 'renegotiation' in event && event.renegotiation ? [event.renegotiation.renegotiationId] : [];
    }),
  ),
];

export const loadRenegotiation = async (
  store: Pick<EventStore, 'read'>,
  id: RenegotiationId,
): Promise<RenegotiationRecord> => {
  const { events } = await store.read(renegotiationStream(id));
  const decoded = decodeRenegotiation(events, unheard);
  const committed = decoded.find(isCommit);
  const aborted = decoded.some(({ event }) => event.type === 'RenegotiationAborted');
  if (!committed) return { id, committed, aborted, disbursement: undefined };
  const successor = await store.read(committed.event.newLoan.stream);
  const disbursement = decodeOperation(successor.events, unheard).find(
    ({ event }) => event.type === 'LoanDisbursed',
  );
  return { id, committed, aborted, disbursement };
};
