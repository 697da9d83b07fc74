import { component, object, ref } from '../../../application/schemas/schema.ts';
import { DocumentKind, Timestamp } from '../../../application/schemas/values.ts';

export const StoredDocument = component(
  'StoredDocument',
  object({
    document_id: { type: 'string', format: 'uuid', description: 'Our name for it.' },
    type: ref(DocumentKind),
    value: {
      type: ['string', 'null'],
      description: 'File name; null after the personal data was erased.',
      examples: ['ccb.pdf'],
    },
    sha256: { type: 'string', pattern: '^[0-9a-f]{64}$', description: 'Digest of the stored content.' },
    size: { type: 'integer', minimum: 0, description: 'Bytes.' },
    received_at: ref(Timestamp),
  }),
);
