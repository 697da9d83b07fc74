import { randomUUID } from 'node:crypto';
import type { Container } from 'inversify';
import { FindOperation } from '../../application/administrator/find-operation.ts';
import { presentLoan } from '../http/presenters/loan.ts';
import type { LoanRow } from '../../projections/loan/loan-view.ts';
import type { LoanServices } from '../cli/cli-services.ts';
import { SqlOperationStates } from '../sql/read-models/operation-states.ts';
import { catchUp } from '../cli/catch-up.ts';
import { TOKENS } from './tokens.ts';

const PAGE = 500;

/** Operations of every application, as the command line lists and shows them. */
export const loanServices = (container: Container): LoanServices => {
  const registry = container.get(TOKENS.clientRegistry);
  const loans = container.get(TOKENS.loanReader);
  const clock = container.get(TOKENS.clock);
  const states = new SqlOperationStates(container.get(TOKENS.readModelDatabase));
  const operations = new FindOperation({ registry, events: container.get(TOKENS.eventStore) });
  const applications = async (): Promise<readonly string[]> => [
    ...new Set((await registry.list()).map(({ applicationId }) => applicationId)),
  ];
  return {
    applicationOf: (code) => operations.applicationOf(code),
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
      const details = await container.get(TOKENS.loanReading).read(context, code);
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
    catchUp: () => catchUp(container.get(TOKENS.loanProjector)),
    now: () => clock.now(),
  };
};
