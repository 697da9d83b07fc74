import type { Projection, TableWrite } from '../../projections/projection.ts';
import {
  LOAN_STREAM_PREFIX,
  ownerOf,
  loanStream,
  parseLoanStream,
  renegotiationStream,
  RENEGOTIATION_STREAM_PREFIX,
} from '../command-handling/operation.ts';
import type { QuarantinedStream } from '../ports/read-models.ts';
import type { HoldChange, Holding } from '../processors/processor.ts';
import type { RenegotiationId } from '../../domain/shared/identifiers.ts';
import type { RecordedEvent } from '../ports/event-store.ts';

const CODES = new Set(['original_proposal_code', 'original_proposal_codes', 'new_proposal_code']);

export const renegotiationIdOf = (stream: string): string | undefined =>
  stream.startsWith(RENEGOTIATION_STREAM_PREFIX)
    ? stream.slice(RENEGOTIATION_STREAM_PREFIX.length)
    : undefined;

/** As far as its text shows them: this program may not be able to read it. None for a text that is no JSON. */
export const operationsNamedBy = ({ data, metadata }: RecordedEvent): readonly string[] => {
  const named = new Set<string>();
  const look = (value: unknown, field: string): void => {
    if (typeof value === 'string') {
      if (CODES.has(field)) named.add(loanStream(metadata.applicationId, value));
      else if (parseLoanStream(value)?.applicationId === metadata.applicationId) named.add(value);
    } else if (typeof value === 'object' && value !== null) {
      for (const [name, inside] of Object.entries(value)) look(inside, Array.isArray(value) ? field : name);
    }
  };
  try {
    look(JSON.parse(data), '');
  } catch {
    // Damaged: what it names is learnt from the events of the operations.
  }
  return [...named];
};

const ID = /[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}/gu;

/** Streams of all that an event of an operation may name, whatever the field, readable or not: any id in it might be one's. */
export const renegotiationsNamedBy = ({ data }: RecordedEvent): readonly string[] =>
  (data.match(ID) ?? []).map((id) => renegotiationStream(id as RenegotiationId));

/** One row for each operation or renegotiation that waits, beside the rows of its projection, so that both change in one transaction. */
export const QUARANTINE_TABLE = 'quarantined_operation';

const isOperation = (stream: string): boolean => stream.startsWith(LOAN_STREAM_PREFIX);

export const streamsOf = (write: TableWrite): readonly string[] =>
  (write.op === 'insert' ? write.rows : [write.where]).map(({ stream }) => String(stream));

/** How operations and renegotiations wait for a read model; an operator's command releases them. */
export const readModelHolding: Holding<TableWrite> = {
  mayWait: (stream) => isOperation(stream) || renegotiationIdOf(stream) !== undefined,
  ownerOf,
  says: (stream) =>
    `${isOperation(stream) ? 'an operation' : 'a renegotiation with its operations'} waits in quarantine`,
  /** Operations that its event names wait at once, others from their next event that names it: no reader sees a half. */
  ties: {
    waitsFor: (event, writes, held) => {
      if (writes) {
        const streams = [...new Set(writes.flatMap(streamsOf).filter((stream) => held.has(stream)))];
        if (streams.length === 0) return undefined;
        return { streams, reason: `it writes rows of ${streams[0]}, which is in quarantine` };
      }
      if (!isOperation(event.stream)) return undefined;
      const stream = renegotiationsNamedBy(event).find((one) => held.has(one));
      return stream === undefined
        ? undefined
        : { streams: [stream], reason: `it belongs to ${stream}, which is in quarantine` };
    },
    along: (event, writes) =>
      renegotiationIdOf(event.stream) === undefined
        ? []
        : [...operationsNamedBy(event), ...writes.flatMap(streamsOf)],
  },
};

/** @throws Error for a release, which is not the projection's own work */
export const holdWrite = ({ name: projection }: Projection, change: HoldChange): TableWrite => {
  if (change.kind === 'remove') throw new Error('read models release nothing by themselves');
  if (change.kind === 'count') {
    const where = { projection, stream: change.stream };
    return {
      ...{ op: 'update', table: QUARANTINE_TABLE, where, set: {} },
      ...{ add: { waiting: change.by }, expect: 1 },
    };
  }
  const { stream, revision, eventType, position, reason } = change.hold;
  const row = { projection, stream, revision: Number(revision), event_type: eventType, position, reason };
  return { op: 'insert', table: QUARANTINE_TABLE, rows: [{ ...row, waiting: change.waiting }] };
};

/** Writes of the release of a stream: `from` must still be the event that keeps it waiting. */
export const releaseWrite = ({ name }: Projection, { stream, revision }: QuarantinedStream): TableWrite => ({
  op: 'delete',
  table: QUARANTINE_TABLE,
  where: { projection: name, stream, revision: Number(revision) },
  expect: 1,
});
