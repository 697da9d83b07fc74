import { isReserved } from '../../domain/loan/index.ts';
import type { ActiveLoan } from '../../domain/loan/index.ts';
import {
  requireRenegotiable,
  requireSoundProposal,
  requireUnusedCode,
} from '../../domain/renegotiation/index.ts';
import type { Proposal } from '../../domain/renegotiation/index.ts';
import { DomainError } from '../../domain/shared/domain-error.ts';
import type { ApplicationId } from '../../domain/shared/identifiers.ts';
import { acceptedUnder, canonicalText, loanStream, visibleOf } from '../command-handling/operation.ts';
import type { Operation, Reservations } from '../command-handling/operation.ts';
import { ENDPOINTS } from '../loans/inputs.ts';
import type { BorrowerVault } from '../ports/borrower-vault.ts';
import type { BusinessClock } from '../ports/clock.ts';
import type { DocumentCopies, DocumentInspector, DocumentStore } from '../ports/document-store.ts';
import type { Outcome, RequestContext } from '../ports/clients.ts';
import { Inheritance } from './inheritance.ts';
import type { LoanStreams } from './loan-streams.ts';
import type { RenegotiationProtocol } from './protocol.ts';
import { quoteOf } from './renegotiation-quote.ts';
import type { RenegotiationQuote } from './renegotiation-quote.ts';
import { contentsOf, proposalOf, requireDocumentTypes } from './request.ts';
import type { RenegotiateLoansInput, RenegotiationReceipt } from './request.ts';

interface Dependencies {
  readonly protocol: RenegotiationProtocol;
  readonly loans: LoanStreams;
  readonly reservations: Reservations;
  readonly vault: BorrowerVault;
  readonly documents: DocumentStore & DocumentCopies;
  readonly inspector: DocumentInspector;
  readonly clock: BusinessClock;
}

const MAX_TRIES = 6;

/** Replaces one or several operations by a new one, at once for all. The code of each original is an idempotency key. */
export class RenegotiateLoans {
  readonly #deps: Dependencies;

  constructor(dependencies: Dependencies) {
    this.#deps = dependencies;
  }

  /**
   * @throws DomainError `validation_error`, `invalid_document_type`, `invalid_file`, `missing_file`, `idempotency_conflict`,
   *   `loan_not_found`, `fund_not_allowed`, `invalid_date`, `operation_invalid_state`, `proposal_code_already_used`,
   *   `concurrent_modification`
   */
  async execute(
    context: RequestContext,
    input: RenegotiateLoansInput,
  ): Promise<Outcome<RenegotiationReceipt>> {
    await this.#requireSound(context, input);
    const fingerprint = this.#deps.vault.digest(canonicalText(contentsOf(input)));
    for (let attempt = 0; attempt < MAX_TRIES; attempt++) {
      const outcome = await this.#unlessDoneMeanwhile(context, input, fingerprint);
      if (outcome) return outcome;
    }
    throw keptChanging();
  }

  /**
   * What `execute` would do, refused where it would be: nothing is stored, and no key is looked up.
   * @throws DomainError as `execute`, without `idempotency_conflict`
   */
  async quote(context: RequestContext, input: RenegotiateLoansInput): Promise<RenegotiationQuote> {
    await this.#requireSound(context, input);
    const { vault, documents, clock } = this.#deps;
    const proposal = proposalOf(input);
    const operations = await this.#originals(context, proposal);
    const originals = await this.#requireAllowed(context, proposal, operations);
    await new Inheritance({ vault, documents, clock }, input, context.applicationId).check(originals);
    return quoteOf(proposal, originals, clock.now());
  }

