import { DomainError } from '../../domain/shared/domain-error.ts';
import type { SealedBorrower } from '../../domain/shared/identifiers.ts';
import type { PrivateText } from '../../domain/shared/private-text.ts';
import { loanStream, seesFund } from '../command-handling/operation.ts';
import { loanEntries } from '../event-codec/entries.ts';
import { decodeLoanEvent } from '../event-codec/event-codec.ts';
import type { BorrowerVault } from '../ports/borrower-vault.ts';
import type { BusinessClock } from '../ports/clock.ts';
import type { DocumentStore } from '../ports/document-store.ts';
import type { EventStore } from '../ports/event-store.ts';
import { readTexts } from '../privacy/forget-borrower.ts';
import type { RequestContext } from '../command-handling/request-context.ts';
import { instantOf } from '../schemas/values.ts';
import { loanDetailsOf } from './loan-details.ts';
import type { LoanDetails } from './loan-details.ts';
import type { LoanListQuery, LoanPage } from './loan-page.ts';
import type { LoanView, SqlLoanReader } from './loan-reader.ts';
import type { AppliedVersions, OwnWrites } from './read-model-progress.ts';

/** The read model is more than `READ_WAIT_MS` behind the streams: answer later rather than something old. */
export class ReadModelBehindError extends Error {
  override readonly name: string = 'ReadModelBehindError';

  constructor(message = 'the latest change cannot be read yet') {
    super(message);
  }
}

/** The latest change of this operation is shown when an operator lets it out of quarantine, and not before. */
export class OperationQuarantinedError extends ReadModelBehindError {
  override readonly name = 'OperationQuarantinedError';

  constructor() {
    super(
      'the latest change of this operation cannot be shown: it waits in quarantine, see receivables quarantine list',
    );
  }
}

const READ_WAIT_MS = 3_000;
/** After so long it is asked whether it waits in quarantine; nearly every read that has to wait is over by then. */
const FIRST_WAIT_MS = 100;
const STREAMS_IN_ONE_QUERY = 500;
const LOAN_RECEIVED = loanEntries.LoanReceived.storedType;

type Reader = Pick<RequestContext, 'applicationId' | 'onlyFundIds' | 'aside'>;

export type LoansQuery = Omit<LoanListQuery, 'applicationId' | 'onlyFundIds'>;

interface Dependencies {
  readonly events: EventStore;
  readonly loans: Pick<SqlLoanReader, 'find' | 'list' | 'versions' | 'quarantined'>;
  readonly progress: AppliedVersions;
  readonly writes: Pick<OwnWrites, 'of' | 'seen'>;
  readonly vault: BorrowerVault;
  readonly documents: Pick<DocumentStore, 'open'>;
  readonly clock: BusinessClock;
}

/** The log names it, its operation has its key, and nothing that the key opens is stored. */
export interface MissingFile {
  readonly stream: string;
  readonly documentId: string;
}

/** A read started after a write was answered sees that write, as those of documents and lists do. @throws ReadModelBehindError */
export const readLoan = async (
  deps: Dependencies,
  reader: Reader,
  code: string,
): Promise<LoanDetails | undefined> => {
  const view = await viewOf(deps, reader, code);
  if (view === undefined) return undefined;
  const { vault, clock } = deps;
  return loanDetailsOf(view, await openTexts(vault, view.loan.stream, view), clock.today());
};

/** @throws DomainError `loan_not_found`, `document_not_found` */
export const readDocument = async (
  deps: Dependencies & { readonly onFileMissing: (missing: MissingFile) => void },
  reader: Reader,
  code: string,
  documentId: string,
) => {
  const view = await viewOf(deps, reader, code);
  if (view === undefined)
    throw new DomainError('loan_not_found', 'this application has no operation with this code');
  const { stream } = view.loan;
  const document = view.documents.find(({ document_id: id }) => id === documentId);
  const name = document && privateText(document.value);
  const { vault, documents } = deps;
  const [text] = name === undefined ? [] : await readTexts(vault, stream, [name]);
  const content = text === undefined ? undefined : await documents.open(stream, document!.sha256);
  if (text === undefined || content === undefined) {
    // A name that an earlier version stored plainly says nothing about the key; no borrower was opened where it was forgotten.
    if (text !== undefined && (await vault.open(stream, view.loan.borrower as SealedBorrower)) !== undefined)
      deps.onFileMissing({ stream, documentId });
    const message = 'this operation has no such document, or its borrower was forgotten';
    throw new DomainError('document_not_found', message);
  }
  return { name: text, sha256: document!.sha256, ...content };
};

