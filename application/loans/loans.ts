import { DomainError } from '../../domain/shared/domain-error.ts';
import { applicationsIn } from '../clients/client-registry.ts';
import type { ClientRegistry } from '../clients/client-registry.ts';
import { loanStream } from '../command-handling/operation.ts';
import type { EventStore } from '../ports/event-store.ts';
import type { Privacy } from '../privacy/privacy.ts';
import type { SqlDatabase } from '../sql/sql-database.ts';
import { addDocuments } from './add-documents.ts';
import { assignLoan } from './assign-loan.ts';
import { operationFacts, usedReasons, Exposures } from './decision-facts.ts';
import { withLateness } from './late-operations.ts';
import type { LoanRow } from './late-operations.ts';
import type { LoanParts } from './loan-parts.ts';
import { SqlLoanReader } from './loan-reader.ts';
import { holdsOperations } from './operation-states.ts';
import { SearchOperations } from './search-operations.ts';
import type { AppliedVersions, OwnWrites } from './read-model-progress.ts';
import { processPrepayment, requestRepurchase, settleInstallment } from './payments.ts';
import { quoteAssignment, quotePrepayment, quoteRepurchase, quoteSettlement } from './quotes.ts';
import { fundOfLoan, listLoans, readDocument, readLoan, untilWritesShow } from './read-loan.ts';
import type { LoansQuery, MissingFile } from './read-loan.ts';

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
  const exposures = new Exposures(database, privacy);
  return {
    search,
    facts: {
      of: operationFacts.bind(undefined, deps),
      reasons: usedReasons.bind(undefined, deps),
      exposure: exposures.of.bind(exposures),
    },
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
    leftOut: loans.leftOut.bind(loans),
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

interface Holders {
  readonly registry: Pick<ClientRegistry, 'list'>;
  readonly events: Pick<EventStore, 'head'>;
}

/** Whose operation a code names, for people who have only the code at hand. @throws DomainError `loan_not_found`, or `validation_error` when several applications use the code */
export const applicationOf = async (holding: Holders, code: string): Promise<string> => {
  const holders = await holdersOf(holding, code);
  const [holder] = holders;
  if (holder === undefined) throw unknownCode(code);
  if (holders.length === 1) return holder;
  throw new DomainError(
    'validation_error',
    `${holders.length} applications have an operation ${code}: name one of ${holders.join(', ')}`,
  );
};

/** @throws DomainError `loan_not_found` where this application, or any where none is named, has no operation of this code */
export const requireKnown = async (holding: Holders, code: string, applicationId?: string): Promise<void> => {
  if (
    applicationId === undefined
      ? (await holdersOf(holding, code)).length > 0
      : await has(holding, applicationId, code)
  )
    return;
  throw unknownCode(code, applicationId);
};

const holdersOf = async (holding: Holders, code: string): Promise<readonly string[]> => {
  const holders: string[] = [];
  for (const applicationId of await applicationsIn(holding.registry))
    if (await has(holding, applicationId, code)) holders.push(applicationId);
  return holders;
};

const has = async ({ events }: Holders, applicationId: string, code: string): Promise<boolean> =>
  (await events.head(loanStream(applicationId, code))) !== 'no_stream';

const unknownCode = (code: string, applicationId?: string): DomainError =>
  new DomainError(
    'loan_not_found',
    `no operation${applicationId === undefined ? '' : ` of application ${applicationId}`} has the code ${code}`,
  );
