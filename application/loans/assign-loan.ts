import type { LoanDocument, LoanEvent } from '../../domain/loan/events.ts';
import { loanDecider } from '../../domain/loan/index.ts';
import type { LoanState } from '../../domain/loan/state.ts';
import { DomainError } from '../../domain/shared/domain-error.ts';
import type { ApplicationId, SealedBorrower } from '../../domain/shared/identifiers.ts';
import type { CommandHandler } from '../command-handling/command-handler.ts';
import { canonicalText, loanStream } from '../command-handling/operation.ts';
import type { BorrowerVault } from '../ports/borrower-vault.ts';
import type { BusinessClock } from '../ports/clock.ts';
import type { DocumentInspector, DocumentStore } from '../ports/document-store.ts';
import type { Outcome, RequestContext } from '../ports/clients.ts';
import { documentsOf, fileNamed, privateNames } from './add-documents.ts';
import { ENDPOINTS } from './inputs.ts';
import type { AssignLoanInput, LoanReceipt } from './inputs.ts';

interface Dependencies {
  readonly commands: CommandHandler;
  readonly vault: BorrowerVault;
  readonly documents: DocumentStore;
  readonly inspector: DocumentInspector;
  readonly clock: BusinessClock;
}

/** Takes an operation into the fund's assignment flow. Its code is its idempotency key. */
export class AssignLoan {
  readonly #deps: Dependencies;

  constructor(dependencies: Dependencies) {
    this.#deps = dependencies;
  }

  /**
   * @throws DomainError `fund_not_allowed`, `invalid_file`, `invalid_document_type`, `idempotency_conflict`,
   *   `proposal_code_already_used`
   */
  async execute(context: RequestContext, input: AssignLoanInput): Promise<Outcome<LoanReceipt>> {
    if (!context.fundIds.includes(input.fundId)) {
      throw new DomainError(
        'fund_not_allowed',
        'fund_id is not linked to this application; use one of its own funds',
      );
    }
    await this.#inspect(context, input);
    const stream = loanStream(context.applicationId, input.code);
    const { replayed, state } = await this.#deps.commands.handle({
      stream,
      applicationId: context.applicationId,
      actor: context.clientId,
      correlationId: context.requestId,
      idempotency: {
        endpoint: ENDPOINTS.assignLoan,
        key: input.code,
        fingerprint: this.#deps.vault.digest(canonicalText(contentsOf(input))),
      },
      decide: (current) => this.#receive(context, stream, input, current),
    });
    return { replayed, result: receiptOf(state) };
  }

  async #inspect(context: RequestContext, input: AssignLoanInput): Promise<void> {
    for (const file of input.files) {
      if ((await this.#deps.inspector.inspect(file, context)) === 'pdf') continue;
      throw new DomainError('invalid_file', `${file.name}: a backing document has to be a PDF`);
    }
  }

  /** Contents and keys are durable before the event that names them; what a refused attempt leaves behind is unreferenced. */
  async #receive(
    context: RequestContext,
    stream: string,
    input: AssignLoanInput,
    current: LoanState,
  ): Promise<readonly LoanEvent[]> {
    const { vault, documents, clock } = this.#deps;
    const now = clock.now();
    const command = (borrower: SealedBorrower, received: readonly LoanDocument[]) => ({
      type: 'ReceiveLoan' as const,
      applicationId: context.applicationId as ApplicationId,
      fundId: input.fundId,
      code: input.code,
      productType: input.productType,
      acquisitionValue: input.acquisitionValue,
      dateIssued: input.dateIssued,
      installments: input.installments,
      borrower,
      documents: received,
      ...(input.sandboxOutcome !== undefined && { sandboxOutcome: input.sandboxOutcome }),
      now,
    });
    if (current.status !== 'none') return loanDecider.decide(command('' as SealedBorrower, []), current);
    const borrower = await vault.seal(stream, input.borrower);
    const names = await privateNames(
      vault,
      stream,
      input.documents.map(({ value }) => value),
    );
    if (!names) throw new Error(`the key of ${stream} was deleted while it was received`);
    await Promise.all(input.files.map((file) => documents.put(stream, file)));
    return loanDecider.decide(command(borrower, documentsOf(input, names, now)), current);
  }
}

/** What makes two creation requests the same: every recognised field, and files by name and content. */
const contentsOf = (input: AssignLoanInput) => ({
  fundId: input.fundId,
  code: input.code,
  productType: input.productType,
  acquisitionValue: input.acquisitionValue,
  dateIssued: input.dateIssued,
  borrower: { ...input.borrower, address: { ...input.borrower.address } },
  installments: input.installments.map(({ code, dueDate, faceValue }) => ({ code, dueDate, faceValue })),
  documents: input.documents.map(({ type, value }) => ({
    type,
    value,
    sha256: fileNamed(input.files, value).sha256,
  })),
});

const receiptOf = (state: LoanState): LoanReceipt => {
  if (state.status === 'none' || state.status === 'code_reserved')
    throw new Error('an accepted operation has a state');
  return { code: state.code, status: state.status, fundId: state.fundId, receivedAt: state.receivedAt };
};