/** Of which fund an operation is, whatever the read models hold; undefined where there is none, or its code is only reserved. */
export const fundOfLoan = async (
  { loans, events }: Pick<Dependencies, 'events'> & { readonly loans: Pick<SqlLoanReader, 'fundOf'> },
  applicationId: string,
  code: string,
): Promise<string | undefined> =>
  (await loans.fundOf(applicationId, code)) ?? fundOf({ events }, loanStream(applicationId, code));

const viewOf = async (deps: Dependencies, reader: Reader, code: string): Promise<LoanView | undefined> => {
  const { events, loans } = deps;
  const stream = loanStream(reader.applicationId, code);
  const head = await events.head(stream);
  if (head === 'no_stream') return undefined;
  let view = await loans.find(reader.applicationId, code);
  const fundId = view?.loan.fund_id ?? (await fundOf(deps, stream));
  if (fundId === undefined || !seesFund(reader, fundId)) return undefined;
  if (view === undefined || BigInt(view.loan.version) < head) {
    view = undefined;
    const { aside = atOnce } = reader;
    const shows = await aside(() => untilShown(deps, stream, head));
    if (shows === 'quarantined') throw new OperationQuarantinedError();
    if (shows === 'behind') throw new ReadModelBehindError();
    view = await loans.find(reader.applicationId, code);
  }
  return view;
};

const untilShown = async (
  { loans, progress }: Dependencies,
  stream: string,
  revision: bigint,
): Promise<'shown' | 'quarantined' | 'behind'> => {
  for (const ms of [FIRST_WAIT_MS, READ_WAIT_MS - FIRST_WAIT_MS]) {
    if (await progress.waitForVersion(stream, revision, ms)) return 'shown';
    if ((await loans.quarantined([stream])).has(stream)) return 'quarantined';
  }
  return 'behind';
};

/** A renegotiation may have reserved the code, and perhaps given it back: then there is nothing to wait for. */
const fundOf = async (deps: Pick<Dependencies, 'events'>, stream: string): Promise<string | undefined> => {
  const { events } = await deps.events.read(stream);
  const received = events.find(({ type }) => type === LOAN_RECEIVED);
  const event = received && decodeLoanEvent(received);
  return event?.type === 'LoanReceived' ? event.fundId : undefined;
};

/** What this process wrote has to be in a list. Operations in quarantine are not waited for. @throws ReadModelBehindError */
export const untilWritesShow = async (deps: Dependencies, applicationId: string): Promise<void> => {
  const { loans, writes } = deps;
  const unseen = writes.of(applicationId);
  for (let at = 0; at < unseen.length; at += STREAMS_IN_ONE_QUERY) {
    const some = unseen.slice(at, at + STREAMS_IN_ONE_QUERY);
    const shown = await loans.versions(some.map(([stream]) => stream));
    await Promise.all(
      some.map(async ([stream, revision]) => {
        const version = shown.get(stream);
        const has = version !== undefined && version >= revision;
        // Without a row there may be nothing to wait for: a renegotiation has reserved the code, and perhaps given it back.
        const waits = !has && (version !== undefined || (await fundOf(deps, stream)) !== undefined);
        const shows = waits ? await untilShown(deps, stream, revision) : 'shown';
        // One in quarantine is listed as it was; the others of the application are listed all the same.
        if (shows === 'behind') throw new ReadModelBehindError();
        writes.seen(applicationId, stream, revision);
      }),
    );
  }
};

export const listLoans = async (
  deps: Dependencies,
  reader: Reader,
  { updatedSince, ...query }: LoansQuery,
): Promise<LoanPage> => {
  const { applicationId, onlyFundIds } = reader;
  const since = updatedSince !== undefined && { updatedSince: instantOf('updated_since', updatedSince) };
  await untilWritesShow(deps, applicationId);
  return deps.loans.list({
    applicationId,
    ...(onlyFundIds && { onlyFundIds }),
    ...query,
    ...since,
  });
};

const atOnce = <Value>(work: () => Promise<Value>): Promise<Value> => work();

/** JSON text of what may name a person; empty where there is none, or once it was forgotten. */
const privateText = (column: string): PrivateText | undefined =>
  column === '' ? undefined : (JSON.parse(column) as PrivateText);

const openTexts = async (vault: BorrowerVault, stream: string, { loan, documents }: LoanView) => {
  const columns = [loan.reason_detail, ...documents.map(({ value }) => value)].map(privateText);
  const [borrower, [reasonDetail, ...documentNames]] = await Promise.all([
    vault.open(stream, loan.borrower as SealedBorrower),
    readTexts(vault, stream, columns),
  ]);
  return { borrower, documentNames, reasonDetail };
};
