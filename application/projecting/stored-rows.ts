import type { Row, Value } from '../../projections/projection.ts';

/** What rows of an operation take over from it: its number, in place of its stream, and its fund. */
export interface OperationKey {
  readonly id: number;
  readonly fundId: string;
}

const BY_STREAM: ReadonlySet<string> = new Set(['loan', 'published_event', 'quarantined_operation']);
/** The one table that lies by fund. */
export const PAYMENTS = 'payment';
/** The one that lies by application. */
export const FEED = 'feed';

/** Whether the rows of an operation lie apart, so that only their keys find them. */
export const isPlaced = (table: string): boolean => table === PAYMENTS || table === FEED;

export const isByOperation = (table: string): boolean => !BY_STREAM.has(table);

export const storedRow = (table: string, row: Row, { id, fundId }: OperationKey): Row => {
  const stored: Record<string, Value> =
    table === PAYMENTS ? { fund_id: fundId, operation: id } : { operation: id };
  // Of every row that is written: the rest of a destructured row costs three times as much.
  for (const column in row) if (column !== 'stream') stored[column] = row[column]!;
  return stored;
};
