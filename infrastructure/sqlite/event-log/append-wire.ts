import {
  ConcurrencyError,
  KeyAlreadyClaimedError,
  OutcomeUnknownError,
  StoreUnavailableError,
} from '../../../application/ports/event-store.ts';
import type {
  AppendResult,
  EventToAppend,
  KeyClaim,
  LogPosition,
  StreamRevision,
} from '../../../application/ports/event-store.ts';

/** How appends and their answers cross the thread boundary: flat lists of primitives are cheap to clone, nested objects are not. */
export type Value = string | number | null;
export type Row = readonly Value[];

const textAt = (row: Row, index: number): string => {
  const value = row[index];
  if (typeof value !== 'string') throw new TypeError(`value ${index} is not a text`);
  return value;
};

const numberAt = (row: Row, index: number): number => {
  const value = row[index];
  if (typeof value !== 'number') throw new TypeError(`value ${index} is not a number`);
  return value;
};

/** An append as the writer thread sees it; revision -1 stands for a stream that does not exist. */
export interface AppendRequest {
  readonly stream: string;
  readonly expected: number;
  readonly claim: readonly [applicationId: string, endpoint: string, key: string] | undefined;
  readonly events: readonly StoredEvent[];
}

export interface StoredEvent {
  readonly id: string;
  readonly type: string;
  readonly data: string;
  readonly metadata: string;
}

export type AppendReply =
  | readonly ['stored' | 'repeated', revision: number, position: number]
  | readonly ['conflict', actual: number]
  | readonly ['claimed', stream: string]
  | readonly ['refused' | 'unavailable' | 'unknown', why: string];

const HEADER = 5;
const VALUES_PER_EVENT = 4;

export const toRevision = (revision: number): StreamRevision =>
  revision < 0 ? 'no_stream' : BigInt(revision);

export const encodeAppend = (
  stream: string,
  expected: StreamRevision,
  events: readonly EventToAppend[],
  claim: KeyClaim | undefined,
): Row => {
  const row: (string | number | null)[] = [
    stream,
    expected === 'no_stream' ? -1 : Number(expected),
    claim?.applicationId ?? null,
    claim?.endpoint ?? null,
    claim?.key ?? null,
  ];
  for (const event of events) row.push(event.id, event.type, event.data, JSON.stringify(event.metadata));
  return row;
};

export const decodeAppend = (row: Row): AppendRequest => {
  const events: StoredEvent[] = [];
  for (let at = HEADER; at < row.length; at += VALUES_PER_EVENT)
    events.push({
      id: textAt(row, at),
      type: textAt(row, at + 1),
      data: textAt(row, at + 2),
      metadata: textAt(row, at + 3),
    });
  return {
    stream: textAt(row, 0),
    expected: numberAt(row, 1),
    claim: row[2] === null ? undefined : [textAt(row, 2), textAt(row, 3), textAt(row, 4)],
    events,
  };
};

/** @throws the port's error that the reply stands for */
export const resultOfAppend = (reply: Row, stream: string, expected: StreamRevision): AppendResult => {
  const kind = reply[0] as AppendReply[0];
  switch (kind) {
    case 'stored':
    case 'repeated':
      return {
        revision: BigInt(numberAt(reply, 1)),
        position: String(numberAt(reply, 2)) as LogPosition,
      };
    case 'conflict':
      throw new ConcurrencyError(stream, expected, toRevision(numberAt(reply, 1)));
    case 'claimed':
      throw new KeyAlreadyClaimedError(textAt(reply, 1));
    case 'refused':
      throw new Error(textAt(reply, 1));
    case 'unknown':
      throw new OutcomeUnknownError(textAt(reply, 1));
    case 'unavailable':
      throw new StoreUnavailableError(textAt(reply, 1));
  }
};
