import { randomUUID } from 'node:crypto';
import type { BorrowerForgotten, LoanEvent } from '../../domain/loan/events.ts';
import { fold, loanDecider } from '../../domain/loan/index.ts';
import { requireLoan } from '../../domain/loan/state.ts';
import { hasEnded } from '../../domain/loan/statuses.ts';
import type { ExistingLoan, LoanState } from '../../domain/loan/state.ts';
import { DomainError } from '../../domain/shared/domain-error.ts';
import type { PrivateText } from '../../domain/shared/private-text.ts';
import type { CommandHandler, CommandRequest } from '../command-handling/command-handler.ts';
import { loanStream, parseLoanStream } from '../command-handling/operation.ts';
import type { OperationPlace } from '../command-handling/operation.ts';
import { loanEntries } from '../event-codec/entries.ts';
import { BEFORE_THE_FIRST, decodeLoanEvent, eventsAfter, readOrLeave } from '../event-codec/event-codec.ts';
import { UnreadableEventError } from '../event-codec/fields.ts';
import type { BorrowerVault } from '../ports/borrower-vault.ts';
import type { BusinessClock, RealClock } from '../ports/clock.ts';
import type { DocumentStore } from '../ports/document-store.ts';
import type { EventStore } from '../ports/event-store.ts';
import { retryAppend } from '../support/retry.ts';
import type { SqlBorrowerIndex } from './borrower-index.ts';
import { ifReadable } from './missing-keys.ts';

/** One spelling a document: `529.982.247-25` and `52998224725` are the same. */
export const bareDocument = (documentNumber: string): string =>
  documentNumber.replaceAll(/[.\-/\s]/g, '').toUpperCase();

export const maskDocument = (documentNumber: string): string =>
  '*'.repeat(Math.max(0, documentNumber.length - 2)) + documentNumber.slice(-2);

const DOCUMENT = /^(\d{11}|[0-9A-Z]{12}\d{2})$/;

export const isDocument = (bare: string): boolean => DOCUMENT.test(bare);

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

export interface Forgetting {
  readonly commands: Pick<CommandHandler, 'handle' | 'preview'>;
  readonly events: Pick<EventStore, 'read' | 'append'>;
  readonly index: Pick<SqlBorrowerIndex, 'streamsOf' | 'entriesOf' | 'remove'>;
  readonly keys: {
    /** For good; none is fine. Durable when it resolves. Processes may hold the key in memory for 30 seconds more. */
    forget(stream: string): Promise<void>;
    /** The same for a key that was made before this instant, ISO 8601 UTC; a younger one stays. */
    forgetOlder(stream: string, than: string): Promise<void>;
  };
  readonly documents: Pick<DocumentStore, 'remove'>;
  readonly vault: Pick<BorrowerVault, 'digest' | 'peek'>;
  readonly clock: BusinessClock;
  readonly realClock: RealClock;
  readonly pause: (ms: number) => Promise<unknown>;
}

export interface BorrowerOperation extends OperationPlace {
  /** `unreadable`: one of its events cannot be read, so that nobody knows. */
  readonly status: ExistingLoan['status'] | 'unreadable';
  readonly open: boolean;
  readonly documents: number;
  /** Set when an earlier run was interrupted after its record and before its end. */
  readonly forgottenAt: string | null;
}

export interface BorrowerOperations {
  readonly operations: readonly BorrowerOperation[];
  /** Streams that cannot be read, and may be this borrower's or another's, in the application that was asked for. */
  readonly unreadable: readonly string[];
}

export interface ForgetRequest {
  readonly requestId: string;
  readonly reason?: string;
}

const LONGEST_ASSIGNMENT_MS = 3_600_000;

const UNREADABLE = { status: 'unreadable', open: true } as const;
/** Events that say whose data there is, and whether it was forgotten. */
const OF_THE_BORROWER: ReadonlySet<LoanEvent['type']> = new Set([
  'LoanReceived',
  'DocumentsAdded',
  'BorrowerForgotten',
]);

