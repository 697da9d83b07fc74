import { auditBesideOperations } from '../../application/audit/beside-operations.ts';
import { collecting } from '../../application/audit/difference.ts';
import type { Difference } from '../../application/audit/difference.ts';
import { checkStream } from '../../application/audit/stored-events.ts';
import type { RecordedEvent } from '../../application/ports/event-store.ts';

/** What an audit finds in a stream of funds or of the desk; undefined for any other. */
export const foundBeside = (
  stream: string,
  events: readonly RecordedEvent[],
): readonly Difference[] | undefined => {
  const { differences, report } = collecting();
  checkStream(stream, events, report);
  return auditBesideOperations(stream, events, report) ? differences : undefined;
};
