import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { CHAIN_START, chainEvents, findBrokenLink } from '../../../application/event-codec/event-codec.ts';
import type { EventToAppend, JsonText } from '../../../application/ports/event-store.ts';

const unchained = fc.record({
  id: fc.uuid(),
  type: fc.constantFrom('loan.approved.v1', 'installment.settled.v1'),
  data: fc.json().map((text) => text as JsonText),
  metadata: fc.record(
    {
      correlationId: fc.string(),
      causationId: fc.string(),
      actor: fc.string(),
      applicationId: fc.string(),
      recordedAt: fc.string(),
      idempotency: fc.record({ endpoint: fc.string(), key: fc.string(), fingerprint: fc.string() }),
      fundId: fc.string(),
    },
    { requiredKeys: ['correlationId', 'causationId', 'actor', 'applicationId', 'recordedAt'] },
  ),
});
const chains = fc
  .array(unchained, { minLength: 1, maxLength: 6 })
  .map((events) => chainEvents(CHAIN_START, 'loan-a.1', events));

/** Every place of an event where text stands, as a function that changes it. */
const tamperings: readonly ((event: EventToAppend) => EventToAppend)[] = [
  (e) => ({ ...e, id: `${e.id}x` }),
  (e) => ({ ...e, type: `${e.type}x` }),
  (e) => ({ ...e, data: `${e.data} ` as JsonText }),
  ...(['correlationId', 'causationId', 'actor', 'applicationId', 'recordedAt', 'hash'] as const).map(
    (field) => (e: EventToAppend) => ({
      ...e,
      metadata: { ...e.metadata, [field]: `${e.metadata[field]}x` },
    }),
  ),
  (e) => ({ ...e, metadata: { ...e.metadata, fundId: `${e.metadata.fundId ?? ''}x` } }),
  (e) => ({ ...e, metadata: { ...e.metadata, idempotency: { endpoint: 'x', key: 'y', fingerprint: 'z1' } } }),
];

describe('hash chain of a stream', () => {
  test('a chain as it was written holds', () => {
    fc.assert(fc.property(chains, (chain) => expect(findBrokenLink('loan-a.1', chain)).toBe(-1)));
  });

  test('a change anywhere in any event is found at that event', () => {
    fc.assert(
      fc.property(chains, fc.nat(), fc.constantFrom(...tamperings), (chain, n, tamper) => {
        const index = n % chain.length;
        const tampered = chain.with(index, tamper(chain[index]!));
        expect(findBrokenLink('loan-a.1', tampered)).toBe(index);
      }),
    );
  });

  test('an event left out, two swapped, or a chain moved to another stream are found', () => {
    fc.assert(
      fc.property(chains, fc.nat(), (chain, n) => {
        const index = n % chain.length;
        if (index < chain.length - 1) {
          expect(findBrokenLink('loan-a.1', chain.toSpliced(index, 1))).toBe(index);
          expect(
            findBrokenLink('loan-a.1', chain.toSpliced(index, 2, chain[index + 1]!, chain[index]!)),
          ).toBe(index);
        }
        expect(findBrokenLink('loan-a.2', chain)).toBe(0);
      }),
    );
  });

  test('text moved from one field to its neighbour gives another hash', () => {
    const event = {
      id: 'a',
      type: 'bc',
      data: '{}' as JsonText,
      metadata: { correlationId: 'x', causationId: 'y', actor: 'z', applicationId: 'p', recordedAt: 'q' },
    };
    const [one] = chainEvents(CHAIN_START, 's', [event]);
    const [two] = chainEvents(CHAIN_START, 's', [{ ...event, id: 'ab', type: 'c' }]);
    expect(one!.metadata.hash).not.toBe(two!.metadata.hash);
  });
});