const shown = ({ applicationId, code }: OperationPlace, loan: ExistingLoan): BorrowerOperation => ({
  applicationId,
  code,
  status: loan.status,
  open: !hasEnded(loan.status),
  documents: loan.documents.length,
  forgottenAt: loan.borrowerForgottenAt ?? null,
});

/**
 * Makes a borrower's data unreadable for good: the record first, then the key, then the documents, and last the entry by which the
 * operation is found, so that a run that was cut off anywhere is finished by the next one.
 */
export class ForgetBorrower {
  readonly #deps: Forgetting;

  constructor(dependencies: Forgetting) {
    this.#deps = dependencies;
  }

  /**
   * Every operation that still holds data of this borrower. An attempt that was refused leaves an entry as well; the operation that came
   * in under its code after it, of another borrower, is not one of them.
   * @throws DomainError `validation_error` for what is no CPF or CNPJ
   */
  async find(documentNumber: string, applicationId?: string): Promise<BorrowerOperations> {
    const digest = this.#digestOf(documentNumber);
    const [operations, unreadable]: [BorrowerOperation[], string[]] = [[], []];
    for (const stream of await this.#deps.index.streamsOf(digest)) {
      const place = parseLoanStream(stream);
      if (!place || (applicationId !== undefined && place.applicationId !== applicationId)) continue;
      const state = await ifReadable(() => this.#stateOf(stream), undefined);
      const loan = state ?? (await this.#readablePart(stream));
      if (loan === undefined && (await this.#deps.index.entriesOf([stream])).length > 1)
        unreadable.push(stream);
      else if (loan === undefined)
        operations.push({ ...place, ...UNREADABLE, documents: 0, forgottenAt: null });
      else if ('schedule' in loan && !(await this.#isOfAnother(stream, loan, digest)))
        operations.push({ ...shown(place, loan), ...(!state && UNREADABLE) });
    }
    return { operations, unreadable };
  }

  /**
   * An operation whose key is lost, by its code: nothing else may lead to it any more. One whose borrower is on record as forgotten is
   * answered as well, so that a run that was cut off can be finished.
   * @throws DomainError `loan_not_found`; `operation_invalid_state` when its key is there
   */
  async findLost(place: OperationPlace): Promise<BorrowerOperation> {
    const stream = loanStream(place.applicationId, place.code);
    const loan = requireLoan(await this.#stateOf(stream));
    const known = await this.#digestIn(stream, loan);
    if (known !== undefined)
      throw new DomainError(
        'operation_invalid_state',
        `the key of operation ${place.code} is there, so its data can be read and is not lost; forget its borrower with --document`,
      );
    return shown(place, loan);
  }

  /** Repeatable; when it resolves, this operation's data is gone from every store. */
  async forget(documentNumber: string, place: OperationPlace, request: ForgetRequest): Promise<void> {
    const stream = await this.#forget(place, request);
    await this.#deps.index.remove({ digest: this.#digestOf(documentNumber), stream });
  }

  /** Also for copies of the key that turn up later. @throws DomainError as `findLost`, which may have changed meanwhile */
  async forgetLost(place: OperationPlace, request: ForgetRequest): Promise<void> {
    await this.findLost(place);
    const stream = await this.#forget(place, request);
    const { index } = this.#deps;
    for (const entry of await index.entriesOf([stream])) await index.remove(entry);
  }

  /** All but the entries that find the operation. @returns its stream */
  async #forget({ applicationId, code }: OperationPlace, request: ForgetRequest): Promise<string> {
    const { keys, documents } = this.#deps;
    const stream = loanStream(applicationId, code);
    const asked = { stream, applicationId, actor: 'privacy', correlationId: request.requestId };
    const state = await this.#record(asked, request.reason);
    await keys.forget(stream);
    const contents = state && 'documents' in state ? state.documents.map(({ sha256 }) => sha256) : [];
    for (const sha256 of new Set(contents)) await documents.remove(stream, sha256);
    return stream;
  }

  /** @returns what is known of the operation; undefined where not even its reception can be read */
  async #record(
    asked: Omit<CommandRequest, 'decide'>,
    reason: string | undefined,
  ): Promise<LoanState | undefined> {
    const { commands, clock } = this.#deps;
    const because = reason !== undefined && { reason };
    try {
      const decide: CommandRequest['decide'] = (current) =>
        loanDecider.decide({ type: 'ForgetBorrower', ...because, now: clock.now() }, current);
      return (await commands.handle({ ...asked, decide })).state;
    } catch (error) {
      if (!(error instanceof UnreadableEventError)) throw error;
      await this.#recordBehind(asked, { type: 'BorrowerForgotten', ...because, forgottenAt: clock.now() });
      return this.#readablePart(asked.stream);
    }
  }

  /** Nothing else is ever stored behind an event that cannot be read: whatever that says, the borrower's data goes. */
  async #recordBehind(
    { stream, applicationId, actor, correlationId }: Omit<CommandRequest, 'decide'>,
    forgotten: BorrowerForgotten,
  ): Promise<void> {
    const { events, pause } = this.#deps;
    const { events: recorded, revision } = await events.read(stream);
    if (recorded.some(({ type }) => type === loanEntries.BorrowerForgotten.storedType)) return;
    const { fundId } = recorded.findLast(({ metadata }) => metadata.fundId !== undefined)?.metadata ?? {};
    const metadata = {
      ...{ correlationId, causationId: correlationId, actor, applicationId },
      ...{ recordedAt: forgotten.forgottenAt, ...(fundId !== undefined && { fundId }) },
    };
    const stored = eventsAfter(recorded.at(-1)?.metadata ?? BEFORE_THE_FIRST, stream, [forgotten], {
      metadata,
      idOf: () => randomUUID(),
    });
    await retryAppend(() => events.append(stream, revision, stored), pause);
  }

  async #readablePart(stream: string): Promise<LoanState | undefined> {
    const { events } = await this.#deps.events.read(stream);
    const readable = events
      .flatMap((recorded) => readOrLeave(decodeLoanEvent, recorded, () => undefined) ?? [])
      .filter(({ type }) => OF_THE_BORROWER.has(type));
    return readable[0]?.type === 'LoanReceived' ? fold(loanDecider.initialState, readable) : undefined;
  }

  /** An assignment that was refused may have left a key, and contents sealed with it, without an operation. */
  async clearRefused(documentNumber: string): Promise<void> {
    const { index, keys, realClock } = this.#deps;
    // One that is on its way right now has no operation yet either; a code that a renegotiation has reserved may get its own at any time.
    const before = new Date(Date.parse(realClock.realNow()) - LONGEST_ASSIGNMENT_MS).toISOString();
    for (const stream of await index.streamsOf(this.#digestOf(documentNumber))) {
      const state = await ifReadable(() => this.#stateOf(stream), undefined);
      if (state?.status === 'none') await keys.forgetOlder(stream, before);
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

  /** With one entry alone the operation is its borrower's; what cannot be read any more is not another's. */
  async #isOfAnother(stream: string, loan: ExistingLoan, digest: string): Promise<boolean> {
    if ((await this.#deps.index.entriesOf([stream])).length < 2) return false;
    const known = await ifReadable(() => this.#digestIn(stream, loan), undefined);
    return known !== undefined && known !== digest;
  }

  /** Undefined for a borrower on record as forgotten, and where the key is lost: to give it up is to know of it. */
  async #digestIn(stream: string, loan: ExistingLoan): Promise<string | undefined> {
    const { vault } = this.#deps;
    if (loan.borrowerForgottenAt !== undefined) return undefined;
    const borrower = await vault.peek(stream, loan.borrower);
    return borrower && borrowerDigest(vault, borrower.document_number);
  }

  async #stateOf(stream: string): Promise<LoanState> {
    const { state } = await this.#deps.commands.preview(stream, () => []);
    return state;
  }
}
