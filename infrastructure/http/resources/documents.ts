import { EARLIER_FILE_NAME, FILE_NAME, FILE_NAME_REFUSED } from '../../../application/loans/file-names.ts';
import {
  ACCEPTED_BEFORE,
  component,
  listOf,
  object,
  ref,
  refused,
} from '../../../application/schemas/schema.ts';
import type { TypeOf } from '../../../application/schemas/schema.ts';
import { DocumentKind, ProposalCode, isProposalCode } from '../../../application/schemas/values.ts';
import type { FieldViolation } from '../../../domain/shared/domain-error.ts';
import { asList, repetitions, textIn } from '../requests/request-rules.ts';
import { quoted } from '../../../application/schemas/parse-json.ts';
import type { AskedDocuments, DocumentsReceipt } from '../../../application/loans/add-documents.ts';
import type { ReceivedFile } from '../../../application/ports/document-store.ts';
import { shownComponent, shown } from '../../../application/schemas/shown-fields.ts';
import type { ShownFields } from '../../../application/schemas/shown-fields.ts';
import { DOCX, PDF, begun, disposition } from '../../support/stored-files.ts';
import { REPLAYED, ATTACHMENT, ETAG } from '../openapi/components/headers.ts';
import { json } from '../openapi/operation.ts';
import { outcomeReply, endpoint, forClient } from '../operation.ts';
import type { CrossCheck } from '../requests/request-rules.ts';
import { EXAMPLE } from '../../../application/schemas/example-values.ts';
import { StoredDocument } from '../../presenting/loan.ts';
import { OverShareError } from '../../../application/ports/busy-error.ts';
import { isMatched } from '../docs/served-content.ts';
import { HttpProblem } from '../errors/http-problem.ts';
import { Slots } from '../limits/slots.ts';
import type { SlotBounds } from '../limits/slots.ts';

export const FILE_ERRORS = [
  'missing_file',
  'unreferenced_file',
  'duplicate_file_name',
  'invalid_file',
] as const;

const BackingDocument = component('BackingDocument', {
  ...object({
    type: ref(DocumentKind),
    value: {
      type: 'string',
      pattern: FILE_NAME,
      description: 'Name of the uploaded file, exactly as it is sent with the file.',
      examples: ['ccb.pdf'],
      ...refused(FILE_NAME_REFUSED.code, FILE_NAME_REFUSED.message),
      [ACCEPTED_BEFORE]: EARLIER_FILE_NAME,
    },
  }),
  description: 'Ties an uploaded file to its purpose.',
});

export const BackingDocuments = component('BackingDocuments', {
  type: 'array',
  minItems: 1,
  maxItems: 20,
  ...listOf(ref(BackingDocument)),
  description: 'No file name twice; each entry has its file and each file its entry.',
  ...refused('invalid_count', 'must be a list of 1 to 20 documents'),
});
type BackingDocuments = TypeOf<typeof BackingDocuments>;

export const checkDocumentNames = (documents: unknown, field: string): readonly FieldViolation[] =>
  repetitions(asList(documents).map((entry) => textIn(entry, 'value'))).map(({ index, text }) => ({
    field: `${field}[${index}].value`,
    code: 'duplicate_document',
    message: `must name a file of its own; ${quoted(text)} appears before`,
  }));

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

const MOST_AT_ONCE = 32;

/** Documents on their way at once: each may hold an open file for as long as its reader is slow. None waits for another. */
const BOUNDS: SlotBounds = {
  application: { places: MOST_AT_ONCE, weight: Infinity },
  process: { places: Infinity, weight: Infinity },
  waiting: 0,
  waitMs: 0,
  leastWeight: 0,
  mostWeight: 0,
  refused: () =>
    new OverShareError(`at most ${MOST_AT_ONCE} documents of an application are sent at once`, 1),
};

const nobodyWaits = (): AbortSignal => new AbortController().signal;

export const readDocument = endpoint({
  id: 'readDocument',
  request: 'GET /loan/{originator_proposal_code}/documents/{document_id}',
  summary: 'Read a document',
  description:
    'The stored file, byte for byte, under its name. Nothing is left of it once the borrower is forgotten. Supports If-None-Match.',
  access: 'loans:read',
  parameters: ['ProposalCode', 'DocumentId'],
  success: [
    {
      status: 200,
      description: 'The content.',
      mediaType: PDF,
      otherMediaTypes: [DOCX],
      schema: { type: 'string', format: 'binary' },
      example: '(content of the file)',
      headers: { ...ATTACHMENT, ...ETAG },
    },
    { status: 304, description: 'What you have is what is stored.', headers: ETAG },
  ],
  errors: ['loan_not_found', 'document_not_found'],
  handler: ({ app: { loans } }) => {
    const downloads = new Slots(BOUNDS);
    return forClient(async (context, { params, req }) => {
      const { originator_proposal_code: code = '', document_id: id = '' } = params;
      if (!isProposalCode(code))
        throw new HttpProblem('loan_not_found', 'this application has no operation with this code');
      const slot = await downloads.enter(context.applicationId, 0, nobodyWaits);
      try {
        const { name, sha256, size, pieces } = await loans.document(context, code, id.toLowerCase());
        const etag = `"${sha256}"`;
        if (isMatched(req.headers['if-none-match'], etag)) {
          await pieces[Symbol.asyncIterator]().return?.();
          slot.leave();
          return { status: 304, headers: ['ETag', etag] };
        }
        const content = await begun(pieces, slot.leave);
        return {
          status: 200,
          content: { size, pieces: content.pieces },
          mediaType: content.mediaType,
          headers: ['Content-Disposition', disposition('attachment', name), 'ETag', etag],
        };
      } catch (error) {
        slot.leave();
        throw error;
      }
    });
  },
});
