import { randomUUID } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { FindOperation } from '../../../application/administrator/find-operation.ts';
import { CommandHandler } from '../../../application/command-handling/command-handler.ts';
import { weightOf } from '../../../application/command-handling/operation.ts';
import type { Operation } from '../../../application/command-handling/operation.ts';
import { AddDocuments } from '../../../application/loans/add-documents.ts';
import { AssignLoan } from '../../../application/loans/assign-loan.ts';
import { ProcessPrepayment } from '../../../application/loans/process-prepayment.ts';
import { Quotes } from '../../../application/loans/quotes.ts';
import { LoanReading } from '../../../application/loans/read-loan.ts';
import { RequestRepurchase } from '../../../application/loans/request-repurchase.ts';
import { SettleInstallment } from '../../../application/loans/settle-installment.ts';
import { RenegotiateLoans } from '../../../application/renegotiation/renegotiate-loans.ts';
import { renegotiationParts } from '../../../application/renegotiation/renegotiation-parts.ts';
import type { LoanRow } from '../../../projections/loan/loan-view.ts';
import { catchUp } from '../../cli/catch-up.ts';
import type { LoanServices } from '../../cli/cli-services.ts';
import { presentLoan } from '../../http/resources/read-loan.ts';
import { SqlLoanReader, SqlLoanVersions } from '../../sql/read-models/loan-reader.ts';
import { SqlOperationStates } from '../../sql/read-models/operation-states.ts';
import { pause } from '../../support/time.ts';
import type { Foundations } from '../foundations.ts';
import type { Adapters } from './adapters.ts';
import type { Documents } from './documents.ts';
import type { ReadModels } from './read-models.ts';

/** Weight of the operations in memory. */
const CACHED_INSTALLMENTS = 1_000_000;

/** The command handler and the renegotiation protocol, with the memory of operations that they share. */
export const commandArea = ({ clock, realClock, observability }: Foundations, { events }: Adapters) => {
  const cache = new LRUCache<string, Operation>({
    maxSize: CACHED_INSTALLMENTS,
    sizeCalculation: weightOf,
  });
  const renegotiation = renegotiationParts({ events, clock, realClock, cache, pause });
  const handler = new CommandHandler({
    events,
    cache,
    clock,
    reservations: renegotiation.resolving,
    pause,
    watch: observability.commands,
  });
  return { handler, renegotiation };
};

export type Commands = ReturnType<typeof commandArea>;

/** What changes operations. */
export const loanArea = (
  { clock, configuration }: Foundations,
  { events, vault }: Adapters,
  { handler: commands, renegotiation }: Commands,
  { store: documents, inspector }: Documents,
) => {
  const paymentDates = { allowFuture: configuration.environment === 'sandbox' };
  return {
    assign: new AssignLoan({ commands, vault, documents, inspector, clock }),
    settle: new SettleInstallment({ commands, vault, clock, paymentDates }),
    prepay: new ProcessPrepayment({ commands, events, vault, clock, paymentDates }),
    repurchase: new RequestRepurchase({ commands, vault, clock }),
    quotes: new Quotes({ commands, clock, paymentDates }),
    addDocuments: new AddDocuments({ commands, vault, documents, inspector, clock }),
    renegotiate: new RenegotiateLoans({
      protocol: renegotiation.protocol,
      loans: renegotiation.loans,
      reservations: renegotiation.resolving,
      vault,
      documents,
      inspector,
      clock,
    }),
  };
};

export type Loans = ReturnType<typeof loanArea>;

export const loanReading = (
  { clock, engines }: Foundations,
  { events, vault, ownWrites }: Adapters,
  { progress }: ReadModels,
  documents: Documents,
): LoanReading =>
  new LoanReading({
    events,
    loans: new SqlLoanReader(engines.readModelDatabase),
    progress,
    vault,
    contents: documents.store,
    clock,
    versions: new SqlLoanVersions(engines.readModelDatabase),
    writes: ownWrites,
  });

const PAGE = 500;

/** Operations of every application, as the command line lists and shows them. */
export const loanServices = (
  { clock, engines }: Foundations,
  { clientRegistry, events }: Adapters,
  { loanProjector }: ReadModels,
  reading: LoanReading,
): LoanServices => {
  const loans = new SqlLoanReader(engines.readModelDatabase);
  const states = new SqlOperationStates(engines.readModelDatabase);
  const operations = new FindOperation({ registry: clientRegistry, events });
  const applications = async (): Promise<readonly string[]> => [
    ...new Set((await clientRegistry.list()).map(({ applicationId }) => applicationId)),
  ];
  return {
    applicationOf: (code) => operations.applicationOf(code),
    requireKnown: (code, applicationId) => operations.requireKnown(code, applicationId),
    list: async function* ({ applicationId, limit, ...filter }): AsyncGenerator<LoanRow> {
      let left = limit;
      for (const id of applicationId === undefined ? await applications() : [applicationId]) {
        let cursor: string | null | undefined;
        while (left > 0 && cursor !== null) {
          const query = { applicationId: id, ...filter, limit: Math.min(PAGE, left) };
          const page = await loans.list({ ...query, ...(cursor !== undefined && { cursor }) });
          yield* page.loans;
          left -= page.loans.length;
          cursor = page.nextCursor;
        }
      }
    },
    show: async (applicationId, code) => {
      const context = { applicationId, clientId: 'operator', requestId: randomUUID(), fundIds: [] };
      const details = await reading.read(context, code);
      if (details === undefined) return undefined;
      const { borrower, ...shown } = presentLoan(details) as Readonly<Record<string, unknown>> & {
        readonly borrower: { readonly document_type: string; readonly document_number: string } | null;
      };
      return {
        ...shown,
        borrower: borrower && {
          document_type: borrower.document_type,
          document_number: borrower.document_number,
        },
      };
    },
    pending: (query) => states.pending(query),
    holds: (fundId) => states.holds(fundId),
    catchUp: () => catchUp(loanProjector),
    now: () => clock.now(),
  };
};
