import type { OnAppended, CommandHandler } from '../command-handling/command-handler.ts';
import { presentValue } from '../../domain/curve/present-value.ts';
import { loanDecider } from '../../domain/loan/index.ts';
import type { ActiveLoan, LoanState, RenegotiationTerms } from '../../domain/loan/index.ts';
import { isReserved, openFaceValue, openInstallments } from '../../domain/loan/state.ts';
import {
  newOperation,
  requireRenegotiable,
  requireSoundProposal,
  requireUnusedCode,
} from '../../domain/renegotiation/decider.ts';
import type { Proposal } from '../../domain/renegotiation/state.ts';
import type { CalendarDate } from '../../domain/shared/calendar-date.ts';
import { DomainError } from '../../domain/shared/domain-error.ts';
import type { ApplicationId, SealedBorrower, Timestamp } from '../../domain/shared/identifiers.ts';
import { LARGEST_AMOUNT } from '../../domain/shared/money.ts';
import type { Cents } from '../../domain/shared/money.ts';
import { acceptedUnder, canonicalText, loanStream, visibleOf } from '../command-handling/operation.ts';
import type { Operation } from '../command-handling/operation.ts';
import { PDF_OR_WORD } from '../loans/add-documents.ts';
import { ENDPOINTS } from '../command-handling/endpoints.ts';
import type { BorrowerVault } from '../ports/borrower-vault.ts';
import type { BusinessClock, RealClock } from '../ports/clock.ts';
import type { DocumentInspector, DocumentStore } from '../ports/document-store.ts';
import type { EventStore } from '../ports/event-store.ts';
import type { Following } from '../processors/acting.ts';
import type { Runner } from '../processors/runner.ts';
import type { Outcome, RequestContext } from '../command-handling/request-context.ts';
import { preferring, refusedNames } from '../loans/file-names.ts';
import { linesOf } from '../loans/quotes.ts';
import { Inheritance } from './inheritance.ts';
import { CompleteRenegotiations, recoverRenegotiations } from './followers.ts';
import { Coordinators, LoanStreams } from './streams.ts';
import { renegotiated } from './protocol.ts';
import { contentsOf, requireDocumentTypes } from './request.ts';
import type { AskedRenegotiation } from './request.ts';
import { RollForward } from './roll-forward.ts';

interface Dependencies {
  readonly events: EventStore;
  readonly forget: (stream: string) => unknown;
  readonly pause: (ms: number) => Promise<void>;
  readonly onAppended?: OnAppended | undefined;
  /** Default: the operations' streams, by the rules of every command. */
  readonly loans?: LoanStreams;
  readonly vault: BorrowerVault;
  readonly documents: Pick<DocumentStore, 'put' | 'get' | 'copy'>;
  readonly inspector: DocumentInspector;
  readonly clock: BusinessClock;
  readonly realClock: RealClock;
}

const MAX_TRIES = 6;

/** A process has one of it, which ends renegotiations of other processes too. The code of each original is a key. */
export class Renegotiation {
  readonly conclusion: RollForward;
  readonly #deps: Dependencies & Parameters<typeof renegotiated>[0];

  constructor(dependencies: Dependencies) {
    const { events, forget, pause, onAppended, clock, realClock } = dependencies;
    const { loans = new LoanStreams({ events, loans: loanDecider, forget, pause, onAppended }) } =
      dependencies;
    const coordinators = new Coordinators({ events, pause });
    this.conclusion = new RollForward({ coordinators, loans, clock, realClock, pause });
    this.#deps = { ...dependencies, coordinators, loans, conclusion: this.conclusion };
  }

  recovery(following: Following): Runner<never> {
    const { conclusion, realClock } = this.#deps;
    return recoverRenegotiations({ ...following, conclusion, realClock });
  }

