import { decodeDocument, encodeDocument } from './assignment-entries.ts';
import type { EventEntry } from './event-entry.ts';
import { list, text } from './payload.ts';

export const documentsAdded: EventEntry<'DocumentsAdded'> = {
  storedType: 'loan.documents_added.v1',
  encode: (event) => ({ documents: event.documents.map(encodeDocument), added_at: event.addedAt }),
  decode: (p) => ({
    type: 'DocumentsAdded',
    documents: list(p, 'documents', decodeDocument),
    addedAt: text(p, 'added_at'),
  }),
};
