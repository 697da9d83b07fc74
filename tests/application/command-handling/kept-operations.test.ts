import { describe, expect, test } from '@jest/globals';
import { advance, noOperation } from '../../../application/command-handling/operation.ts';
import type { Operation } from '../../../application/command-handling/operation.ts';
import { liveBytes } from '../../../application/command-handling/packed-operation.ts';
import { CHAIN_START, chainEvents, encodeEvent } from '../../../application/event-codec/event-codec.ts';
import { KeptOperations } from '../../../application/command-handling/kept-operations.ts';
import { NOW, activated } from '../../domain/support/loan-story.ts';

const of = (stream: string): Operation => {
  const metadata = {
    ...{ correlationId: 'c', causationId: 'c', actor: 'a', applicationId: 'app-1', recordedAt: NOW },
    idempotency: { endpoint: 'loan', key: stream, fingerprint: 'f'.repeat(64) },
  };
  const stored = activated.map((event, index) => ({ id: `${index}`, ...encodeEvent(event), metadata }));
  return advance(noOperation(), activated, chainEvents(CHAIN_START, stream, stored), 3n);
};

const OPERATION = of('loan-app-1.0');
const ROOM_FOR_FOUR = liveBytes(OPERATION) * 4 * 4.2;

describe('kept operations', () => {
  test('come back as they were, out of use as well', () => {
    const kept = new KeptOperations(ROOM_FOR_FOUR);
    const streams = Array.from({ length: 20 }, (_, index) => `loan-app-1.${index}`);
    for (const stream of streams) kept.set(stream, of(stream));
    for (const stream of streams) expect(kept.get(stream)).toStrictEqual(of(stream));
  });

  test('are the same object as long as they are in use, so that a warm command pays for nothing', () => {
    const kept = new KeptOperations(ROOM_FOR_FOUR);
    kept.set('loan-app-1.0', OPERATION);
    expect(kept.get('loan-app-1.0')).toBe(OPERATION);
  });

  test('beyond their room those go that were not used for longest', () => {
    const kept = new KeptOperations(ROOM_FOR_FOUR);
    for (let index = 0; index < 1_000; index++) kept.set(`loan-app-1.${index}`, OPERATION);
    const left = Array.from({ length: 1_000 }, (_, index) => index).filter(
      (index) => kept.get(`loan-app-1.${index}`) !== undefined,
    );
    expect(left[0]).toBeGreaterThan(900);
    expect(left.length).toBeGreaterThan(8);
  });

  test('what was set last is what comes back, never an earlier state that was packed meanwhile', () => {
    const kept = new KeptOperations(ROOM_FOR_FOUR);
    kept.set('loan-app-1.0', OPERATION);
    for (let index = 1; index < 10; index++) kept.set(`loan-app-1.${index}`, OPERATION);
    const later = { ...OPERATION, revision: 4n };
    kept.set('loan-app-1.0', later);
    for (let index = 1; index < 10; index++) kept.set(`loan-app-1.${index}`, OPERATION);
    expect(kept.get('loan-app-1.0')?.revision).toBe(4n);
    kept.delete('loan-app-1.0');
    expect(kept.get('loan-app-1.0')).toBeUndefined();
  });
});
