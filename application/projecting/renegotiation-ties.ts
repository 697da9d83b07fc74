import type { RenegotiationId } from '../../domain/shared/identifiers.ts';
import {
  loanStream,
  parseLoanStream,
  renegotiationStream,
  RENEGOTIATION_STREAM_PREFIX,
} from '../command-handling/operation.ts';
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
