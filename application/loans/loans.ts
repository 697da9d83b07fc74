import { applicationsIn } from '../clients/client-registry.ts';
import type { ClientRegistry } from '../clients/client-registry.ts';
import type { Outcome, RequestContext } from '../command-handling/request-context.ts';
import type { Privacy } from '../privacy/privacy.ts';
import type { SqlDatabase } from '../sql/sql-database.ts';
import { addDocuments } from './add-documents.ts';
import type { AskedDocuments, DocumentsReceipt } from './add-documents.ts';
import { assignLoan } from './assign-loan.ts';
import type { AskedAssignment, LoanReceipt } from './assign-loan.ts';
import { applicationOf, requireKnown } from './find-operation.ts';
import { DecisionFacts } from './decision-facts.ts';
import type { LoanDetails } from './loan-details.ts';
import { withLateness } from './late-operations.ts';
import type { LoanRow } from './late-operations.ts';
import type { LoanPage } from './loan-page.ts';
import type { LoanParts } from './loan-parts.ts';
import { SqlLoanReader, SqlLoanVersions } from './loan-reader.ts';
import { SqlOperationStates } from './operation-states.ts';
import { SearchOperations } from './search-operations.ts';
import type { OwnWrites } from './own-writes.ts';
import { processPrepayment } from './process-prepayment.ts';
import type { AskedPrepayment, PrepaymentReceipt } from './process-prepayment.ts';
import { quoteAssignment } from './quote-assignment.ts';
import { quotePrepayment, quoteRepurchase, quoteSettlement } from './quotes.ts';
import { fundOfLoan, listLoans, readDocument, readLoan, untilWritesShow } from './read-loan.ts';
import type { AppliedVersions, LoansQuery, MissingFile, Reader } from './read-loan.ts';
import { requestRepurchase } from './request-repurchase.ts';
import type { AskedRepurchase, RepurchaseReceipt } from './request-repurchase.ts';
import { settleInstallment } from './settle-installment.ts';
import type { AskedSettlement, SettlementReceipt } from './settle-installment.ts';

interface Dependencies extends LoanParts {
  /** Of the read models. */
  readonly database: SqlDatabase;
  readonly progress: AppliedVersions;
  readonly writes: OwnWrites;
  readonly registry: Pick<ClientRegistry, 'list'>;
  readonly catchUp: () => Promise<void>;
  /** Called each time that one is asked for. */
  readonly onFileMissing: (missing: MissingFile) => void;
  /** Knows whose operations they are. */
  readonly privacy: () => Privacy;
}

const PAGE = 500;

/** Operations: how they come in, what is done about them, and what they show. */
export class Loans {
  readonly search: SearchOperations;
  readonly facts: DecisionFacts;
  readonly #deps: Dependencies & { readonly loans: SqlLoanReader; readonly versions: SqlLoanVersions };

  constructor(dependencies: Dependencies) {
    const { database, privacy } = dependencies;
    this.search = new SearchOperations(dependencies);
    this.facts = new DecisionFacts(database, privacy);
    const [loans, versions] = [new SqlLoanReader(database), new SqlLoanVersions(database)];
    this.#deps = { ...dependencies, loans, versions };
  }

