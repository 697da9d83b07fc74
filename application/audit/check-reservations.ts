import type { LoanEvent } from '../../domain/loan/index.ts';
import { encodeEvent } from '../event-codec/event-codec.ts';
import { tellFields, telling } from './difference.ts';
import type { Report, Tell } from './difference.ts';
import { renegotiationNamedBy } from './renegotiation-audit.ts';
import type { RenegotiationRecord } from './renegotiation-audit.ts';
import type { DecodedEvent } from './stored-events.ts';

const payload = (event: LoanEvent): unknown => JSON.parse(encodeEvent(event).data);

const outcomeOf = ({ committed, aborted }: RenegotiationRecord): string =>
  committed ? 'committed' : aborted ? 'given up' : 'undecided';

const checkReservation = (
  { stream, revision }: DecodedEvent<LoanEvent>['recorded'],
  { committed }: RenegotiationRecord,
  refuse: Tell,
): void => {
  if (!committed) return;
  const { originals, newLoan } = committed.event;
  const place = [...originals, newLoan].find((one) => one.stream === stream);
  if (place?.revision === Number(revision)) return;
  refuse('reservation', `at revision ${place?.revision ?? '(nowhere)'}`, `at revision ${revision}`);
};

/** What one event of an operation says of a renegotiation must be what the renegotiation says of the operation. */
const checkEvent = (found: DecodedEvent<LoanEvent>, record: RenegotiationRecord, report: Report): void => {
  const { event, recorded } = found;
  const refuse = telling(report, 'renegotiation', recorded);
  const outcome = outcomeOf(record);
  if (event.type === 'LoanReserved') checkReservation(recorded, record, refuse);
  if (event.type === 'LoanReservationReleased' && outcome !== 'given up')
    refuse('outcome', 'given up', outcome);
  if (event.type !== 'LoanRenegotiated' && event.type !== 'LoanReceived') return;
  if (!record.committed) return refuse('outcome', 'committed', outcome);
  const { renegotiation, committedAt: renegotiatedAt, received } = record.committed.event;
  const expected: LoanEvent =
    event.type === 'LoanReceived' ? received : { type: 'LoanRenegotiated', renegotiation, renegotiatedAt };
  tellFields(refuse, payload(expected), payload(event));
};

export const checkReservations = (
  events: readonly DecodedEvent<LoanEvent>[],
  records: ReadonlyMap<string, RenegotiationRecord>,
  report: Report,
): void => {
  if (records.size === 0) return;
  for (const found of events) {
    const record = records.get(renegotiationNamedBy(found.event) ?? '');
    if (record) checkEvent(found, record, report);
  }
};
