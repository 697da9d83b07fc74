import type { DeskEvent } from '../../domain/desk/line.ts';
import { DESK_DAYS_STREAM } from '../desk/desk-streams.ts';
import { encodeEvent } from '../event-codec/event-codec.ts';
import type { RecordedEvent } from '../ports/event-store.ts';
import { telling } from './difference.ts';
import type { Difference } from './difference.ts';
import { decodeDesk, differencesIn } from './stored-events.ts';

const timeOf = (event: DeskEvent): string => (event.type === 'DeskDayBegun' ? event.begunAt : event.at);

/** Checks a stream of the desk log: nothing stands in it but lines, each with the time at which it was recorded and with fields that one has. */
export const auditDesk = (stream: string, events: readonly RecordedEvent[]): readonly Difference[] => {
  const wanted: DeskEvent['type'] = stream === DESK_DAYS_STREAM ? 'DeskDayBegun' : 'DeskLineWritten';
  return differencesIn(stream, events, (report) => {
    for (const { event, recorded } of decodeDesk(events, report)) {
      const { type, data, metadata } = recorded;
      const tell = telling(report, 'event', recorded);
      if (event.type !== wanted) tell(type, wanted, event.type);
      const expected = encodeEvent(event).data;
      if (expected !== data) tell(type, expected, data);
      const [at, found] = [timeOf(event), metadata.recordedAt];
      if (at !== found) tell('metadata.recordedAt', at, found);
    }
  });
};
