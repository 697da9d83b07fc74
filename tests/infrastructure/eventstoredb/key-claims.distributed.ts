import { describe, expect, test } from '@jest/globals';
import {
  ConcurrencyError,
  KeyAlreadyClaimedError,
  OutcomeUnknownError,
  StoreUnavailableError,
} from '../../../application/ports/event-store.ts';
import { EventStoreDbStore } from '../../../infrastructure/eventstoredb/event-store-db-store.ts';
import { claimStream } from '../../../infrastructure/eventstoredb/key-claims.ts';
import {
  catchUp,
  failureOf,
  idsOf,
  newClaim,
  newPrefix,
  sampleEvents,
} from '../../contracts/event-store-samples.ts';
import type { StoreAtStandIn } from '../../support/eventstoredb/open-store.ts';
import { openAtStandIn } from '../../support/eventstoredb/open-store.ts';

/** A process that stored what it meant to do with the key, and then was never heard of again. */
const diesBeforeItsAppend = async (
  { server, store }: StoreAtStandIn,
  stream: string,
  claim: ReturnType<typeof newClaim>,
) => {
  const events = sampleEvents(2);
  server.faults.appends = 'refused';
  server.faults.appendsTo = (name) => name === stream;
  expect(await failureOf(store.append(stream, 'no_stream', events, claim))).toBeInstanceOf(
    OutcomeUnknownError,
  );
  server.faults.appends = 'answered';
  return events;
};

describe('a key whose owner died between its two appends', () => {
  test('stays with what was to be done: the next one who wants it carries that out first', async () => {
    await using at = await openAtStandIn();
    const [prefix, claim] = [newPrefix(), newClaim()];
    const events = await diesBeforeItsAppend(at, `${prefix}A`, claim);
    expect(await at.store.head(`${prefix}A`)).toBe('no_stream');
    const next = new EventStoreDbStore({ url: at.server.url });
    const error = await failureOf(next.append(`${prefix}B`, 'no_stream', sampleEvents(1), claim));
    await next.close();
    expect(error).toBeInstanceOf(KeyAlreadyClaimedError);
    expect(error).toMatchObject({ stream: `${prefix}A` });
    expect(idsOf((await at.store.read(`${prefix}A`)).events)).toEqual(idsOf(events));
    expect(await at.store.head(`${prefix}B`)).toBe('no_stream');
    expect(await at.store.findClaim(claim)).toBe(`${prefix}A`);
  });

  test('is found by the same request again, decided anew elsewhere', async () => {
    await using at = await openAtStandIn();
    const [stream, claim] = [`${newPrefix()}A`, newClaim()];
    const events = await diesBeforeItsAppend(at, stream, claim);
    const error = await failureOf(at.store.append(stream, 'no_stream', sampleEvents(2), claim));
    expect(error).toBeInstanceOf(ConcurrencyError);
    expect(await at.store.append(stream, 'no_stream', events, claim)).toMatchObject({ revision: 1n });
    expect(idsOf((await at.store.read(stream)).events)).toEqual(idsOf(events));
  });

  test('is free when its stream has gone another way meanwhile', async () => {
    await using at = await openAtStandIn();
    const [prefix, claim] = [newPrefix(), newClaim()];
    const events = await diesBeforeItsAppend(at, `${prefix}A`, claim);
    const others = sampleEvents(1);
    await at.store.append(`${prefix}A`, 'no_stream', others);
    expect(await at.store.findClaim(claim)).toBeUndefined();
    await at.store.append(`${prefix}B`, 'no_stream', sampleEvents(1), claim);
    expect(await at.store.findClaim(claim)).toBe(`${prefix}B`);
    const late = await failureOf(at.store.append(`${prefix}A`, 'no_stream', events, claim));
    expect(late).toBeInstanceOf(ConcurrencyError);
    expect(idsOf((await at.store.read(`${prefix}A`)).events)).toEqual(idsOf(others));
  });

  test('finds its work done when it only slept', async () => {
    await using at = await openAtStandIn();
    const [prefix, claim] = [newPrefix(), newClaim()];
    const events = await diesBeforeItsAppend(at, `${prefix}A`, claim);
    await failureOf(at.store.append(`${prefix}B`, 'no_stream', sampleEvents(1), claim));
    expect(await at.store.append(`${prefix}A`, 'no_stream', events, claim)).toMatchObject({ revision: 1n });
    expect(at.server.log.stream(`${prefix}A`)).toHaveLength(2);
  });
});

describe('what an append with a key may say', () => {
  test('after the intent is stored, never that nothing was: others may carry it out', async () => {
    await using at = await openAtStandIn({ patienceMs: 300, readTimeoutMs: 300 });
    const [stream, claim, events] = [`${newPrefix()}A`, newClaim(), sampleEvents(1)];
    at.server.faults.appends = 'refused';
    at.server.faults.appendFailure.metadata.set('exception', 'access-denied');
    at.server.faults.appendsTo = (name) => name === stream;
    const first = await failureOf(at.store.append(stream, 'no_stream', events, claim));
    await at.server.kill();
    const second = await failureOf(at.store.append(stream, 'no_stream', events, claim));
    const other = await failureOf(at.store.append(stream, 'no_stream', sampleEvents(1), newClaim()));
    expect(first).toBeInstanceOf(OutcomeUnknownError);
    expect(second).toBeInstanceOf(OutcomeUnknownError);
    expect(other).toBeInstanceOf(StoreUnavailableError);
  });

  test('at a revision that its stream has not reached it leaves no intent to be carried out later', async () => {
    await using at = await openAtStandIn();
    const [stream, claim] = [`${newPrefix()}A`, newClaim()];
    await at.store.append(stream, 'no_stream', sampleEvents(1));
    const early = await failureOf(at.store.append(stream, 1n, sampleEvents(1), claim));
    expect(early).toMatchObject({ name: 'ConcurrencyError', actual: 0n });
    expect(at.server.log.stream(claimStream(claim))).toEqual([]);
    await at.store.append(stream, 0n, sampleEvents(1));
    await at.store.append(`${stream}B`, 'no_stream', sampleEvents(1), claim);
    expect(await at.store.head(stream)).toBe(1n);
  });
});

describe('streams of claims', () => {
  test("are nobody's business: no subscription hands them out", async () => {
    await using at = await openAtStandIn();
    const prefix = newPrefix();
    await at.store.append(`${prefix}A`, 'no_stream', sampleEvents(1), newClaim());
    const seen = await catchUp(at.store, '', 60_000, { from: 'start' });
    expect(seen.map(({ stream }) => stream)).toEqual([`${prefix}A`]);
    expect(at.server.log.events).toHaveLength(2);
  });

  test('have names that differ when any part of the key does', () => {
    const parts = [
      { applicationId: 'a', endpoint: 'b', key: 'c' },
      { applicationId: 'a', endpoint: 'bc', key: '' },
      { applicationId: 'ab', endpoint: '', key: 'c' },
      { applicationId: 'a', endpoint: 'b', key: 'C' },
      { applicationId: 'a","b', endpoint: '', key: 'c' },
    ];
    expect(new Set(parts.map(claimStream)).size).toBe(parts.length);
  });
});
