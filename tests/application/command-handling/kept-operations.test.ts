import { describe, expect, test } from '@jest/globals';
import { advance, noOperation } from '../../../application/command-handling/operation.ts';
import type { Operation } from '../../../application/command-handling/operation.ts';
import { CHAIN_START, chainEvents, encodeEvent } from '../../../application/event-codec/event-codec.ts';
import { bytesOf, keptOperations } from '../../../application/command-handling/kept-operations.ts';
import { fold } from '../../../domain/loan/index.ts';
import type { LoanEvent } from '../../../domain/loan/index.ts';
import { cents } from '../../../domain/shared/money.ts';
import {
  NOW,
  activated,
  becameOverdue,
  installmentCode,
  paid,
  received,
} from '../../domain/support/loan-story.ts';

const of = (stream: string): Operation => {
  const metadata = {
    ...{ correlationId: 'c', causationId: 'c', actor: 'a', applicationId: 'app-1', recordedAt: NOW },
    idempotency: { endpoint: 'loan', key: stream, fingerprint: 'f'.repeat(64) },
  };
  const stored = activated.map((event, index) => ({ id: `${index}`, ...encodeEvent(event), metadata }));
  return advance(noOperation(), activated, chainEvents(CHAIN_START, stream, stored), 3n);
};

const OPERATION = of('loan-app-1.0');
const MOST = 40;

describe('kept operations', () => {
  test('come back as the very objects that were kept', () => {
    const kept = keptOperations(MOST * bytesOf(OPERATION));
    kept.set('loan-app-1.0', OPERATION);
    expect(kept.get('loan-app-1.0')).toBe(OPERATION);
    kept.delete('loan-app-1.0');
    expect(kept.get('loan-app-1.0')).toBeUndefined();
  });

  test('beyond their room those go that were not used for longest', () => {
    const kept = keptOperations(MOST * bytesOf(OPERATION));
    const streams = Array.from({ length: 1_000 }, (_, index) => `loan-app-1.${index}`);
    for (const stream of streams) kept.set(stream, OPERATION);
    const left = streams.filter((stream) => kept.get(stream) !== undefined);
    expect(left).toEqual(streams.slice(-left.length));
    expect(left.length).toBeGreaterThan(MOST / 2);
    expect(left.length).toBeLessThan(MOST);
  });

  const grown = (events: readonly LoanEvent[]): number =>
    bytesOf({ ...OPERATION, state: fold(OPERATION.state, events) }) - bytesOf(OPERATION);

  test('weigh more with every installment that something happened to, and with every key', () => {
    const one = grown([paid('001')]);
    expect(one).toBeGreaterThan(100);
    expect(grown([paid('001'), becameOverdue('002')])).toBe(2 * one);
    const keys = new Map(Array.from({ length: 1_000 }, (_, n) => [`${n}`, 'f']));
    expect(bytesOf({ ...OPERATION, accepted: keys })).toBeGreaterThan(bytesOf(OPERATION) + 100_000);
  });

  test('an installment that nothing happened to is a few bytes', () => {
    const installments = Array.from({ length: 480 }, (_, index) => ({
      code: installmentCode(String(index)),
      dueDate: received.dateIssued,
      faceValue: cents(95_000),
    }));
    const state = fold({ status: 'none' }, [{ ...received, installments }, ...activated.slice(1)]);
    expect(bytesOf({ ...noOperation(), state }) / 480).toBeLessThan(40);
  });
});
