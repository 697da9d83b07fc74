import type { LoanEvent } from '../../domain/loan/index.ts';
import { encodeEvent } from '../event-codec/event-codec.ts';
import { fieldDifferences, shown } from './difference.ts';
import type { Report } from './difference.ts';
import type { RenegotiationRecord } from './renegotiation-audit.ts';
import type { DecodedEvent } from './stored-events.ts';

const reportFields = (
  { stream, revision }: DecodedEvent<LoanEvent>['recorded'],
  [expected, found]: readonly [unknown, unknown],
  report: Report,
): void => {
  for (const { path, ...values } of fieldDifferences(expected, found)) {
    const place = { kind: 'renegotiation', stream, revision: Number(revision), what: path } as const;
    report({ ...place, expected: shown(path, values.expected), found: shown(path, values.found) });
  }
};

const payload = (event: LoanEvent): unknown => JSON.parse(encodeEvent(event).data);

type Refuse = (what: string, expected: string, found: string) => void;

const outcomeOf = ({ committed, aborted }: RenegotiationRecord): string =>
  committed ? 'committed' : aborted ? 'given up' : 'undecided';

const checkReservation = (
  { stream, revision }: DecodedEvent<LoanEvent>['recorded'],
  { committed }: RenegotiationRecord,
  refuse: Refuse,
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
  const { stream, revision } = recorded;
  const refuse: Refuse = (what, expected, actual) =>
    report({ kind: 'renegotiation', stream, revision: Number(revision), what, expected, found: actual });
  const outcome = outcomeOf(record);
  if (event.type === 'LoanReserved') checkReservation(recorded, record, refuse);
  if (event.type === 'LoanReservationReleased' && outcome !== 'given up')
    refuse('outcome', 'given up', outcome);
  if (event.type !== 'LoanRenegotiated' && event.type !== 'LoanReceived') return;
  if (!record.committed) return refuse('outcome', 'committed', outcome);
  const { renegotiation, committedAt: renegotiatedAt, received } = record.committed.event;
  const expected: LoanEvent =
    event.type === 'LoanReceived' ? received : { type: 'LoanRenegotiated', renegotiation, renegotiatedAt };
  reportFields(recorded, [payload(expected), payload(event)], report);
};

const renegotiationOf = (event: LoanEvent): string | undefined => {
  if (event.type === 'LoanReserved' || event.type === 'LoanReservationReleased') return event.renegotiationId;
  return 'renegotiation' in event ? event.renegotiation?.renegotiationId : undefined;
};

export const checkReservations = (
  events: readonly DecodedEvent<LoanEvent>[],
  records: ReadonlyMap<string, RenegotiationRecord>,
  report: Report,
): void => {
  if (records.size === 0) return;
  for (const found of events) {
    const record = records.get(renegotiationOf(found.event) ?? '');
    if (record) checkEvent(found, record, report);
  }
};
