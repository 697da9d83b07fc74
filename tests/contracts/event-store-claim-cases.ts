import { expect } from '@jest/globals';
import { ConcurrencyError, KeyAlreadyClaimedError } from '../../application/ports/event-store.ts';
import type { EventStoreCase } from './event-store-samples.ts';
import { failureOf, newClaim, newPrefix, sampleEvents } from './event-store-samples.ts';

export const claimCases: readonly EventStoreCase[] = [
  {
    name: 'an append uses up its key, for its application, endpoint and exact spelling only',
    check: async (store) => {
      const stream = `${newPrefix()}A`;
      const claim = newClaim();
      expect(await store.findClaim(claim)).toBeUndefined();
      await store.append(stream, 'no_stream', sampleEvents(2), claim);
      expect(await store.findClaim(claim)).toBe(stream);
      for (const other of [
        { ...claim, applicationId: `${claim.applicationId}x` },
        { ...claim, endpoint: 'POST /loan/settle' },
        { ...claim, key: 'KEY-1' },
        { ...claim, key: 'key-1 ' },
      ])
        expect(await store.findClaim(other)).toBeUndefined();
    },
  },
  {
    name: 'an append without a key uses none up, and one with another key uses up that one',
    check: async (store) => {
      const prefix = newPrefix();
      const [first, second] = [newClaim(), newClaim()];
      await store.append(`${prefix}A`, 'no_stream', sampleEvents(1));
      await store.append(`${prefix}A`, 0n, sampleEvents(1), first);
      await store.append(`${prefix}B`, 'no_stream', sampleEvents(1), second);
      expect([await store.findClaim(first), await store.findClaim(second)]).toEqual([
        `${prefix}A`,
        `${prefix}B`,
      ]);
    },
  },
  {
    name: 'a key that another stream has used up refuses the append, names the holder and stores nothing',
    check: async (store) => {
      const prefix = newPrefix();
      const claim = newClaim();
      await store.append(`${prefix}A`, 'no_stream', sampleEvents(1), claim);
      await store.append(`${prefix}C`, 'no_stream', sampleEvents(1));
      const onNew = await failureOf(store.append(`${prefix}B`, 'no_stream', sampleEvents(2), claim));
      const onOld = await failureOf(store.append(`${prefix}C`, 0n, sampleEvents(2), claim));
      for (const failure of [onNew, onOld]) {
        expect(failure).toBeInstanceOf(KeyAlreadyClaimedError);
        expect(failure).toMatchObject({ stream: `${prefix}A` });
      }
      expect([await store.head(`${prefix}B`), await store.head(`${prefix}C`)]).toEqual(['no_stream', 0n]);
    },
  },
  {
    name: 'a key is used up within its own stream as well',
    check: async (store) => {
      const stream = `${newPrefix()}A`;
      const claim = newClaim();
      await store.append(stream, 'no_stream', sampleEvents(1), claim);
      const failure = await failureOf(store.append(stream, 0n, sampleEvents(1), claim));
      expect(failure).toBeInstanceOf(KeyAlreadyClaimedError);
      expect(failure).toMatchObject({ stream });
      expect(await store.head(stream)).toBe(0n);
    },
  },
  {
    name: 'repeating an append with its key answers the first result',
    check: async (store) => {
      const stream = `${newPrefix()}A`;
      const claim = newClaim();
      const events = sampleEvents(2);
      const first = await store.append(stream, 'no_stream', events, claim);
      await store.append(stream, 1n, sampleEvents(1));
      expect(await store.append(stream, 'no_stream', events, claim)).toEqual(first);
      expect(await store.head(stream)).toBe(2n);
      expect(await store.findClaim(claim)).toBe(stream);
    },
  },
  {
    name: 'a wrong revision is reported before a used key',
    check: async (store) => {
      const prefix = newPrefix();
      const claim = newClaim();
      await store.append(`${prefix}A`, 'no_stream', sampleEvents(1), claim);
      const failure = await failureOf(store.append(`${prefix}A`, 'no_stream', sampleEvents(1), claim));
      expect(failure).toBeInstanceOf(ConcurrencyError);
    },
  },
  {
    name: 'an append that is refused leaves its key unused',
    check: async (store) => {
      const prefix = newPrefix();
      const claim = newClaim();
      await store.append(`${prefix}A`, 'no_stream', sampleEvents(1));
      await failureOf(store.append(`${prefix}A`, 'no_stream', sampleEvents(1), claim));
      expect(await store.findClaim(claim)).toBeUndefined();
      await store.append(`${prefix}B`, 'no_stream', sampleEvents(1), claim);
      expect(await store.findClaim(claim)).toBe(`${prefix}B`);
    },
  },
  {
    name: 'of many appends to different streams with one key exactly one wins, and the others store nothing',
    check: async (store) => {
      const prefix = newPrefix();
      const claim = newClaim();
      const streams = Array.from({ length: 12 }, (_, n) => `${prefix}${n}`);
      const outcomes = await Promise.allSettled(
        streams.map((stream) => store.append(stream, 'no_stream', sampleEvents(2), claim)),
      );
      const winners = streams.filter((_, n) => outcomes[n]?.status === 'fulfilled');
      expect(winners).toHaveLength(1);
      expect(await store.findClaim(claim)).toBe(winners[0]);
      for (const outcome of outcomes)
        if (outcome.status === 'rejected') {
          expect(outcome.reason).toBeInstanceOf(KeyAlreadyClaimedError);
          expect(outcome.reason).toMatchObject({ stream: winners[0] });
        }
      const heads = await Promise.all(streams.map((stream) => store.head(stream)));
      expect(heads.filter((head) => head === 'no_stream')).toHaveLength(11);
    },
  },
];
