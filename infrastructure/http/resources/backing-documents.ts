import type { NamedDocument } from '../../../application/loans/inputs.ts';
import { component, listOf, object, ref, refused, schemasOf } from '../../../application/schemas/schema.ts';
import type { TypeOf } from '../../../application/schemas/schema.ts';
import { DocumentKind } from '../../../application/schemas/values.ts';
import type { FieldViolation } from '../../../domain/shared/domain-error.ts';
import { asList, quoted, repetitions, textIn } from '../requests/request-rules.ts';

export const PDF = 'application/pdf';
export const DOCX = 'application/vnd.openxmlformats-officedocument.wordprocessingml.document';

/** What may be wrong with the files of a form. */
export const FILE_ERRORS = [
  'missing_file',
  'unreferenced_file',
  'duplicate_file_name',
  'invalid_file',
] as const;

const FILE_NAME = '^[^/\\\\\\u0000-\\u001f\\u007f]{1,255}$';

const BackingDocument = component('BackingDocument', {
  ...object({
    type: ref(DocumentKind),
    value: {
      type: 'string',
      pattern: FILE_NAME,
      description: 'Name of the uploaded file, exactly as it is sent with the file.',
      examples: ['ccb.pdf'],
      ...refused(
        'invalid_file_name',
        'must be a file name of 1 to 255 characters without slash, backslash and control characters',
      ),
    },
  }),
  description: 'Ties an uploaded file to its purpose.',
});

/** Documents of a request, each with the name of its file. */
export const BackingDocuments = component('BackingDocuments', {
  type: 'array',
  minItems: 1,
  maxItems: 20,
  ...listOf(ref(BackingDocument)),
  description: 'No file name twice; each entry has its file and each file its entry.',
  ...refused('invalid_count', 'must be a list of 1 to 20 documents'),
});
type BackingDocuments = TypeOf<typeof BackingDocuments>;
export const backingDocumentSchemas = schemasOf(BackingDocument, BackingDocuments);

export const checkDocumentNames = (documents: unknown, field: string): readonly FieldViolation[] =>
  repetitions(asList(documents).map((entry) => textIn(entry, 'value'))).map(({ index, text }) => ({
    field: `${field}[${index}].value`,
    code: 'duplicate_document',
    message: `must name a file of its own; ${quoted(text)} appears before`,
  }));

export const namedDocuments = (documents: BackingDocuments): readonly NamedDocument[] =>
  documents.map(({ type, value }) => ({ type, value }));
