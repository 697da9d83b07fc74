import { component, schemasOf } from '../../../application/schemas/schema.ts';
import { exampleOf, schemaOf } from '../../../application/schemas/shown-fields.ts';
import { isProposalCode } from '../../../application/schemas/values.ts';
import { HttpProblem } from '../errors/http-problem.ts';
import { json } from '../openapi/operation.ts';
import { forClient, ok } from '../operation.ts';
import { Installment, LOAN, presentLoan, StoredDocument } from '../../presenting/loan.ts';
import { endpoint } from './endpoint.ts';
import { LoanSummary } from './list-loans.ts';

const Loan = component('Loan', {
  ...schemaOf(LOAN),
  description: 'One operation with its schedule, documents and balances.',
});
export const loanSchemas = schemasOf(Installment, StoredDocument, LoanSummary, Loan);

export const readLoan = endpoint({
  id: 'readLoan',
  method: 'get',
  path: '/loan/{originator_proposal_code}',
  tag: 'Loans',
  summary: 'Read an operation',
  description:
    'Shows the operation as it is now. A write of yours that was answered before this read is in it.',
  access: 'loans:read',
  bucket: 'read',
  parameters: ['ProposalCode'],
  success: [json(200, 'The operation.', Loan, exampleOf(LOAN))],
  errors: ['loan_not_found'],
  handler: ({ app: { loans } }) => ({
    run: forClient(async (context, { params }) => {
      const code = params['originator_proposal_code'] ?? '';
      const loan = isProposalCode(code) ? await loans.read(context, code) : undefined;
      if (loan) return ok(presentLoan(loan));
      throw new HttpProblem('loan_not_found', 'this application has no operation with this code');
    }),
  }),
});
