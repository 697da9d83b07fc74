import { applicationsIn } from '../clients/client-registry.ts';
import type { ClientRegistry } from '../clients/client-registry.ts';
import type { Privacy } from '../privacy/privacy.ts';
import type { SqlDatabase } from '../sql/sql-database.ts';
import { addDocuments } from './add-documents.ts';
import { assignLoan } from './assign-loan.ts';
import { applicationOf, requireKnown } from './find-operation.ts';
import { DecisionFacts } from './decision-facts.ts';
import { withLateness } from './late-operations.ts';
import type { LoanRow } from './late-operations.ts';
import type { LoanParts } from './loan-parts.ts';
import { SqlLoanReader } from './loan-reader.ts';
import { holdsOperations } from './operation-states.ts';
import { SearchOperations } from './search-operations.ts';
import type { OwnWrites } from './own-writes.ts';
import { processPrepayment } from './process-prepayment.ts';
import { quoteAssignment, quotePrepayment, quoteRepurchase, quoteSettlement } from './quotes.ts';
import { fundOfLoan, listLoans, readDocument, readLoan, untilWritesShow } from './read-loan.ts';
import type { AppliedVersions, LoansQuery, MissingFile } from './read-loan.ts';
import { requestRepurchase } from './request-repurchase.ts';
import { settleInstallment } from './settle-installment.ts';

interface Dependencies extends LoanParts {
  readonly database: SqlDatabase;
  readonly progress: AppliedVersions;
  readonly writes: OwnWrites;
  readonly registry: Pick<ClientRegistry, 'list'>;
  readonly catchUp: () => Promise<void>;
  readonly onFileMissing: (missing: MissingFile) => void;
  readonly privacy: () => Privacy;
}

const PAGE = 500;

export type Loans = ReturnType<typeof loansOf>;

export const loansOf = (dependencies: Dependencies) => {
  const { database, clock, registry, privacy } = dependencies;
  const loans = new SqlLoanReader(database);
  const deps = { ...dependencies, loans };
  const search = new SearchOperations(dependencies);
  return {
    search,
    facts: new DecisionFacts(database, privacy),
    assign: assignLoan.bind(undefined, deps),
    settle: settleInstallment.bind(undefined, deps),
    prepay: processPrepayment.bind(undefined, deps),
    repurchase: requestRepurchase.bind(undefined, deps),
    addDocuments: addDocuments.bind(undefined, deps),
    quoteAssignment: quoteAssignment.bind(undefined, deps),
    quoteSettlement: quoteSettlement.bind(undefined, deps),
    quotePrepayment: quotePrepayment.bind(undefined, deps),
    quoteRepurchase: quoteRepurchase.bind(undefined, deps),
    read: readLoan.bind(undefined, deps),
    fundOf: fundOfLoan.bind(undefined, deps),
    document: readDocument.bind(undefined, deps),
    list: listLoans.bind(undefined, deps),
    rows: (query: RowsQuery) => rowsOf({ ...deps, search }, query),
    applicationOf: applicationOf.bind(undefined, deps),
    requireKnown: requireKnown.bind(undefined, deps),
    knowsFund: async (fundId: string): Promise<boolean> => {
      const clients = await registry.list();
      return clients.some(({ fundIds }) => fundIds.includes(fundId)) || holdsOperations(database, fundId);
    },
    /** Resolves when the read model holds what this process wrote for the application. @throws ReadModelBehindError */
    written: untilWritesShow.bind(undefined, deps),
    /** Resolves when the read model holds everything that was stored before the call. */
    catchUp: dependencies.catchUp,
    now: (): string => clock.now(),
  };
};

type RowsQuery = Omit<LoansQuery, 'updatedSince'> & { readonly applicationId?: string };

async function* rowsOf(
  {
    search,
    loans,
    database,
    clock,
    registry,
  }: Dependencies & { readonly search: SearchOperations; readonly loans: SqlLoanReader },
  { limit, ...query }: RowsQuery,
): AsyncGenerator<LoanRow> {
  const { overdue, applicationId, ...filter } = query;
  let left = limit;
  if (overdue) {
    for await (const row of search.every(query)) {
      if (left-- <= 0) return;
      yield row;
    }
    return;
  }
  for (const id of applicationId === undefined ? await applicationsIn(registry) : [applicationId]) {
    let cursor: string | null | undefined;
    while (left > 0 && cursor !== null) {
      const asked = { applicationId: id, ...filter, limit: Math.min(PAGE, left) };
      const page = await loans.list({ ...asked, ...(cursor !== undefined && { cursor }) });
      yield* await withLateness(database, clock.today(), page.loans);
      left -= page.loans.length;
      cursor = page.nextCursor;
    }
  }
}
