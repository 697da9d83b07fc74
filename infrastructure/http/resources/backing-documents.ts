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
import { DocumentKind } from '../../../application/schemas/values.ts';
import type { FieldViolation } from '../../../domain/shared/domain-error.ts';
import { asList, repetitions, textIn } from '../requests/request-rules.ts';
import { quoted } from '../../../application/schemas/parse-json.ts';

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
