import type { LoansQuery } from '../../../application/loans/read-loan.ts';
import { component, listOf, nullable, object, ref, text } from '../../../application/schemas/schema.ts';
import { shownComponent } from '../../../application/schemas/shown-fields.ts';
import { json } from '../openapi/operation.ts';
import { ok, endpoint } from '../operation.ts';
import { SUMMARY } from '../../presenting/loan-columns.ts';
import type { Query } from '../requests/parameters.ts';
import { isProposalCode } from '../../../application/schemas/values.ts';
import { HttpProblem } from '../errors/http-problem.ts';
import { Loan } from '../../presenting/loan.ts';

const LoanSummary = shownComponent('LoanSummary', SUMMARY);

const LoanPage = component(
  'LoanPage',
  object({
    data: listOf(ref(LoanSummary)),
    next_cursor: nullable(
      text({ description: 'Send it as `cursor` to get the next page; null on the last one.' }),
    ),
  }),
);

const queryOf = (query: Query): LoansQuery => ({
  ...(query['status'] !== undefined && { status: query['status'] as readonly string[] }),
  ...(query['fund_id'] !== undefined && { fundId: String(query['fund_id']).toLowerCase() }),
  ...(query['overdue'] === true && { overdue: true }),
  ...(query['updated_since'] !== undefined && { updatedSince: String(query['updated_since']) }),
  limit: Number(query['limit']),
  ...(query['cursor'] !== undefined && { cursor: String(query['cursor']) }),
});

export const listLoans = endpoint({
  id: 'listLoans',
  request: 'GET /loan',
  summary: 'List operations',
  description:
    'Operations of the application, oldest first, page by page. With `updated_since` only those in which something changed then ' +
    'or later, whatever their status by now; with `overdue=true` only those of which an installment is overdue. A page of these ' +
    'may be short, `next_cursor` leads on until it is null.',
  access: 'loans:read',
  parameters: ['LoanStatus', 'FundId', 'Overdue', 'UpdatedSince', 'Limit', 'Cursor'],
  success: [json(200, 'One page.', LoanPage, { data: [LoanSummary.example], next_cursor: null })],
  errors: ['invalid_query_parameter'],
  answer: async ({ loans }, context, { query }) => {
    const page = await loans.list(context, queryOf(query));
    return ok({ data: page.loans.map(LoanSummary.show), next_cursor: page.nextCursor });
  },
});

export const readLoan = endpoint({
  id: 'readLoan',
  request: 'GET /loan/{originator_proposal_code}',
  summary: 'Read an operation',
  description:
    'Shows the operation as it is now. A write of yours that was answered before this read is in it.',
  access: 'loans:read',
  parameters: ['ProposalCode'],
  success: [json(200, 'The operation.', Loan)],
  errors: ['loan_not_found'],
  answer: async ({ loans }, context, { params }) => {
    const code = params['originator_proposal_code'] ?? '';
    const loan = isProposalCode(code) ? await loans.read(context, code) : undefined;
    if (loan) return ok(Loan.show(loan));
    throw new HttpProblem('loan_not_found', 'this application has no operation with this code');
  },
});
