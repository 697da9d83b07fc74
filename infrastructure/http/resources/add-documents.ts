import type { AskedDocuments, DocumentsReceipt } from '../../../application/loans/add-documents.ts';
import type { ReceivedFile } from '../../../application/ports/document-store.ts';
import { component, object, ref } from '../../../application/schemas/schema.ts';
import type { TypeOf } from '../../../application/schemas/schema.ts';
import { shownComponent, shown } from '../../../application/schemas/shown-fields.ts';
import type { ShownFields } from '../../../application/schemas/shown-fields.ts';
import { ProposalCode } from '../../../application/schemas/values.ts';
import { DOCX } from '../../support/stored-files.ts';
import { REPLAYED } from '../openapi/components/headers.ts';
import { json } from '../openapi/operation.ts';
import { outcomeReply, endpoint } from '../operation.ts';
import type { CrossCheck } from '../requests/request-rules.ts';
import { BackingDocuments, checkDocumentNames, FILE_ERRORS } from './backing-documents.ts';
import { EXAMPLE } from '../../../application/schemas/example-values.ts';
import { StoredDocument } from '../../presenting/loan.ts';

const FilesData = component('FilesData', {
  ...object({
    originator_proposal_code: ref(ProposalCode),
    documents: ref(BackingDocuments),
  }),
  description: 'Names the operation and ties each uploaded file to its purpose.',
});
type FilesData = TypeOf<typeof FilesData>;

const example = {
  originator_proposal_code: EXAMPLE.code,
  documents: [{ type: 'contract', value: 'contract.pdf' }],
};

const crossCheck: CrossCheck = (draft) => checkDocumentNames(draft['documents'], 'documents');

const inputOf = (body: FilesData, files: readonly ReceivedFile[]): AskedDocuments => ({
  code: body.originator_proposal_code,
  documents: body.documents,
  files,
});

const RECEIPT: ShownFields<DocumentsReceipt> = {
  originator_proposal_code: shown(ref(ProposalCode), ({ code }) => code, EXAMPLE.code),
  documents: shown(
    { type: 'array', items: ref(StoredDocument) },
    ({ documents }) => documents.map(StoredDocument.show),
    [
      {
        document_id: EXAMPLE.documentId,
        type: 'contract',
        value: 'contract.pdf',
        sha256: EXAMPLE.digest,
        size: 51234,
        received_at: '2026-06-20T15:04:05.000Z',
      },
    ],
  ),
};
const FilesReceipt = shownComponent('FilesReceipt', RECEIPT, {
  description: 'The documents of the request as they are kept.',
});

export const addDocuments = endpoint({
  id: 'addDocuments',
  request: 'POST /loan/files',
  summary: 'Send further documents of an operation',
  description:
    'Takes the part `files_data` and the files that it names. The name of a file is its key within the operation: ' +
    'the same name, type and content again is a replay, anything else under that name answers 409. PDF only; a ' +
    '`renegotiation_document` may be a Word document. A `renegotiation_signature` needs a renegotiated operation ' +
    'or one that came out of a renegotiation. An operation holds at most 500 documents.',
  access: 'loans:write',
  bucket: 'loan_files',
  sandboxParameters: ['SandboxStrict', 'SandboxFail'],
  body: {
    schema: FilesData,
    example,
    dataPart: 'files_data',
    exampleFiles: ['contract.pdf'],
    limit: 16_384,
    fileTypes: `application/pdf, ${DOCX}`,
  },
  success: [
    {
      ...json(201, 'The documents are stored.', FilesReceipt),
      headers: REPLAYED,
    },
  ],
  errors: [...FILE_ERRORS, 'loan_not_found', 'operation_invalid_state'],
  crossCheck,
  fileNames: (body: FilesData) => body.documents.map(({ value }) => value),
  answer: async ({ loans }, context, { body, files }) =>
    outcomeReply(201, await loans.addDocuments(context, inputOf(body, files)), FilesReceipt.show),
});
