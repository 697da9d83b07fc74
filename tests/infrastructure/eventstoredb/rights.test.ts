import { describe, expect, test } from '@jest/globals';
import { status } from '@grpc/grpc-js';
import { openAtStandIn } from '../../support/eventstoredb/open-store.ts';
import { failure } from '../../support/eventstoredb/wire.ts';

describe('the rights of the user of EVENTSTORE_URL', () => {
  test('are tried, each of them, and nothing is stored by that', async () => {
    await using at = await openAtStandIn();
    expect(await at.store.tryRights()).toEqual(
      [
        'append to loan-…',
        'append to renegotiation-…',
        'append to fund-…',
        'append to desk-…',
        'append to decision-…',
        'append to claim-…',
        'read loan-…',
        'read renegotiation-…',
        'read fund-…',
        'read desk-…',
        'read decision-…',
        'read claim-…',
        'read $all',
        'subscribe to $all',
      ].map((right) => ({ right })),
    );
    expect(at.server.log.events).toEqual([]);
  });

  test('without the one to read $all say so of both that need it', async () => {
    await using at = await openAtStandIn();
    at.server.faults.mayReadAll = false;
    const missing = (await at.store.tryRights()).filter(({ failure }) => failure !== undefined);
    expect(missing.map(({ right }) => right)).toEqual(['read $all', 'subscribe to $all']);
    for (const { failure: text } of missing) expect(text).toContain('may not read $all');
  });

  test('to append are told stream by stream', async () => {
    await using at = await openAtStandIn();
    at.server.faults.appends = 'refused';
    at.server.faults.appendsTo = (stream) => stream.startsWith('claim-');
    const denied = failure(status.PERMISSION_DENIED, 'Access Denied', { exception: 'access-denied' });
    at.server.faults.appendFailure = denied;
    const missing = (await at.store.tryRights()).filter(({ failure: text }) => text !== undefined);
    expect(missing).toEqual([
      { right: 'append to claim-…', failure: expect.stringContaining('Access Denied') },
    ]);
  });

  test('that the server says nothing about are missing within a time', async () => {
    await using at = await openAtStandIn({ confirmationMs: 60_000 });
    at.server.faults.subscriptions = 'unconfirmed';
    // Of this one alone: on a busy machine any other may take longer than that, too.
    const right = 'subscribe to $all';
    const tried = (await at.store.tryRights(200)).find((one) => one.right === right);
    expect(tried).toEqual({ right, failure: expect.stringContaining('200 ms') });
  });
});
