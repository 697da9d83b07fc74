import type { LoanEvent } from '../../domain/loan/events.ts';
import { DamagedDocumentError } from '../ports/document-store.ts';
import type { DocumentStore } from '../ports/document-store.ts';
import type { EventStore } from '../ports/event-store.ts';
import { telling } from './difference.ts';
import type { Report } from './difference.ts';
import type { OperationAudit } from './operation-audit.ts';
import { decodeOperation } from './stored-events.ts';
import type { DecodedEvent } from './stored-events.ts';

interface Stores {
  readonly events: Pick<EventStore, 'read'>;
  readonly documents: Pick<DocumentStore, 'open'>;
}

const isForgotten = (decoded: readonly DecodedEvent<LoanEvent>[]): boolean =>
  decoded.some(({ event }) => event.type === 'BorrowerForgotten');

/** Forgetting is recorded before a key or a file goes: what was there when the stream was read may be gone by now. */
const isForgottenNow = async ({ events }: Stores, stream: string): Promise<boolean> =>
  isForgotten(decodeOperation((await events.read(stream)).events, () => undefined));

const text = (size: number, sha256: string): string => `${size} bytes with SHA-256 ${sha256}`;

const contentAt = async ({ documents }: Stores, stream: string, sha256: string): Promise<string> => {
  const content = await documents.open(stream, sha256);
  if (content === undefined) return 'no file that the key of the operation opens';
  let size = 0;
  try {
    // The store itself hashes what it opens, and gives no last piece of what has another digest.
    for await (const piece of content.pieces) size += piece.length;
  } catch (error) {
    if (error instanceof DamagedDocumentError) return 'a file that was damaged or changed';
    throw error;
  }
  return text(size, sha256);
};

/** Of a borrower who was forgotten there are none. @throws what the store throws, which says nothing about a file */
export const checkDocuments = async (
  stores: Stores,
  operations: readonly OperationAudit[],
  report: Report,
  signal?: AbortSignal,
): Promise<number> => {
  let read = 0;
  for (const { stream, decoded } of operations) {
    if (isForgotten(decoded)) continue;
    for (const { event, recorded } of decoded)
      for (const { documentId, sha256, size } of 'documents' in event ? event.documents : []) {
        signal?.throwIfAborted();
        const [expected, found] = [text(size, sha256), await contentAt(stores, stream, sha256)];
        if (found !== expected && (await isForgottenNow(stores, stream))) continue;
        read += 1;
        if (found !== expected)
          telling(report, 'document', recorded)(`file of document ${documentId}`, expected, found);
      }
  }
  return read;
};