  async #requireSound(context: RequestContext, input: RenegotiateLoansInput): Promise<void> {
    requireSoundProposal(proposalOf(input));
    requireDocumentTypes(input);
    for (const file of input.files) await this.#deps.inspector.inspect(file, context);
  }

  /** What refuses may be this very request, carried out by another process between two looks. */
  async #unlessDoneMeanwhile(
    context: RequestContext,
    input: RenegotiateLoansInput,
    fingerprint: string,
  ): Promise<Outcome<RenegotiationReceipt> | undefined> {
    try {
      return await this.#attempt(context, input, fingerprint);
    } catch (error) {
      if (!(error instanceof DomainError)) throw error;
      const proposal = proposalOf(input);
      const originals = await this.#originals(context, proposal);
      if (!isReplay(originals, proposal, fingerprint)) throw error;
      return this.#replay(context, originals);
    }
  }

  #originals(context: RequestContext, proposal: Proposal): Promise<readonly Operation[]> {
    const { applicationId, onlyFundIds } = context;
    const original = async (code: string): Promise<Operation> =>
      visibleOf(await this.#unreserved(loanStream(applicationId, code)), onlyFundIds);
    return Promise.all(proposal.originalProposalCodes.map(original));
  }

  /** Undefined when others changed the operations meanwhile. */
  async #attempt(
    context: RequestContext,
    input: RenegotiateLoansInput,
    fingerprint: string,
  ): Promise<Outcome<RenegotiationReceipt> | undefined> {
    const { protocol, vault, documents, clock } = this.#deps;
    const proposal = proposalOf(input);
    const originals = await this.#originals(context, proposal);
    if (isReplay(originals, proposal, fingerprint)) return this.#replay(context, originals);
    await this.#requireAllowed(context, proposal, originals);
    const inheritance = new Inheritance({ vault, documents, clock }, input, context.applicationId);
    await inheritance.take(originals.map(({ state }) => state));
    const done = await protocol.run({
      proposal,
      applicationId: context.applicationId as ApplicationId,
      actor: context.clientId,
      correlationId: context.requestId,
      fingerprint,
      inherit: (reserved) => inheritance.take(reserved),
    });
    if (!done) return undefined;
    const { renegotiation, committedAt } = done.committed;
    const newProposal = { code: renegotiation.newProposalCode, status: 'received' };
    const { originalProposalCodes, effectiveDate } = renegotiation;
    return {
      replayed: false,
      result: { originalProposalCodes, newProposal, effectiveDate, processedAt: committedAt },
    };
  }

  /** Refuses before anything is reserved; the commit checks the same again on what it has reserved. */
  async #requireAllowed(
    context: RequestContext,
    proposal: Proposal,
    originals: readonly Operation[],
  ): Promise<readonly ActiveLoan[]> {
    const states = originals.map(({ state }) => state);
    for (const state of states) {
      if (!('fundId' in state) || context.fundIds.includes(state.fundId)) continue;
      throw new DomainError(
        'fund_not_allowed',
        `the fund of operation ${state.code} is not linked to this application any more`,
      );
    }
    const active = requireRenegotiable(proposal, states);
    const newLoan = await this.#unreserved(loanStream(context.applicationId, proposal.newProposalCode));
    requireUnusedCode(proposal, newLoan.state);
    return active;
  }

  async #unreserved(stream: string): Promise<Operation> {
    const { loans, reservations } = this.#deps;
    for (let look = 0; look < MAX_TRIES; look++) {
      const operation = await loans.load(stream);
      if (!isReserved(operation.state)) return operation;
      await reservations.resolve(operation.state.renegotiationId);
    }
    throw keptChanging();
  }

  async #replay(
    context: RequestContext,
    [first]: readonly Operation[],
  ): Promise<Outcome<RenegotiationReceipt>> {
    if (first?.state.status !== 'renegotiated')
      throw new Error('an accepted renegotiation renegotiated its originals');
    const { renegotiation, renegotiatedAt } = first.state.renegotiated;
    const { originalProposalCodes, newProposalCode: code, effectiveDate } = renegotiation;
    const { state } = await this.#unreserved(loanStream(context.applicationId, code));
    const newProposal = { code, status: state.status };
    return {
      replayed: true,
      result: { originalProposalCodes, newProposal, effectiveDate, processedAt: renegotiatedAt },
    };
  }
}

const keptChanging = (): DomainError =>
  new DomainError(
    'concurrent_modification',
    'the operations kept changing meanwhile; send the request again',
  );

/** @throws DomainError `idempotency_conflict` when any of the originals went into another renegotiation */
const isReplay = (originals: readonly Operation[], proposal: Proposal, fingerprint: string): boolean => {
  const accepted = originals.map(
    (operation, i) =>
      acceptedUnder(operation, ENDPOINTS.renegotiate, proposal.originalProposalCodes[i]!)?.fingerprint,
  );
  const other = accepted.findIndex((used) => used !== undefined && used !== fingerprint);
  if (other >= 0) {
    throw new DomainError(
      'idempotency_conflict',
      `operation ${proposal.originalProposalCodes[other]} was renegotiated before with other contents; send those again for their answer`,
    );
  }
  return accepted.every((used) => used === fingerprint);
};
