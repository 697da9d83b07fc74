import type { LoanReceived } from '../../domain/loan/events.ts';
import type { RenegotiationEvent, Reservation } from '../../domain/renegotiation/state.ts';
import { loanEntries, renegotiationTerms } from './entries.ts';
import { UnreadableEventError, entry, integer, list, object, shape, text, texts } from './fields.ts';
import type { EntriesOf, Shape } from './fields.ts';

const reservation = shape<Reservation>({
  code: text('code'),
  stream: text('stream'),
  revision: integer('revision'),
});

/** The event inside keeps its own versioned name, so that it can change as it would in its own stream. */
const loanReceived = loanEntries.LoanReceived;
const storedType = text<string>('type');
const data = object('data', loanReceived);
const received: Shape<LoanReceived> = {
  encode: (event) => ({ type: loanReceived.storedType, data: data.encode(event) }),
  decode: (payload) => {
    const type = storedType.decode(payload['type']);
    if (type !== loanReceived.storedType) throw new UnreadableEventError(`unknown received event ${type}`);
    return data.decode(payload['data']);
  },
};

export const renegotiationEntries: EntriesOf<RenegotiationEvent> = {
  RenegotiationStarted: entry('RenegotiationStarted', 'renegotiation.started.v1', {
    renegotiationId: text('renegotiation_id'),
    applicationId: text('application_id'),
    originalProposalCodes: texts('original_proposal_codes'),
    newProposalCode: text('new_proposal_code'),
    leaseEndsAt: text('lease_ends_at'),
    startedAt: text('started_at'),
  }),
  RenegotiationCommitted: entry('RenegotiationCommitted', 'renegotiation.committed.v1', {
    renegotiation: object('renegotiation', renegotiationTerms),
    applicationId: text('application_id'),
    originals: list('originals', reservation),
    newLoan: object('new_loan', reservation),
    received: object('received', received),
    fingerprint: text('fingerprint'),
    committedAt: text('committed_at'),
  }),
  RenegotiationAborted: entry('RenegotiationAborted', 'renegotiation.aborted.v1', {
    abortedAt: text('aborted_at'),
  }),
  RenegotiationCompleted: entry('RenegotiationCompleted', 'renegotiation.completed.v1', {
    completedAt: text('completed_at'),
  }),
};
