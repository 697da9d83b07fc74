import type { ReceiveLoan } from '../../domain/loan/commands.ts';
import type { LoanEvent, Offer } from '../../domain/loan/events.ts';
import { loanDecider } from '../../domain/loan/index.ts';
import type { LoanState } from '../../domain/loan/state.ts';
import { DomainError } from '../../domain/shared/domain-error.ts';
import type { ApplicationId, SealedBorrower, Timestamp } from '../../domain/shared/identifiers.ts';
import { canonicalText, loanStream } from '../command-handling/operation.ts';
import type { Borrower } from '../ports/borrower-vault.ts';
import type { Outcome, RequestContext } from '../command-handling/request-context.ts';
import { PDF_ONLY, contentsOfDocuments, documentsOf, privateNames } from './add-documents.ts';
import type { DocumentsOfRequest } from './add-documents.ts';
import { preferring, refusedNames } from './file-names.ts';
import { ENDPOINTS } from '../command-handling/endpoints.ts';
import type { LoanParts } from './loan-parts.ts';

export interface AskedAssignment
  extends Omit<Offer, 'applicationId' | 'borrower' | 'documents'>, DocumentsOfRequest {
  readonly borrower: Borrower;
}
export type LoanReceipt = ReturnType<typeof receiptOf>;

type Assigning = Pick<LoanParts, 'commands' | 'vault' | 'documents' | 'inspector' | 'clock'>;

/**
 * Takes an operation into the fund's assignment flow. Its code is its idempotency key.
 * @throws DomainError `fund_not_allowed`, `invalid_file`, `invalid_document_type`, `validation_error`,
 *   `idempotency_conflict`, `proposal_code_already_used`
 */
export const assignLoan = async (
  parts: Assigning,
  context: RequestContext,
  input: AskedAssignment,
): Promise<Outcome<LoanReceipt>> => {
  const { commands, vault } = parts;
  const refused = await checkAsked(parts, context, input);
  const stream = loanStream(context.applicationId, input.code);
  const handled = commands.handle({
    stream,
    applicationId: context.applicationId,
    actor: context.clientId,
    correlationId: context.requestId,
    idempotency: {
      endpoint: ENDPOINTS.assignLoan,
      key: input.code,
      fingerprint: vault.digest(canonicalText(contentsOf(input))),
    },
    decide: (current) => {
      if (refused) throw refused;
      return receive(parts, context, input, current);
    },
  });
  const { replayed, state } = await handled.catch(preferring(refused));
  return { replayed, result: receiptOf(state) };
};

/** @returns why its documents cannot be new ones @throws DomainError `fund_not_allowed`, `invalid_file` */
export const checkAsked = async (
  { inspector }: Pick<LoanParts, 'inspector'>,
  context: RequestContext,
  { fundId, files, documents }: AskedAssignment,
): Promise<DomainError | undefined> => {
  if (!context.fundIds.includes(fundId)) {
    const message = 'is not linked to this application; use one of its own funds';
    throw new DomainError('fund_not_allowed', `fund_id ${message}`, [
      { field: 'fund_id', code: 'fund_not_allowed', message },
    ]);
  }
  for (const file of files) await inspector.inspect(file, PDF_ONLY, context);
  return refusedNames(
    documents.map(({ value }) => value),
    'backing_documents',
  );
};

/** The command without what is sealed and stored for it: enough to decide on, and to price. */
export const receptionOf = (
  { applicationId }: RequestContext,
  { files: _files, documents: _documents, borrower: _borrower, ...terms }: AskedAssignment,
  now: Timestamp,
): ReceiveLoan => ({
  type: 'ReceiveLoan',
  applicationId: applicationId as ApplicationId,
  ...terms,
  borrower: '' as SealedBorrower,
  documents: [],
  now,
});

/** Contents and keys are durable before the event that names them; what a refused attempt leaves behind is unreferenced. */
const receive = async (
  { vault, documents, clock }: Assigning,
  context: RequestContext,
  input: AskedAssignment,
  current: LoanState,
): Promise<readonly LoanEvent[]> => {
  const stream = loanStream(context.applicationId, input.code);
  const now = clock.now();
  const command = receptionOf(context, input, now);
  if (current.status !== 'none') return loanDecider.decide(command, current);
  const borrower = await vault.seal(stream, input.borrower);
  const names = await privateNames(
    vault,
    stream,
    input.documents.map(({ value }) => value),
  );
  if (!names) throw new Error(`the key of ${stream} was deleted while it was received`);
  await Promise.all(input.files.map((file) => documents.put(stream, file)));
  const received = documentsOf(input, names, now);
  return loanDecider.decide({ ...command, borrower, documents: received }, current);
};

const contentsOf = (input: AskedAssignment) => {
  const { files: _, sandboxOutcome: __, sandboxDisbursement: ___, ...contents } = input;
  return { ...contents, documents: contentsOfDocuments(input) };
};

const receiptOf = (state: LoanState) => {
  if (state.status === 'none' || state.status === 'code_reserved')
    throw new Error('an accepted operation has a state');
  return { code: state.code, status: state.status, fundId: state.fundId, receivedAt: state.receivedAt };
};
