import { describe, expect, test } from '@jest/globals';
import type { PublicEvent } from '../../../application/ports/event-bus.ts';
import type { LogPosition } from '../../../application/ports/event-store.ts';
import {
  UnreadableMessageError,
  fromBusMessage,
  toBusMessage,
} from '../../../application/publication/bus-message.ts';

const body =
  '{"event":"loan_received","event_id":"5c0f9a52-7f6b-4a3c-8a37-1e2d3c4b5a69","originator_proposal_code":"OP-1",' +
  '"fund_id":"6f1c2f0e-8f57-4f0e-9d5e-3a8a0f6f2b11","timestamp":"2026-06-20T12:00:00.000Z","sequence":3,' +
  '"api_version":"2026.6.0","data":{"acquisition_value":950.00}}';
const event: PublicEvent = {
  eventId: '5c0f9a52-7f6b-4a3c-8a37-1e2d3c4b5a69',
  name: 'loan_received',
  applicationId: 'acme',
  fundId: '6f1c2f0e-8f57-4f0e-9d5e-3a8a0f6f2b11',
  code: 'OP-1',
  sequence: 3,
  timestamp: '2026-06-20T12:00:00.000Z',
  body,
};

describe('a message on the bus', () => {
  test('is the body byte for byte, and gives the event back', () => {
    const message = toBusMessage(event);
    expect([message.key, message.value]).toEqual(['acme.OP-1', body]);
    expect(fromBusMessage(message)).toEqual(event);
  });

  test('says where the event stands in the log, where that is known', () => {
    const placed = { ...event, position: '700/699' as LogPosition };
    const message = toBusMessage(placed);
    expect([message.value, message.headers.log_position]).toEqual([body, '700/699']);
    expect(fromBusMessage(message)).toEqual(placed);
  });

  test.each<[string, { value?: string; headers?: Record<string, string> }]>([
    ['no JSON', { value: '{' }],
    ['no object', { value: '17' }],
    ['a body without its sequence', { value: body.replace('"sequence":3,', '') }],
    ['a sequence before the first', { value: body.replace('"sequence":3', '"sequence":-3') }],
    ['a body without its operation', { value: body.replace('"OP-1"', 'null') }],
    ['a newer version', { headers: { ...toBusMessage(event).headers, schema_version: '2' } }],
    ['no version', { headers: { application_id: 'acme' } }],
    ['a NUL in its operation', { value: body.replace('OP-1', 'OP\\u0000') }],
    ['half a character in its operation', { value: body.replace('OP-1', 'OP\\ud800') }],
    ['a NUL in its application', { headers: { ...toBusMessage(event).headers, application_id: 'a\0' } }],
    ['no application', { headers: { schema_version: '1' } }],
  ])('with %s is unreadable', (_, change) => {
    expect(() => fromBusMessage({ ...toBusMessage(event), ...change })).toThrow(UnreadableMessageError);
  });
});
