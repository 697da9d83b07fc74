import { readFileSync, readdirSync } from 'node:fs';
import { describe, expect, test } from '@jest/globals';
import type { JsonText } from '../../../application/ports/event-store.ts';
import {
  encodeEvent,
  fromLogPosition,
  sizeOfAppend,
  toLogPosition,
} from '../../../infrastructure/eventstoredb/event-wire.ts';
import {
  failureOf,
  newClaim,
  newPrefix,
  sampleEvent,
  sampleMetadata,
} from '../../contracts/event-store-samples.ts';
import { openAtStandIn } from '../../support/eventstoredb/open-store.ts';

const folder = new URL('../../fixtures/stored-events/', import.meta.url);
const shipped = readdirSync(folder).map((name) => {
  const { stored } = JSON.parse(readFileSync(new URL(name, folder), 'utf8')) as { stored: object };
  return [name, JSON.stringify(stored)] as const;
});

describe('the text of an event', () => {
  test.each(shipped)('%s is JSON to the server, so that its own tools show it', (_, text) => {
    expect(encodeEvent(sampleEvent(text)).contentType).toBe('application/json');
  });

  test('comes back as it was, character by character', async () => {
    await using at = await openAtStandIn();
    const prefix = newPrefix();
    const texts = [
      '{"a": 1}',
      '{"a":1.0}',
      '{"a":12345678901234567890}',
      '{"b":1,"b":2}',
      '{"2":0,"1":0}',
      '{"a":"\\u00e7"}',
      '17',
      '"text"',
      'null',
      'no JSON',
      '\ufeff{}',
    ] as const;
    const read = texts.map(async (text, i) => {
      await at.store.append(`${prefix}${i}`, 'no_stream', [sampleEvent(text)]);
      return (await at.store.read(`${prefix}${i}`)).events[0]?.data;
    });
    expect(await Promise.all(read)).toEqual(texts);
  });

  test.each(['17', '"text"', 'null', 'no JSON'])('%s is no object of JSON, and goes as bytes', (text) => {
    expect(encodeEvent(sampleEvent(text)).contentType).toBe('application/octet-stream');
  });

  test('that no encoding can hold is refused, and with it a key leaves nothing behind', async () => {
    await using at = await openAtStandIn();
    const ill = sampleEvent('"\ud800"');
    const error = await failureOf(at.store.append(`${newPrefix()}A`, 'no_stream', [ill], newClaim()));
    expect(error).toBeInstanceOf(RangeError);
    expect(at.server.log.events).toEqual([]);
  });

  test('or metadata that no JSON can hold fails at once, where the client would wait for ever', async () => {
    await using at = await openAtStandIn();
    const metadata = { ...sampleMetadata(), actor: 1n as unknown as string };
    const odd = { ...sampleEvent(), metadata };
    expect(await failureOf(at.store.append(`${newPrefix()}A`, 'no_stream', [odd]))).toBeInstanceOf(TypeError);
  });

  test('counts with its metadata towards the size of an append', () => {
    const plain = sampleEvent('{}');
    const longer = { ...plain, data: '{"a":"é"}' as JsonText };
    expect(sizeOfAppend([longer]) - sizeOfAppend([plain])).toBe(8);
    expect(sizeOfAppend([plain, plain])).toBe(2 * sizeOfAppend([plain]));
    expect(sizeOfAppend([plain])).toBeGreaterThan(JSON.stringify(plain.metadata).length);
  });
});

test('a position keeps both of its parts, however large', () => {
  const position = { commit: 2n ** 63n - 1n, prepare: 2n ** 53n + 1n };
  expect(fromLogPosition(toLogPosition(position.commit, position.prepare))).toEqual(position);
});