  assign(context: RequestContext, asked: AskedAssignment): Promise<Outcome<LoanReceipt>> {
    return assignLoan(this.#deps, context, asked);
  }

  settle(context: RequestContext, asked: AskedSettlement): Promise<Outcome<SettlementReceipt>> {
    return settleInstallment(this.#deps, context, asked);
  }

  prepay(context: RequestContext, asked: AskedPrepayment): Promise<Outcome<PrepaymentReceipt>> {
    return processPrepayment(this.#deps, context, asked);
  }

  repurchase(context: RequestContext, asked: AskedRepurchase): Promise<Outcome<RepurchaseReceipt>> {
    return requestRepurchase(this.#deps, context, asked);
  }

  addDocuments(context: RequestContext, asked: AskedDocuments): Promise<Outcome<DocumentsReceipt>> {
    return addDocuments(this.#deps, context, asked);
  }

  quoteAssignment(context: RequestContext, asked: AskedAssignment) {
    return quoteAssignment(this.#deps, context, asked);
  }

  quoteSettlement(context: RequestContext, asked: AskedSettlement) {
    return quoteSettlement(this.#deps, context, asked);
  }

  quotePrepayment(context: RequestContext, asked: AskedPrepayment) {
    return quotePrepayment(this.#deps, context, asked);
  }

  quoteRepurchase(context: RequestContext, asked: AskedRepurchase) {
    return quoteRepurchase(this.#deps, context, asked);
  }

  /** @throws ReadModelBehindError */
  read(reader: Reader, code: string): Promise<LoanDetails | undefined> {
    return readLoan(this.#deps, reader, code);
  }

  /** Of which fund an operation is; undefined where there is none, or its code is only reserved. */
  fundOf(applicationId: string, code: string): Promise<string | undefined> {
    return fundOfLoan(this.#deps, applicationId, code);
  }

  /** @throws DomainError `loan_not_found`, `document_not_found` @throws ReadModelBehindError */
  document(reader: Reader, code: string, documentId: string) {
    return readDocument(this.#deps, reader, code, documentId);
  }

  /** @throws DomainError `invalid_query_parameter` @throws ReadModelBehindError */
  list(reader: Reader, query: LoansQuery): Promise<LoanPage> {
    return listLoans(this.#deps, reader, query);
  }

  /** Rows as the read model has them now, of each application the oldest first; late ones as a search has them. */
  async *rows({
    limit,
    ...query
  }: Omit<LoansQuery, 'updatedSince'> & { readonly applicationId?: string }): AsyncGenerator<LoanRow> {
    const { overdue, applicationId, ...filter } = query;
    let left = limit;
    if (overdue) {
      for await (const row of this.search.every(query)) {
        if (left-- <= 0) return;
        yield row;
      }
      return;
    }
    const { database, clock } = this.#deps;
    for (const id of applicationId === undefined
      ? await applicationsIn(this.#deps.registry)
      : [applicationId]) {
      let cursor: string | null | undefined;
      while (left > 0 && cursor !== null) {
        const query = { applicationId: id, ...filter, limit: Math.min(PAGE, left) };
        const page = await this.#deps.loans.list({ ...query, ...(cursor !== undefined && { cursor }) });
        yield* await withLateness(database, clock.today(), page.loans);
        left -= page.loans.length;
        cursor = page.nextCursor;
      }
    }
  }

  /** The only application that has an operation of this code. @throws DomainError `loan_not_found`, `validation_error` */
  applicationOf(code: string): Promise<string> {
    return applicationOf(this.#deps, code);
  }

  /** @throws DomainError `loan_not_found` where this application, or any where none is named, has no operation of this code */
  requireKnown(code: string, applicationId: string | undefined): Promise<void> {
    return requireKnown(this.#deps, code, applicationId);
  }

  /** Whether an application is linked to this fund, or it holds an operation. */
  async knowsFund(fundId: string): Promise<boolean> {
    const { registry, database } = this.#deps;
    const clients = await registry.list();
    if (clients.some(({ fundIds }) => fundIds.includes(fundId))) return true;
    return new SqlOperationStates(database).holds(fundId);
  }

  /** Resolves when the read model holds what this process wrote for the application. @throws ReadModelBehindError */
  written(applicationId: string): Promise<void> {
    return untilWritesShow(this.#deps, applicationId);
  }

  /** Resolves when the read model holds everything that was stored before the call. */
  catchUp(): Promise<void> {
    return this.#deps.catchUp();
  }

  /** Now, ISO 8601 UTC. */
  now(): string {
    return this.#deps.clock.now();
  }
}
