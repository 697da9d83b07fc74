import { loanDecider } from '../../domain/loan/index.ts';
import type { ExistingLoan, LoanState } from '../../domain/loan/state.ts';
import { DomainError } from '../../domain/shared/domain-error.ts';
import type { PrivateText } from '../../domain/shared/private-text.ts';
import type { CommandHandler } from '../command-handling/command-handler.ts';
import { loanStream, parseLoanStream } from '../command-handling/operation.ts';
import type { BorrowerIndex, BorrowerKeys, BorrowerVault } from '../ports/borrower-vault.ts';
import type { BusinessClock, RealClock } from '../ports/clock.ts';
import type { DocumentRemoval } from '../ports/document-store.ts';

/** One spelling a document: `529.982.247-25` and `52998224725` are the same. */
export const bareDocument = (documentNumber: string): string =>
  documentNumber.replaceAll(/[.\-/\s]/g, '').toUpperCase();

const DOCUMENT = /^(\d{11}|[0-9A-Z]{12}\d{2})$/;

/** Whether a text without punctuation has the form of a CPF or a CNPJ. */
export const isDocument = (bare: string): boolean => DOCUMENT.test(bare);

/** What the borrower index knows a borrower by. */
export const borrowerDigest = (vault: Pick<BorrowerVault, 'digest'>, documentNumber: string): string =>
  vault.digest(`borrower ${bareDocument(documentNumber)}`);

/** The texts in their order, plain ones as they are; undefined where there is none, or nothing opens it any more. */
export const readTexts = async (
  vault: Pick<BorrowerVault, 'openTexts'>,
  stream: string,
  texts: readonly (PrivateText | undefined)[],
): Promise<readonly (string | undefined)[]> => {
  const sealed = texts.filter((text) => typeof text === 'object');
  const opened = (await vault.openTexts(stream, sealed)).values();
  return texts.map((text) => (typeof text === 'object' ? opened.next().value : text));
};

interface Dependencies {
  readonly commands: Pick<CommandHandler, 'handle' | 'preview'>;
  readonly index: Pick<BorrowerIndex, 'streamsOf' | 'remove'>;
  readonly keys: BorrowerKeys;
  readonly documents: DocumentRemoval;
  readonly vault: Pick<BorrowerVault, 'digest'>;
  readonly clock: BusinessClock;
  readonly realClock: RealClock;
}

/** An operation of the borrower, as it is before anything is forgotten. */
export interface BorrowerOperation {
  readonly applicationId: string;
  readonly code: string;
  readonly status: ExistingLoan['status'];
  /** False once its end is reached: repurchased, settled, rejected and the like. */
  readonly open: boolean;
  readonly documents: number;
  /** Set when an earlier run was interrupted after its record and before its end. */
  readonly forgottenAt: string | null;
}

export interface ForgetRequest {
  /** Names who asks in the events' metadata. */
  readonly requestId: string;
  readonly reason?: string;
}

const OPEN: ReadonlySet<LoanState['status']> = new Set([
  ...(['received', 'approved', 'term_signed', 'active', 'reserved', 'repurchase_pending'] as const),
]);

const LONGEST_ASSIGNMENT_MS = 3_600_000;

/**
 * Makes a borrower's data unreadable for good: the record first, then the key, then the documents, and last the entry by which the
 * operation is found, so that a run that was cut off anywhere is finished by the next one.
 */
export class ForgetBorrower {
  readonly #deps: Dependencies;

  constructor(dependencies: Dependencies) {
    this.#deps = dependencies;
  }

  /** Every operation that still holds data of this borrower. @throws DomainError `validation_error` for what is no CPF or CNPJ */
  async find(documentNumber: string, applicationId?: string): Promise<readonly BorrowerOperation[]> {
    const found: BorrowerOperation[] = [];
    for (const stream of await this.#deps.index.streamsOf(this.#digestOf(documentNumber))) {
      const place = parseLoanStream(stream);
      if (!place || (applicationId !== undefined && place.applicationId !== applicationId)) continue;
      const state = await this.#stateOf(stream);
      if (!('schedule' in state)) continue;
      found.push({
        ...place,
        status: state.status,
        open: OPEN.has(state.status),
        documents: state.documents.length,
        forgottenAt: state.borrowerForgottenAt ?? null,
      });
    }
    return found;
  }

  /** Repeatable; when it resolves, this operation's data is gone from every store. */
  async forget(
    documentNumber: string,
    { applicationId, code }: Pick<BorrowerOperation, 'applicationId' | 'code'>,
    { requestId, reason }: ForgetRequest,
  ): Promise<void> {
    const { commands, keys, documents, index, clock } = this.#deps;
    const stream = loanStream(applicationId, code);
    const { state } = await commands.handle({
      stream,
      applicationId,
      actor: 'privacy',
      correlationId: requestId,
      decide: (current) =>
        loanDecider.decide(
          { type: 'ForgetBorrower', ...(reason !== undefined && { reason }), now: clock.now() },
          current,
        ),
    });
    await keys.forget(stream);
    const contents = 'documents' in state ? state.documents.map(({ sha256 }) => sha256) : [];
    for (const sha256 of new Set(contents)) await documents.remove(stream, sha256);
    await index.remove({ digest: this.#digestOf(documentNumber), stream });
  }

  /** An assignment that was refused may have left a key, and contents sealed with it, without an operation. */
  async clearRefused(documentNumber: string): Promise<void> {
    const { index, keys, realClock } = this.#deps;
    // One that is on its way right now has no operation yet either.
    const before = new Date(Date.parse(realClock.realNow()) - LONGEST_ASSIGNMENT_MS).toISOString();
    for (const stream of await index.streamsOf(this.#digestOf(documentNumber))) {
      if (!('schedule' in (await this.#stateOf(stream)))) await keys.forgetOlder(stream, before);
    }
  }

  #digestOf(documentNumber: string): string {
    const bare = bareDocument(documentNumber);
    if (!isDocument(bare)) {
      const message = 'document: must be a CPF of 11 digits or a CNPJ of 14 characters';
      throw new DomainError('validation_error', message, [
        { field: 'document', code: 'invalid_format', message },
      ]);
    }
    return borrowerDigest(this.#deps.vault, bare);
  }

  async #stateOf(stream: string): Promise<LoanState> {
    const { state } = await this.#deps.commands.preview(stream, () => []);
    return state;
  }
}
