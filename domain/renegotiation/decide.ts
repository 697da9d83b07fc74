import { receiveLoan } from '../loan/receive-loan.ts';
import type { LoanReceived, RenegotiationTerms } from '../loan/events.ts';
import { holds } from '../loan/state.ts';
import type { ActiveLoan, LoanState } from '../loan/state.ts';
import { DomainError } from '../shared/domain-error.ts';
import type { RenegotiationId } from '../shared/identifiers.ts';
import type { CommitRenegotiation, RenegotiationCommand, Reserved, StartRenegotiation } from './commands.ts';
import type { RenegotiationCommitted, RenegotiationEvent, RenegotiationStarted } from './events.ts';
import { requireRenegotiable, requireSoundProposal } from './requirements.ts';
import type { RenegotiationState, StartedRenegotiation } from './state.ts';

/** Another renegotiation, or a payment, got in between: nothing was decided here, so all of it can be tried anew. */
const overtaken = (): DomainError =>
  new DomainError(
    'concurrent_modification',
    'other requests changed these operations meanwhile; send the request again',
  );

const start = (command: StartRenegotiation, state: RenegotiationState): readonly RenegotiationStarted[] => {
  if (state.status !== 'none') return [];
  const { renegotiationId, applicationId, originalProposalCodes, newProposalCode, leaseEndsAt, now } =
    command;
  return [
    {
      type: 'RenegotiationStarted',
      renegotiationId,
      applicationId,
      originalProposalCodes,
      newProposalCode,
      leaseEndsAt,
      startedAt: now,
    },
  ];
};

/** The operation as it was before its reservation, which allowed it to change in no other way. */
const beforeReservation = (id: RenegotiationId, { state }: Reserved): LoanState => {
  if (state.status !== 'reserved' || !holds(state, { renegotiationId: id })) throw overtaken();
  const { renegotiationId: _, ...loan } = state;
  return { ...loan, status: 'active' };
};

/** The operation that takes the place of the originals. @throws DomainError `validation_error` */
export const newOperation = (
  {
    proposal,
    borrower,
    documents,
    now,
  }: Pick<CommitRenegotiation, 'proposal' | 'borrower' | 'documents' | 'now'>,
  originals: readonly ActiveLoan[],
): LoanReceived => {
  const [first] = originals;
  if (!first) throw new RangeError('a renegotiation has at least one original');
  const [received] = receiveLoan(
    {
      type: 'ReceiveLoan',
      applicationId: first.applicationId,
      fundId: first.fundId,
      code: proposal.newProposalCode,
      productType: proposal.productType ?? first.productType,
      acquisitionValue: proposal.acquisitionValue,
      dateIssued: proposal.dateIssued ?? proposal.effectiveDate,
      installments: proposal.installments,
      borrower,
      documents,
      ...(proposal.sandboxOutcome !== undefined && { sandboxOutcome: proposal.sandboxOutcome }),
      now,
    },
    { status: 'none' },
  );
  if (!received) throw new RangeError('a reception is one event');
  return received;
};

const commit = (
  command: CommitRenegotiation,
  { started }: StartedRenegotiation,
): readonly RenegotiationCommitted[] => {
  const { proposal, fingerprint, now } = command;
  const { renegotiationId, applicationId } = started;
  requireSoundProposal(proposal);
  const originals = command.originals.map((original) => beforeReservation(renegotiationId, original));
  const active = requireRenegotiable(proposal, originals);
  if (!holds(command.newLoan.state, started) || command.newLoan.state.status !== 'code_reserved')
    throw overtaken();
  const renegotiation: RenegotiationTerms = {
    renegotiationId,
    originalProposalCodes: proposal.originalProposalCodes,
    newProposalCode: proposal.newProposalCode,
    effectiveDate: proposal.effectiveDate,
  };
  return [
    {
      type: 'RenegotiationCommitted',
      renegotiation,
      applicationId,
      originals: command.originals.map(({ reservation }) => reservation),
      newLoan: command.newLoan.reservation,
      received: { ...newOperation(command, active), renegotiation },
      fingerprint,
      committedAt: now,
    },
  ];
};

export const decide = (
  command: RenegotiationCommand,
  state: RenegotiationState,
): readonly RenegotiationEvent[] => {
  switch (command.type) {
    case 'StartRenegotiation':
      return start(command, state);
    case 'CommitRenegotiation':
      if (state.status === 'started') return commit(command, state);
      if (state.status === 'committed' || state.status === 'completed') return [];
      throw overtaken();
    case 'AbortRenegotiation':
      return state.status === 'started' ? [{ type: 'RenegotiationAborted', abortedAt: command.now }] : [];
    case 'CompleteRenegotiation':
      return state.status === 'committed'
        ? [{ type: 'RenegotiationCompleted', completedAt: command.now }]
        : [];
  }
};
