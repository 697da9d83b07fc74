import type {
  AddDocumentsInput,
  AssignLoanInput,
  DocumentsReceipt,
  LoanReceipt,
  PrepaymentReceipt,
  ProcessPrepaymentInput,
  RepurchaseReceipt,
  RequestRepurchaseInput,
} from '../../../application/loans/inputs.ts';
import type { LoanDetails } from '../../../application/loans/loan-details.ts';
import type { PrepaymentQuote, RepurchaseQuote } from '../../../application/loans/quotes.ts';
import type { DocumentContent, ListLoansInput, LoanSummary } from '../../../application/loans/read-loan.ts';
import type { Webhooks } from '../../../application/ports/webhooks.ts';
import type {
  RenegotiateLoansInput,
  RenegotiationReceipt,
} from '../../../application/renegotiation/inputs.ts';
import type { RenegotiationQuote } from '../../../application/renegotiation/renegotiation-quote.ts';
import type { SandboxClock } from '../../../application/sandbox/sandbox-clock.ts';
import type { SettlementUses } from './settle-installment.ts';
import type { Outcome, RequestContext } from '../../../application/request-context.ts';

interface LoanListing {
  readonly loans: readonly LoanSummary[];
  readonly nextCursor: string | null;
}

/** Everything that a request can ask for. Refusals come as `DomainError`. */
export interface UseCases extends SettlementUses {
  readonly assignLoan: (context: RequestContext, input: AssignLoanInput) => Promise<Outcome<LoanReceipt>>;
  readonly processPrepayment: (
    context: RequestContext,
    input: ProcessPrepaymentInput,
  ) => Promise<Outcome<PrepaymentReceipt>>;
  readonly requestRepurchase: (
    context: RequestContext,
    input: RequestRepurchaseInput,
  ) => Promise<Outcome<RepurchaseReceipt>>;
  /** What `processPrepayment` would do; stores nothing. */
  readonly quotePrepayment: (
    context: RequestContext,
    input: ProcessPrepaymentInput,
  ) => Promise<PrepaymentQuote>;
  /** What `requestRepurchase` would do; stores nothing. */
  readonly quoteRepurchase: (
    context: RequestContext,
    input: RequestRepurchaseInput,
  ) => Promise<RepurchaseQuote>;
  readonly addDocuments: (
    context: RequestContext,
    input: AddDocumentsInput,
  ) => Promise<Outcome<DocumentsReceipt>>;
  readonly renegotiateLoans: (
    context: RequestContext,
    input: RenegotiateLoansInput,
  ) => Promise<Outcome<RenegotiationReceipt>>;
  /** What `renegotiateLoans` would do; stores nothing. */
  readonly quoteRenegotiation: (
    context: RequestContext,
    input: RenegotiateLoansInput,
  ) => Promise<RenegotiationQuote>;
  /** `undefined` when the application has no such operation. */
  readonly readLoan: (context: RequestContext, code: string) => Promise<LoanDetails | undefined>;
  /** @throws DomainError `loan_not_found`, `document_not_found` */
  readonly readDocument: (
    context: RequestContext,
    code: string,
    documentId: string,
  ) => Promise<DocumentContent>;
  readonly listLoans: (context: RequestContext, input: ListLoansInput) => Promise<LoanListing>;
  readonly webhooks: Webhooks;
  /** Undefined in production. */
  readonly sandboxClock: Pick<SandboxClock, 'show' | 'move'> | undefined;
}
