import type { DeskEvent } from '../../domain/desk/line.ts';
import { DESK_DAYS_STREAM } from '../desk/desk-streams.ts';
import { encodeEvent } from '../event-codec/event-codec.ts';
import type { RecordedEvent } from '../ports/event-store.ts';
import type { Difference } from './difference.ts';
import { decodeDesk, differencesIn } from './stored-events.ts';

const timeOf = (event: DeskEvent): string => (event.type === 'DeskDayBegun' ? event.begunAt : event.at);

/** Checks a stream of the desk log: nothing stands in it but lines, each with the time at which it was recorded and with fields that one has. */
export const auditDesk = (stream: string, events: readonly RecordedEvent[]): readonly Difference[] => {
  const wanted: DeskEvent['type'] = stream === DESK_DAYS_STREAM ? 'DeskDayBegun' : 'DeskLineWritten';
  return differencesIn(stream, events, (report) => {
    for (const { event, recorded } of decodeDesk(events, report)) {
      const { revision, type, data, metadata } = recorded;
      const place = { kind: 'event', stream, revision: Number(revision), what: type } as const;
      if (event.type !== wanted) report({ ...place, expected: wanted, found: event.type });
      const expected = encodeEvent(event).data;
      if (expected !== data) report({ ...place, expected, found: data });
      const [at, found] = [timeOf(event), metadata.recordedAt];
      if (at !== found) report({ ...place, what: 'metadata.recordedAt', expected: at, found });
    }
  });
};
