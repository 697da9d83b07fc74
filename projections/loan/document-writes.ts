import type { LoanDocument } from '../../domain/loan/events.ts';
import type { TableWrite } from '../projection.ts';
import { privateColumn } from './private-column.ts';
import { advanceLoan } from './writes.ts';
import type { Place, Projected } from './writes.ts';

/** The documents that one event brought, in its order. */
export const insertDocuments = (
  { stream, revision }: Place,
  documents: readonly LoanDocument[],
): TableWrite => ({
  op: 'insert',
  table: 'document',
  rows: documents.map(({ documentId, type, value, sha256, size, receivedAt }, seq) => ({
    stream,
    document_id: documentId,
    revision: Number(revision),
    seq,
    type,
    value: privateColumn(value),
    sha256,
    size,
    received_at: receivedAt,
  })),
});

export const documentsAdded = (projected: Projected<'DocumentsAdded'>): readonly TableWrite[] => [
  insertDocuments(projected, projected.event.documents),
  advanceLoan(projected),
];
