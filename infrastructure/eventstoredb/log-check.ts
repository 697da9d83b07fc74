import type { LogPosition, RecordedEvent } from '../../application/ports/event-store.ts';
import { StoreUnavailableError } from '../../application/ports/event-store.ts';
import { isAccessDenied } from './failures.ts';
import { fromLogPosition, isLater } from './log-position.ts';
import type { StreamReader } from './stream-reader.ts';

/** What a server answers that finds no record where it looks for one. */
const NO_RECORD_THERE = /Exception was thrown by handler|Unexpected Read\w*Result/;

const MENDING =
  'If an older state of the log was restored, restore the other stores to the same time, or run `projections rebuild`; if EVENTSTORE_URL names another server than before, correct it';

const misfit = (from: LogPosition, reason: string): RangeError =>
  new RangeError(`position ${from} does not fit this event log: ${reason}. ${MENDING}`);

/** The log cannot be followed, and waiting alone is not known to help: whoever follows it has to hear of that. */
export class UnreadableLogError extends StoreUnavailableError {}

export const notAllowed = (error: unknown): UnreadableLogError =>
  new UnreadableLogError(
    'EventStoreDB: the user of EVENTSTORE_URL may not read $all. An administrator of the server lets it: docs/eventstoredb.md has the command',
    { cause: error },
  );

/** The log's last event. @throws UnreadableLogError the user may not read the log */
export const endOf = async (reader: StreamReader): Promise<RecordedEvent | undefined> => {
  try {
    return await reader.ofLog('end');
  } catch (error) {
    throw isAccessDenied(causeOf(error)) ? notAllowed(causeOf(error)) : error;
  }
};

const causeOf = (error: unknown): unknown => (error instanceof StoreUnavailableError ? error.cause : error);

/**
 * A server follows a position of another log, or one beyond its end, without a word, and leaves out what lies between: so the log's
 * end and the record at the position are looked at before anything is read on from there.
 *
 * @throws RangeError it is not a place in this log
 * @throws StoreUnavailableError the log cannot be read now, or not by this user
 */
export const ensureFits = async (reader: StreamReader, from: LogPosition | 'start'): Promise<void> => {
  if (from === 'start') return;
  const position = fromLogPosition(from);
  try {
    const end = await endOf(reader);
    if (!end || isLater(from, end.position))
      throw misfit(from, `it lies beyond the end (${end?.position ?? 'empty'})`);
    // A record that a scavenge removed leaves the next one in its place.
    if (!(await reader.ofLog(position))) throw misfit(from, 'nothing stands there');
  } catch (error) {
    const cause = causeOf(error);
    if (isAccessDenied(cause)) throw notAllowed(cause);
    if (cause instanceof Error && NO_RECORD_THERE.test(cause.message))
      throw misfit(from, 'it is in the middle of a record');
    throw error;
  }
};
