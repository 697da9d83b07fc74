import { expect, test } from '@jest/globals';
import { collecting } from '../../../application/audit/difference.ts';
import { checkStream } from '../../../application/audit/stored-events.ts';
import { CHAIN_START, chainEvents } from '../../../application/event-codec/event-codec.ts';
import type { EventMetadata, LogPosition } from '../../../application/ports/event-store.ts';
import { sampleEvent, sampleMetadata } from '../../contracts/event-store-samples.ts';

const STREAM = 'loan-app.1';

/** What a stream with one event is found to have, whose metadata somebody added to after it was chained. */
const foundWith = (added: object, idempotency?: EventMetadata['idempotency']): readonly string[] => {
  const { hash: _, ...metadata } = sampleMetadata(idempotency && { idempotency });
  const [event] = chainEvents(CHAIN_START, STREAM, [{ ...sampleEvent(), metadata }]);
  const { differences, report } = collecting();
  const recorded = { ...event!, metadata: { ...event!.metadata, ...added } };
  checkStream(STREAM, [{ ...recorded, stream: STREAM, revision: 0n, position: '1' as LogPosition }], report);
  return differences.map(({ what }) => what);
};

test('a field beside those that the hash covers is found, wherever it stands', () => {
  const key = { endpoint: 'POST /installment/settle', key: 'k', fingerprint: 'f' };
  expect(foundWith({}, key)).toEqual([]);
  expect(foundWith({ note: 1 })).toEqual(['metadata.note']);
  expect(foundWith({ idempotency: { ...key, note: 1 } }, key)).toEqual(['metadata.idempotency.note']);
});
