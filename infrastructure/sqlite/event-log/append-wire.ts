import type {
  AppendResult,
  EventToAppend,
  KeyClaim,
  StreamRevision,
} from '../../../application/ports/event-store.ts';
import {
  ConcurrencyError,
  KeyAlreadyClaimedError,
  OutcomeUnknownError,
  StoreUnavailableError,
} from '../../../application/ports/event-store.ts';
import type { LogPosition } from '../../../application/ports/event-store.ts';
import type { Cells } from './cells.ts';
import { numberCell, textCell } from './cells.ts';

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
const CELLS_PER_EVENT = 4;

export const toRevision = (revision: number): StreamRevision =>
  revision < 0 ? 'no_stream' : BigInt(revision);

export const encodeAppend = (
  stream: string,
  expected: StreamRevision,
  events: readonly EventToAppend[],
  claim: KeyClaim | undefined,
): Cells => {
  const cells: (string | number | null)[] = [
    stream,
    expected === 'no_stream' ? -1 : Number(expected),
    claim?.applicationId ?? null,
    claim?.endpoint ?? null,
    claim?.key ?? null,
  ];
  for (const event of events) cells.push(event.id, event.type, event.data, JSON.stringify(event.metadata));
  return cells;
};

export const decodeAppend = (cells: Cells): AppendRequest => {
  const events: StoredEvent[] = [];
  for (let at = HEADER; at < cells.length; at += CELLS_PER_EVENT)
    events.push({
      id: textCell(cells, at),
      type: textCell(cells, at + 1),
      data: textCell(cells, at + 2),
      metadata: textCell(cells, at + 3),
    });
  return {
    stream: textCell(cells, 0),
    expected: numberCell(cells, 1),
    claim: cells[2] === null ? undefined : [textCell(cells, 2), textCell(cells, 3), textCell(cells, 4)],
    events,
  };
};

/** @throws the port's error that the reply stands for */
export const resultOfAppend = (reply: Cells, stream: string, expected: StreamRevision): AppendResult => {
  const kind = reply[0] as AppendReply[0];
  switch (kind) {
    case 'stored':
    case 'repeated':
      return {
        revision: BigInt(numberCell(reply, 1)),
        position: String(numberCell(reply, 2)) as LogPosition,
      };
    case 'conflict':
      throw new ConcurrencyError(stream, expected, toRevision(numberCell(reply, 1)));
    case 'claimed':
      throw new KeyAlreadyClaimedError(textCell(reply, 1));
    case 'refused':
      throw new Error(textCell(reply, 1));
    case 'unknown':
      throw new OutcomeUnknownError(textCell(reply, 1));
    case 'unavailable':
      throw new StoreUnavailableError(textCell(reply, 1));
  }
};
