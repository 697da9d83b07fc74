import { messageOf } from '../support/failures.ts';
import type { ProjectedEvent, Projection } from '../../projections/projection.ts';
import { parseLoanStream } from '../command-handling/operation.ts';
import type { PublicEvent } from '../ports/event-bus.ts';
import type { RecordedEvent, EventStore } from '../ports/event-store.ts';
import { FEED, PAYMENTS } from '../projecting/stored-rows.ts';
import { toPublicEvent } from '../publication/public-events.ts';
import { DecisionCheck } from './check-decisions.ts';
import { checkReservations } from './renegotiation-audit.ts';
import { decodeOperation, toProjected } from './stored-events.ts';
import type { DecodedEvent } from './stored-events.ts';
import { deriveRows } from './compare-derived.ts';
import type { Rows } from './compare-derived.ts';
import type { Report } from './difference.ts';
import type { RenegotiationRecord } from './renegotiation-audit.ts';
import type { LoanEvent } from '../../domain/loan/events.ts';
import { DamagedDocumentError } from '../ports/document-store.ts';
import type { DocumentStore } from '../ports/document-store.ts';
import { telling } from './difference.ts';

export interface OperationAudit {
  readonly stream: string;
  readonly events: readonly RecordedEvent[];
  readonly decoded: readonly DecodedEvent<LoanEvent>[];
  /** Undefined for a code that was only ever reserved. */
  readonly fundId: string | undefined;
  readonly publicEvents: readonly PublicEvent[];
  readonly rows: Rows;
}

/** A commit changes the rows of all its operations, a successor's disbursement those of the operations it replaced. */
const withOthers = (
  stream: string,
  events: readonly DecodedEvent<LoanEvent>[],
  records: ReadonlyMap<string, RenegotiationRecord>,
): readonly ProjectedEvent[] => {
  const projected = events.flatMap((one) => {
    const { event } = one;
    const record = event.type === 'LoanReserved' ? records.get(event.renegotiationId) : undefined;
    return record?.committed ? [toProjected(one), toProjected(record.committed)] : [toProjected(one)];
  });
  const disbursements = [...records.values()].flatMap(({ disbursement }) =>
    disbursement && disbursement.recorded.stream !== stream ? [toProjected(disbursement)] : [],
  );
  return [...projected, ...disbursements];
};

export const placedRows = (operation: Pick<OperationAudit, 'rows'> | undefined) => ({
  payments: operation?.rows.get(PAYMENTS)?.length ?? 0,
  inFeed: operation?.rows.get(FEED)?.length ?? 0,
});

const publicEventOf = (
  { recorded, event }: DecodedEvent<LoanEvent>,
  fundId: string,
  apiVersion: string,
): PublicEvent | undefined => {
  const { applicationId, code } = parseLoanStream(recorded.stream)!;
  const { id: eventId, revision, metadata } = recorded;
  const place = { eventId, applicationId, fundId, code, revision, recordedAt: metadata.recordedAt };
  return toPublicEvent(event, place, apiVersion);
};

/** Rows that cannot be derived are a difference as well; the rest of the audit goes on. */
const attempt = <T>(
  { stream, what, report }: { readonly stream: string; readonly what: string; readonly report: Report },
  act: () => T,
  otherwise: T,
): T => {
  try {
    return act();
  } catch (error) {
    const found = messageOf(error);
    report({ kind: 'event', stream, revision: null, what, expected: 'something that can be derived', found });
    return otherwise;
  }
};

export const auditOperation = (
  { stream, events }: { readonly stream: string; readonly events: readonly RecordedEvent[] },
  records: ReadonlyMap<string, RenegotiationRecord>,
  {
    projections,
    apiVersion,
  }: {
    readonly projections: readonly Pick<Projection, 'project'>[];
    readonly apiVersion: string;
  },
  report: Report,
): OperationAudit => {
  const decoded = decodeOperation(events, report);
  const decisions = new DecisionCheck(stream, report);
  for (const one of decoded) decisions.take(one);
  decisions.end(stream, events.length - 1);
  checkReservations(decoded, records, report);
  const reception = decoded.find(({ event }) => event.type === 'LoanReceived')?.event;
  const fundId = reception?.type === 'LoanReceived' ? reception.fundId : undefined;
  const derive = () => deriveRows(stream, projections, withOthers(stream, decoded, records));
  const rows = attempt<Rows>({ stream, what: 'rows', report }, derive, new Map());
  const translate = () =>
    fundId === undefined ? [] : decoded.flatMap((one) => publicEventOf(one, fundId, apiVersion) ?? []);
  const publicEvents = attempt<readonly PublicEvent[]>(
    { stream, what: 'public events', report },
    translate,
    [],
  );
  return { stream, events, decoded, fundId, publicEvents, rows };
};

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
