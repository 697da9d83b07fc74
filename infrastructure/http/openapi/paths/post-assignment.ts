import { REPLAYED } from '../components/headers.ts';
import * as examples from '../post-assignment-examples.ts';
import { json } from '../operation.ts';
import type { OperationSpec } from '../operation.ts';

const WORD = 'application/vnd.openxmlformats-officedocument.wordprocessingml.document';

/** What an operation with a key may be told when it looks at an operation. */
const OPERATION_ERRORS = [
  ...(['invalid_date', 'loan_not_found', 'operation_invalid_state'] as const),
  ...(['idempotency_conflict', 'concurrent_modification'] as const),
] as const;

export const postAssignmentOperations: readonly OperationSpec[] = [
  {
    id: 'processPrepayment',
    method: 'post',
    path: '/installment/prepayment',
    tag: 'Installments',
    summary: 'Report money that came in early',
    description:
      'Values the open installments on the day of the payment and closes as many as the money covers: late ones ' +
      'first, then from the end of the schedule. What is left becomes a credit on the next installment in that ' +
      'order. Money for everything settles the operation; a surplus is reported as `excess_value`. ' +
      'With `dry_run` nothing of this happens; the answer says what would.',
    access: 'loans:write',
    bucket: 'prepayment',
    body: [{ mediaType: 'application/json', schema: 'Prepayment', example: examples.prepayment }],
    success: [
      {
        ...json(200, 'The money is allocated.', 'PrepaymentAnswer', examples.prepaymentReceipt),
        headers: REPLAYED,
      },
    ],
    errors: OPERATION_ERRORS,
  },
  {
    id: 'requestRepurchase',
    method: 'post',
    path: '/loan/repurchase',
    tag: 'Loans',
    summary: 'Take an operation out of the fund',
    description:
      'Freezes an active operation until the administrator has processed the request; its end arrives by webhook. ' +
      'Without `repurchase_value` the reason decides: present value of what is open for `repurchase` and ' +
      '`integrated_repurchase`, the price for `cession_reversal`, the price less the money received for `resolution`. ' +
      'With `dry_run` the operation stays as it is; the answer says what would happen.',
    access: 'loans:write',
    bucket: 'repurchase',
    body: [
      {
        mediaType: 'application/json',
        schema: 'RepurchaseRequest',
        example: examples.repurchaseRequest,
        limit: 16_384,
      },
    ],
    success: [
      {
        ...json(200, 'The request is recorded.', 'RepurchaseAnswer', examples.repurchaseReceipt),
        headers: REPLAYED,
      },
    ],
    errors: OPERATION_ERRORS,
  },
  {
    id: 'addDocuments',
    method: 'post',
    path: '/loan/files',
    tag: 'Loans',
    summary: 'Send further documents of an operation',
    description:
      'Takes the part `files_data` and the files that it names. The name of a file is its key within the operation: ' +
      'the same name, type and content again is a replay, anything else under that name answers 409. PDF only; a ' +
      '`renegotiation_document` may be a Word document. A `renegotiation_signature` needs a renegotiated operation ' +
      'or one that came out of a renegotiation.',
    access: 'loans:write',
    bucket: 'loan_files',
    body: [
      {
        mediaType: 'multipart/form-data',
        schema: 'FilesData',
        example: examples.filesData,
        dataPart: 'files_data',
        exampleFiles: ['signed.pdf'],
        limit: 16_384,
        fileTypes: `application/pdf, ${WORD}`,
      },
    ],
    success: [
      {
        ...json(201, 'The documents are stored.', 'FilesReceipt', examples.filesReceipt),
        headers: REPLAYED,
      },
    ],
    errors: [
      ...(['missing_file', 'unreferenced_file', 'duplicate_file_name', 'invalid_file'] as const),
      ...(['loan_not_found', 'operation_invalid_state'] as const),
      ...(['idempotency_conflict', 'concurrent_modification'] as const),
    ],
  },
];
