import type { ListLoansInput } from '../../../application/loans/read-loan.ts';
import { HttpProblem } from '../errors/http-problem.ts';
import { isProposalCode } from '../../../application/schemas/values.ts';
import { forClient, ok, outcomeReply } from '../operation.ts';
import type { Handler } from '../operation.ts';
import { presentLoan, presentLoanReceipt, presentLoanSummary } from '../presenters/loan.ts';
import { assignLoanInput, checkLoanData } from '../requests/loan-data.ts';
import type { LoanDataBody } from '../requests/loan-data.ts';
import { askedOutcome } from '../requests/sandbox-outcome.ts';
import type { Query } from '../requests/query.ts';
import type { UseCases } from '../resources/use-cases.ts';

const listInput = (query: Query): ListLoansInput => ({
  ...(query['status'] !== undefined && { status: String(query['status']) }),
  ...(query['fund_id'] !== undefined && { fundId: String(query['fund_id']).toLowerCase() }),
  ...(query['updated_since'] !== undefined && { updatedSince: String(query['updated_since']) }),
  limit: Number(query['limit']),
  ...(query['cursor'] !== undefined && { cursor: String(query['cursor']) }),
});

export const loanHandlers = ({
  assignLoan,
  readLoan,
  listLoans,
}: UseCases): Readonly<Record<string, Handler>> => ({
  assignLoan: {
    crossCheck: checkLoanData,
    fileNames: (body) => (body as LoanDataBody).backing_documents.map(({ value }) => value),
    run: forClient(async (context, { body, files, headers }) =>
      outcomeReply(
        201,
        await assignLoan(context, {
          ...assignLoanInput(body as LoanDataBody, files),
          ...askedOutcome(headers),
        }),
        presentLoanReceipt,
      ),
    ),
  },
  readLoan: {
    run: forClient(async (context, { params }) => {
      const code = params['originator_proposal_code'] ?? '';
      const loan = isProposalCode(code) ? await readLoan(context, code) : undefined;
      if (loan) return ok(presentLoan(loan));
      throw new HttpProblem('loan_not_found', 'this application has no operation with this code');
    }),
  },
  listLoans: {
    run: forClient(async (context, { query }) => {
      const { loans, nextCursor } = await listLoans(context, listInput(query));
      return ok({ data: loans.map(presentLoanSummary), next_cursor: nextCursor });
    }),
  },
});
