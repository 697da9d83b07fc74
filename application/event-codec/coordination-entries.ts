import type { Reservation } from '../../domain/renegotiation/events.ts';
import { loanReceived } from './assignment-entries.ts';
import type { EventEntry } from './event-entry.ts';
import { integer, list, object, text, texts, UnreadableEventError } from './payload.ts';
import type { Payload } from './payload.ts';
import { decodeTerms, encodeTerms } from './renegotiation-entries.ts';

const encodeReservation = ({ code, stream, revision }: Reservation): Payload => ({ code, stream, revision });
const decodeReservation = (p: Payload): Reservation => ({
  code: text(p, 'code'),
  stream: text(p, 'stream'),
  revision: integer(p, 'revision'),
});

/** The event inside keeps its own versioned name, so that it can change as it would in its own stream. */
const decodeReceived = (p: Payload): ReturnType<typeof loanReceived.decode> => {
  const type = text(p, 'type');
  if (type !== loanReceived.storedType) throw new UnreadableEventError(`unknown received event ${type}`);
  return loanReceived.decode(object(p, 'data'));
};

export const renegotiationStarted: EventEntry<'RenegotiationStarted'> = {
  storedType: 'renegotiation.started.v1',
  encode: (event) => ({
    renegotiation_id: event.renegotiationId,
    application_id: event.applicationId,
    original_proposal_codes: event.originalProposalCodes,
    new_proposal_code: event.newProposalCode,
    lease_ends_at: event.leaseEndsAt,
    started_at: event.startedAt,
  }),
  decode: (p) => ({
    type: 'RenegotiationStarted',
    renegotiationId: text(p, 'renegotiation_id'),
    applicationId: text(p, 'application_id'),
    originalProposalCodes: texts(p, 'original_proposal_codes'),
    newProposalCode: text(p, 'new_proposal_code'),
    leaseEndsAt: text(p, 'lease_ends_at'),
    startedAt: text(p, 'started_at'),
  }),
};

export const renegotiationCommitted: EventEntry<'RenegotiationCommitted'> = {
  storedType: 'renegotiation.committed.v1',
  encode: (event) => ({
    renegotiation: encodeTerms(event.renegotiation),
    application_id: event.applicationId,
    originals: event.originals.map(encodeReservation),
    new_loan: encodeReservation(event.newLoan),
    received: { type: loanReceived.storedType, data: loanReceived.encode(event.received) },
    fingerprint: event.fingerprint,
    committed_at: event.committedAt,
  }),
  decode: (p) => ({
    type: 'RenegotiationCommitted',
    renegotiation: decodeTerms(p),
    applicationId: text(p, 'application_id'),
    originals: list(p, 'originals', decodeReservation),
    newLoan: decodeReservation(object(p, 'new_loan')),
    received: decodeReceived(object(p, 'received')),
    fingerprint: text(p, 'fingerprint'),
    committedAt: text(p, 'committed_at'),
  }),
};

export const renegotiationAborted: EventEntry<'RenegotiationAborted'> = {
  storedType: 'renegotiation.aborted.v1',
  encode: (event) => ({ aborted_at: event.abortedAt }),
  decode: (p) => ({ type: 'RenegotiationAborted', abortedAt: text(p, 'aborted_at') }),
};

export const renegotiationCompleted: EventEntry<'RenegotiationCompleted'> = {
  storedType: 'renegotiation.completed.v1',
  encode: (event) => ({ completed_at: event.completedAt }),
  decode: (p) => ({ type: 'RenegotiationCompleted', completedAt: text(p, 'completed_at') }),
};
