import { ATTACHMENT, ETAG, REPLAYED } from '../components/headers.ts';
import { loan, loanData, loanReceipt, loanSummary } from '../examples.ts';
import { json } from '../operation.ts';
import type { OperationSpec } from '../operation.ts';

const FILE_ERRORS = ['missing_file', 'unreferenced_file', 'duplicate_file_name', 'invalid_file'] as const;

export const loanOperations: readonly OperationSpec[] = [
  {
    id: 'assignLoan',
    method: 'post',
    path: '/loan',
    tag: 'Loans',
    summary: 'Offer an operation to a fund',
    description:
      'Sends the data of the operation in the part `loan_data` and its PDF files in parts named `files`. ' +
      'All broken rules come back together in `details`. The code of the operation is its idempotency key: the same ' +
      'request again answers 201 with the status of today, another payload answers 409. What happens next arrives by webhook.',
    access: 'loans:write',
    bucket: 'loan',
    sandboxParameters: ['SandboxOutcome'],
    body: [
      {
        mediaType: 'multipart/form-data',
        schema: 'LoanData',
        example: loanData,
        dataPart: 'loan_data',
        exampleFiles: ['ccb.pdf'],
        limit: 262_144,
      },
    ],
    success: [{ ...json(201, 'The operation is recorded.', 'LoanReceipt', loanReceipt), headers: REPLAYED }],
    errors: [
      ...FILE_ERRORS,
      ...(['invalid_document_type', 'fund_not_allowed'] as const),
      ...(['idempotency_conflict', 'proposal_code_already_used', 'concurrent_modification'] as const),
    ],
  },
  {
    id: 'listLoans',
    method: 'get',
    path: '/loan',
    tag: 'Loans',
    summary: 'List operations',
    description:
      'Operations of the application, oldest first, page by page. With `updated_since` only those in which something changed then ' +
      'or later, whatever their status by now; a page of these may be short, `next_cursor` leads on until it is null.',
    access: 'loans:read',
    bucket: 'read',
    parameters: ['LoanStatus', 'FundId', 'UpdatedSince', 'Limit', 'Cursor'],
    success: [json(200, 'One page.', 'LoanPage', { data: [loanSummary], next_cursor: null })],
    errors: ['invalid_query_parameter'],
  },
  {
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
    success: [json(200, 'The operation.', 'Loan', loan)],
    errors: ['loan_not_found'],
  },
  {
    id: 'readDocument',
    method: 'get',
    path: '/loan/{originator_proposal_code}/documents/{document_id}',
    tag: 'Loans',
    summary: 'Read a document',
    description:
      'The stored file, byte for byte, under its name. Nothing is left of it once the borrower is forgotten. Supports If-None-Match.',
    access: 'loans:read',
    bucket: 'read',
    parameters: ['ProposalCode', 'DocumentId'],
    success: [
      {
        status: 200,
        description: 'The content.',
        mediaType: 'application/pdf',
        otherMediaTypes: ['application/vnd.openxmlformats-officedocument.wordprocessingml.document'],
        schema: { type: 'string', format: 'binary' },
        example: '(content of the file)',
        headers: { ...ATTACHMENT, ...ETAG },
      },
      { status: 304, description: 'What you have is what is stored.', headers: ETAG },
    ],
    errors: ['loan_not_found', 'document_not_found'],
  },
];
