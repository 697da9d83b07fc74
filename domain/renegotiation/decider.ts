import { sandboxWishesOf } from '../loan/events.ts';
import type { LoanReceived, RenegotiationTerms } from '../loan/events.ts';
import { receiveLoan } from '../loan/cession.ts';
import { codeAlreadyUsed, holds, requireActive, requireLoan, requireNotBeforeIssue } from '../loan/state.ts';
import type { ActiveLoan, ExistingLoan, LoanState } from '../loan/state.ts';
import { DomainError } from '../shared/domain-error.ts';
import type { FieldViolation } from '../shared/domain-error.ts';
import type { LoanCode, RenegotiationId } from '../shared/identifiers.ts';
import { evolve } from './state.ts';
import type {
  CommitRenegotiation,
  Proposal,
  RenegotiationCommand,
  Reserved,
  StartRenegotiation,
  RenegotiationCommitted,
  RenegotiationEvent,
  RenegotiationStarted,
  RenegotiationState,
  StartedRenegotiation,
} from './state.ts';
import type { Decider } from '../shared/decider.ts';

const repeatedOriginals = (codes: readonly LoanCode[]): readonly FieldViolation[] =>
  codes.flatMap((code, i) => {
    if (codes.indexOf(code) === i) return [];
    const field = `original_proposal_codes[${i}]`;
    return [
      { field, code: 'duplicate_original', message: `${field}: ${code} is listed before; name it once` },
    ];
  });

/** What can be told wrong from the request alone. @throws DomainError `validation_error` */
export const requireSoundProposal = ({ originalProposalCodes, newProposalCode }: Proposal): void => {
  const violations = [...repeatedOriginals(originalProposalCodes)];
  if (originalProposalCodes.length === 0) {
    const message = 'original_proposal_codes: name at least one operation to renegotiate';
    violations.push({ field: 'original_proposal_codes', code: 'required', message });
  }
  if (originalProposalCodes.includes(newProposalCode)) {
    const field = 'originator_proposal_code';
    const message = `${field}: ${newProposalCode} is an operation to be replaced; give the new one its own code`;
    violations.push({ field, code: 'new_code_is_an_original', message });
  }
  if (violations.length === 0) return;
  throw new DomainError(
    'validation_error',
    'the renegotiation breaks rules; correct the fields in details',
    violations,
  );
};

const requireOneFund = ([first, ...others]: readonly ExistingLoan[]): void => {
  const other = others.find(({ fundId }) => fundId !== first?.fundId);
  if (!first || !other) return;
  const message = `operations ${first.code} and ${other.code} belong to different funds; renegotiate those of each fund on their own`;
  const violation = { field: 'original_proposal_codes', code: 'different_funds', message };
  throw new DomainError('validation_error', message, [violation]);
};

/** The order of these checks is part of the interface: existence, one fund, dates, status. @throws DomainError */
export const requireRenegotiable = (
  { effectiveDate, originalProposalCodes }: Proposal,
  originals: readonly LoanState[],
): readonly ActiveLoan[] => {
  const loans = originals.map((state, i) => requireLoan(state, originalProposalCodes[i]));
  requireOneFund(loans);
  // The one issued last, so that the day that its refusal names is late enough for all.
  const latest = loans.reduce((one, other) => (other.dateIssued > one.dateIssued ? other : one));
  requireNotBeforeIssue(latest, 'effective_date', effectiveDate);
  return loans.map((loan) => requireActive(loan, 'a renegotiation'));
};

/** @throws DomainError `proposal_code_already_used` */
export const requireUnusedCode = ({ newProposalCode }: Proposal, state: LoanState): void => {
  if (state.status !== 'none') throw codeAlreadyUsed(newProposalCode);
};

/** Another renegotiation, or a payment, got in between: nothing was decided here, so all of it can be tried anew. */
const overtaken = (): DomainError =>
  new DomainError(
    'concurrent_modification',
    'other requests changed these operations meanwhile; send the request again',
  );

const start = (command: StartRenegotiation, state: RenegotiationState): readonly RenegotiationStarted[] => {
  const { type: _, now, ...intent } = command;
  return state.status === 'none' ? [{ type: 'RenegotiationStarted', ...intent, startedAt: now }] : [];
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
      ...sandboxWishesOf(proposal),
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

const decide = (command: RenegotiationCommand, state: RenegotiationState): readonly RenegotiationEvent[] => {
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

/** The coordinator of one renegotiation: where it is decided for all operations at once. */
export const renegotiationDecider: Decider<RenegotiationState, RenegotiationCommand, RenegotiationEvent> = {
  initialState: { status: 'none' },
  decide,
  evolve,
};
