import type { DeskEvent } from '../../domain/desk/line.ts';
import { DESK_DAYS_STREAM } from '../desk/desk-streams.ts';
import { encodeEvent } from '../event-codec/event-codec.ts';
import type { RecordedEvent } from '../ports/event-store.ts';
import type { Difference, Report } from './difference.ts';
import { checkStream, decodeDesk } from './stored-events.ts';

const timeOf = (event: DeskEvent): string => (event.type === 'DeskDayBegun' ? event.begunAt : event.at);

/** Checks a stream of the desk log: nothing stands in it but lines, each with the time at which it was recorded and with fields that one has. */
export const auditDesk = (stream: string, events: readonly RecordedEvent[]): readonly Difference[] => {
  const differences: Difference[] = [];
  const report: Report = (difference) => void differences.push(difference);
  checkStream(stream, events, report);
  const wanted: DeskEvent['type'] = stream === DESK_DAYS_STREAM ? 'DeskDayBegun' : 'DeskLineWritten';
  for (const { event, recorded } of decodeDesk(events, report)) {
    const place = {
      kind: 'event',
      stream,
      revision: Number(recorded.revision),
      what: recorded.type,
    } as const;
    if (event.type !== wanted) report({ ...place, expected: wanted, found: event.type });
    const expected = encodeEvent(event).data;
    if (expected !== recorded.data) report({ ...place, expected, found: recorded.data });
    const { recordedAt } = recorded.metadata;
    if (timeOf(event) !== recordedAt)
      report({ ...place, what: 'metadata.recordedAt', expected: timeOf(event), found: recordedAt });
  }
  return differences;
};