  completion(following: Following, commands: CommandHandler): CompleteRenegotiations {
    return new CompleteRenegotiations({ ...following, commands, events: this.#deps.events });
  }

  /**
   * @throws DomainError `validation_error`, `invalid_document_type`, `invalid_file`, `missing_file`, `idempotency_conflict`,
   *   `loan_not_found`, `fund_not_allowed`, `invalid_date`, `operation_invalid_state`, `proposal_code_already_used`,
   *   `concurrent_modification`
   */
  async renegotiate(
    context: RequestContext,
    input: AskedRenegotiation,
  ): Promise<Outcome<RenegotiationReceipt>> {
    await this.#requireSound(context, input);
    const fingerprint = this.#deps.vault.digest(canonicalText(contentsOf(input)));
    for (let attempt = 0; attempt < MAX_TRIES; attempt++) {
      const done = this.#unlessDoneMeanwhile(context, input, fingerprint);
      const outcome = await done.catch(preferring(refusedOf(input)));
      if (outcome) return outcome;
    }
    throw keptChanging();
  }

  /** Nothing is stored, no key is looked up. @throws DomainError as `renegotiate`, without `idempotency_conflict` */
  async quote(context: RequestContext, input: AskedRenegotiation) {
    await this.#requireSound(context, input);
    requireNewNames(input);
    const operations = await this.#originals(context, input);
    const originals = await this.#requireAllowed(context, input, operations);
    await new Inheritance(this.#deps, input, context.applicationId).check(originals);
    return quoteOf(input, originals, this.#deps.clock.now());
  }

  async #requireSound(context: RequestContext, input: AskedRenegotiation): Promise<void> {
    requireSoundProposal(input);
    requireDocumentTypes(input);
    for (const file of input.files) await this.#deps.inspector.inspect(file, PDF_OR_WORD, context);
  }

  /** What refuses may be this very request, carried out by another process between two looks. */
  async #unlessDoneMeanwhile(
    context: RequestContext,
    input: AskedRenegotiation,
    fingerprint: string,
  ): Promise<Outcome<RenegotiationReceipt> | undefined> {
    try {
      return await this.#attempt(context, input, fingerprint);
    } catch (error) {
      if (!(error instanceof DomainError)) throw error;
      const originals = await this.#originals(context, input);
      if (!isReplay(originals, input, fingerprint)) throw error;
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
    input: AskedRenegotiation,
    fingerprint: string,
  ): Promise<Outcome<RenegotiationReceipt> | undefined> {
    const originals = await this.#originals(context, input);
    if (isReplay(originals, input, fingerprint)) return this.#replay(context, originals);
    requireNewNames(input);
    await this.#requireAllowed(context, input, originals);
    const inheritance = new Inheritance(this.#deps, input, context.applicationId);
    await inheritance.take(originals.map(({ state }) => state));
    const done = await renegotiated(this.#deps, {
      proposal: input,
      applicationId: context.applicationId as ApplicationId,
      actor: context.clientId,
      correlationId: context.requestId,
      fingerprint,
      inherit: (reserved) => inheritance.take(reserved),
    });
    if (!done) return undefined;
    const { renegotiation, committedAt } = done.committed;
    return { replayed: false, result: receiptOf(renegotiation, 'received', committedAt) };
  }

  /** Refuses before anything is reserved; the commit checks the same again on what it has reserved. */
  async #requireAllowed(
    context: RequestContext,
    proposal: Proposal,
    originals: readonly Operation[],
  ): Promise<readonly ActiveLoan[]> {
    const states = originals.map(({ state }) => state);
    for (const [i, state] of states.entries()) {
      if (!('fundId' in state) || context.fundIds.includes(state.fundId)) continue;
      const message = `the fund of operation ${state.code} is not linked to this application any more`;
      throw new DomainError('fund_not_allowed', message, [
        { field: `original_proposal_codes[${i}]`, code: 'fund_not_allowed', message },
      ]);
    }
    const active = requireRenegotiable(proposal, states);
    const newLoan = await this.#unreserved(loanStream(context.applicationId, proposal.newProposalCode));
    requireUnusedCode(proposal, newLoan.state);
    return active;
  }

  async #unreserved(stream: string): Promise<Operation> {
    for (let look = 0; look < MAX_TRIES; look++) {
      const operation = await this.#deps.loans.load(stream);
      if (!isReserved(operation.state)) return operation;
      await this.conclusion.resolve(operation.state.renegotiationId);
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
    const { state } = await this.#unreserved(
      loanStream(context.applicationId, renegotiation.newProposalCode),
    );
    return { replayed: true, result: receiptOf(renegotiation, state.status, renegotiatedAt) };
  }
}

const receiptOf = (
  { originalProposalCodes, newProposalCode: code, effectiveDate }: RenegotiationTerms,
  status: LoanState['status'],
  processedAt: Timestamp,
) => ({ originalProposalCodes, newProposal: { code, status }, effectiveDate, processedAt });
export type RenegotiationReceipt = ReturnType<typeof receiptOf>;

const refusedOf = ({ documents = [] }: AskedRenegotiation): DomainError | undefined =>
  refusedNames(
    documents.map(({ value }) => value),
    'new_loan.backing_documents',
  );

const requireNewNames = (input: AskedRenegotiation): void => {
  const refused = refusedOf(input);
  if (refused) throw refused;
};

const keptChanging = (): DomainError =>
  new DomainError(
    'concurrent_modification',
    'the operations kept changing meanwhile; send the request again',
  );

/** @throws DomainError `idempotency_conflict` when any of the originals went into another renegotiation */
const isReplay = (originals: readonly Operation[], proposal: Proposal, fingerprint: string): boolean => {
  const accepted = originals.map((operation, i) =>
    acceptedUnder(operation, ENDPOINTS.renegotiate, proposal.originalProposalCodes[i]!),
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

/** What would be written off, line by line, and what would come in. @throws DomainError `validation_error` */
const quoteOf = (proposal: Proposal, originals: readonly ActiveLoan[], now: Timestamp) => {
  // Neither the borrower nor the documents have a part in what the new operation is worth.
  const unsealed = '' as SealedBorrower;
  const received = newOperation({ proposal, borrower: unsealed, documents: [], now }, originals);
  const valued = originals.map((loan) => writtenOff(loan, proposal.effectiveDate));
  return {
    originals: valued.map(({ original }) => original),
    newProposal: {
      code: received.code,
      acquisitionValue: received.acquisitionValue,
      numberOfInstallments: received.installments.length,
      pricing: received.pricing,
    },
    effectiveDate: proposal.effectiveDate,
    lines: valued.flatMap(({ lines }) => lines),
    calculatedAt: now,
  };
};

/** Lines in the order of the schedule; they add up to the original's value. */
const writtenOff = (loan: ActiveLoan, date: CalendarDate) => {
  const { code, pricing } = loan;
  const open = openInstallments(loan);
  const { total, lines } = presentValue(pricing.dailyFactor, open, date);
  /** null where the original's value is beyond what can be stated */
  const stated = (value: Cents): Cents | null => (total > LARGEST_AMOUNT ? null : value);
  return {
    original: { code, openFaceValue: openFaceValue(open), presentValue: stated(total) },
    lines: linesOf(loan.schedule, lines, date).map((line) => ({
      ...line,
      code,
      presentValue: stated(line.presentValue),
    })),
  };
};
