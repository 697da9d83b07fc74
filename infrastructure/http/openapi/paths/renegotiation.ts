import { REPLAYED } from '../components/headers.ts';
import { json } from '../operation.ts';
import type { OperationSpec } from '../operation.ts';
import * as examples from '../renegotiation-examples.ts';

const WORD = 'application/vnd.openxmlformats-officedocument.wordprocessingml.document';

export const renegotiationOperations: readonly OperationSpec[] = [
  {
    id: 'renegotiateLoans',
    method: 'patch',
    path: '/loan/renegotiate',
    tag: 'Loans',
    summary: 'Replace operations by a new one',
    description:
      'Writes off active operations and brings in the one that takes their place, all of it or nothing. JSON replaces a ' +
      'single operation and keeps its documents; a form with the part `renegotiation_data` replaces one or several and ' +
      'brings new documents, PDF or Word, of the type `renegotiation_document`. The new operation then takes the usual ' +
      'way to its disbursement, except that it cannot be rejected any more; when it is active, each original gets its ' +
      'event `renegotiation_completed`. Every original keeps the request under its own code as the key, so sending it ' +
      'again answers with the status of today, in whatever order the originals are listed. With `dry_run` nothing of this ' +
      'happens; the answer says what would.',
    access: 'loans:write',
    bucket: 'renegotiate',
    sandboxParameters: ['SandboxHold'],
    body: [
      {
        mediaType: 'application/json',
        schema: 'RenegotiationRequest',
        limit: 262_144,
        example: examples.renegotiationRequest,
      },
      {
        mediaType: 'multipart/form-data',
        schema: 'RenegotiationData',
        limit: 262_144,
        example: examples.renegotiationData,
        dataPart: 'renegotiation_data',
        exampleFiles: ['debt.docx'],
        fileTypes: `application/pdf, ${WORD}`,
      },
    ],
    success: [
      {
        ...json(200, 'The operations are replaced.', 'RenegotiationAnswer', examples.renegotiationReceipt),
        headers: REPLAYED,
      },
    ],
    errors: [
      ...(['missing_file', 'unreferenced_file', 'duplicate_file_name', 'invalid_file'] as const),
      ...(['invalid_document_type', 'invalid_date', 'fund_not_allowed', 'loan_not_found'] as const),
      ...(['operation_invalid_state', 'proposal_code_already_used'] as const),
      ...(['idempotency_conflict', 'concurrent_modification'] as const),
    ],
  },
];
