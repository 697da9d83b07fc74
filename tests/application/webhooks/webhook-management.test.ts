import { randomUUID } from 'node:crypto';
import { afterAll, beforeEach, describe, expect, test } from '@jest/globals';
import { sampleEvents } from '../../contracts/event-store-samples.ts';
import { openServiceDatabase } from '../../support/sql/temporary-database.ts';
import { secretContext } from '../../../application/webhooks/subscriptions.ts';
import { FUND, ManagementWorld, RECEIVER, refusedWith } from './support/management-world.ts';

let world: ManagementWorld;
const store = await openServiceDatabase();
afterAll(() => store.close());
beforeEach(() => {
  world = new ManagementWorld(store.database);
});

describe('creating', () => {
  test('answers the subscription and shows its secret, which is stored sealed for it alone', async () => {
    const { webhook, signingSecret } = await world.create({
      description: 'd',
      fundIds: [FUND.toUpperCase()],
    });
    expect(webhook).toEqual({
      webhookId: expect.stringMatching(/^[0-9a-f-]{36}$/),
      applicationId: world.context.applicationId,
      url: RECEIVER,
      events: ['*'],
      fundIds: [FUND],
      description: 'd',
      status: 'active',
      createdAt: world.clock.now(),
      eventsFrom: world.clock.now(),
      beginsAt: 'start',
      updatedAt: world.clock.now(),
      lastSuccessAt: null,
      lastFailureAt: null,
      failingSince: null,
    });
    await world.enqueue(webhook.webhookId, world.event());
    const now = world.clock.now();
    const claim = await world.queue.lease(
      [{ webhookId: webhook.webhookId, firstAttempts: 1, retries: 0 }],
      now,
      '2027-01-01',
    );
    const { sealedSecret } = claim.deliveries[0]!.endpoint;
    expect(sealedSecret).toBe(`sealed(${signingSecret})for(${secretContext(webhook.webhookId)})`);
    expect(JSON.stringify(await world.management.list([world.context.applicationId]))).not.toContain(
      signingSecret,
    );
  });

  test('notes where the log ends', async () => {
    const { position } = await world.log.append('loan-1.A', 'no_stream', sampleEvents(1));
    const { webhook } = await world.create();
    expect(webhook.beginsAt).toBe(position);
    await world.log.append('loan-1.A', 0n, sampleEvents(1));
    expect((await world.management.list([world.context.applicationId]))[0]?.beginsAt).toBe(position);
  });

  test('queues a ping in the sandbox, and none elsewhere', async () => {
    const quiet = await world.create();
    expect(world.queued).toEqual([]);
    expect(
      (await world.management.deliveries.page(world.context, quiet.webhook.webhookId, { limit: 5 }))
        .deliveries,
    ).toEqual([]);
    const { webhook } = await world.sandbox.create(world.context, {
      url: RECEIVER,
      events: ['loan_received'],
    });
    expect(world.queued).toEqual([webhook.webhookId]);
    const { deliveries } = await world.management.deliveries.page(world.context, webhook.webhookId, {
      limit: 5,
    });
    expect(deliveries).toMatchObject([
      { event: 'webhook.ping', code: null, fundId: null, status: 'pending' },
    ]);
    const found = await world.queue.findEvent(world.context.applicationId, deliveries[0]!.eventId);
    expect(JSON.parse(found!.event.body)).toEqual({
      event: 'webhook.ping',
      event_id: deliveries[0]!.eventId,
      originator_proposal_code: null,
      fund_id: null,
      timestamp: world.clock.now(),
      sequence: 0,
      api_version: '2026.1.0',
      data: { message: expect.any(String) },
    });
  });

  test.each([
    ['an address that is refused', { url: 'http://receiver.example/' }, 'invalid_webhook_url'],
    ['an event that does not exist', { events: ['loan_received', 'no_such_event'] }, 'invalid_event'],
    ['no event at all', { events: [] }, 'invalid_event'],
    ['all events and one of them', { events: ['*', 'loan_received'] }, 'invalid_event'],
    ['an empty list of funds', { fundIds: [] }, 'validation_error'],
    ['a fund of somebody else', { fundIds: [FUND, randomUUID()] }, 'fund_not_allowed'],
  ])('is refused with %s', async (_what, overrides, code) => {
    await expect(world.create(overrides)).rejects.toEqual(refusedWith(code));
    expect(await world.management.list([world.context.applicationId])).toEqual([]);
  });

  test('names the events that do not exist by their place', async () => {
    const details = [{ field: 'events[1]', code: 'unknown_event', message: expect.any(String) }];
    await expect(world.create({ events: ['*', 'nope'] })).rejects.toMatchObject({ details });
  });

  test('names what is wrong with its lists by field', async () => {
    const fundIds = [FUND, randomUUID(), FUND.toUpperCase(), randomUUID()];
    await expect(world.create({ fundIds })).rejects.toMatchObject({
      details: [{ field: 'fund_ids[1]' }, { field: 'fund_ids[3]' }],
    });
    await expect(world.create({ events: ['*', 'loan_received'] })).rejects.toMatchObject({
      details: [{ field: 'events', code: 'invalid_event', message: expect.stringContaining('["*"]') }],
    });
    const { webhook } = await world.create({ events: ['*', '*'] });
    expect(webhook.events).toEqual(['*']);
  });

  test('stops at twenty an application, and a removed one makes room', async () => {
    const created = await Promise.all(Array.from({ length: 20 }, () => world.create()));
    await expect(world.create()).rejects.toEqual(refusedWith('webhook_invalid_state'));
    await expect(world.create({}, world.stranger())).resolves.toBeDefined();
    await world.management.remove(world.context, created[0]!.webhook.webhookId);
    await expect(world.create()).resolves.toBeDefined();
  });
});

describe('changing', () => {
  test('takes url, events, description and funds, and leaves the rest', async () => {
    const { webhook } = await world.create({ description: 'before', fundIds: [FUND] });
    world.clock.advance(1_000);
    const change = {
      url: 'https://other.example/',
      events: ['loan_approved', 'loan_approved'],
      description: null,
    };
    const changed = await world.management.update(world.context, webhook.webhookId, {
      ...change,
      fundIds: null,
    });
    expect(changed).toEqual({
      ...webhook,
      url: 'https://other.example/',
      events: ['loan_approved'],
      description: null,
      fundIds: null,
      updatedAt: world.clock.now(),
    });
  });

  test('has what waits tried at another address at once', async () => {
    const { webhook } = await world.create();
    await world.management.update(world.context, webhook.webhookId, { description: 'the same address' });
    expect(world.queued).toEqual([]);
    await world.management.update(world.context, webhook.webhookId, { url: 'https://other.example/' });
    expect(world.queued).toEqual([webhook.webhookId]);
  });

  test.each([
    ['nothing', {}, 'empty_update'],
    ['an address that is refused', { url: 'http://receiver.example/' }, 'invalid_webhook_url'],
    ['an unknown event', { events: ['nope'] }, 'invalid_event'],
    ['all events and one of them', { events: ['loan_received', '*'] }, 'invalid_event'],
    ['a fund of somebody else', { fundIds: [randomUUID()] }, 'fund_not_allowed'],
  ])('is refused with %s', async (_what, input, code) => {
    const { webhook } = await world.create();
    await expect(world.management.update(world.context, webhook.webhookId, input)).rejects.toEqual(
      refusedWith(code),
    );
    expect(await world.management.list([world.context.applicationId])).toEqual([webhook]);
  });

  test('pausing and resuming can be repeated, and resuming wakes the sender', async () => {
    const { webhook } = await world.create();
    const { webhookId } = webhook;
    world.clock.advance(1_000);
    const paused = await world.management.pause(world.context, webhookId);
    expect(paused).toEqual({ ...webhook, status: 'paused', updatedAt: world.clock.now() });
    world.clock.advance(1_000);
    expect(await world.management.pause(world.context, webhookId)).toEqual(paused);
    expect(await world.management.resume(world.context, webhookId)).toMatchObject({ status: 'active' });
    expect(await world.management.resume(world.context, webhookId)).toMatchObject({ status: 'active' });
    expect(world.queued).toContain(webhookId);
  });

  test('rotating answers a secret never seen before', async () => {
    const { webhook, signingSecret } = await world.create();
    world.clock.advance(1_000);
    const rotated = await world.management.rotateSecret(world.context, webhook.webhookId);
    expect(rotated).toEqual({
      webhookId: webhook.webhookId,
      signingSecret: expect.any(String),
      rotatedAt: world.clock.now(),
    });
    expect(rotated.signingSecret).not.toBe(signingSecret);
  });

  test('another application’s webhook does not exist', async () => {
    const { webhook } = await world.create();
    const [stranger, { webhookId }] = [world.stranger(), webhook];
    const attempts = [
      () => world.management.find(stranger, webhookId),
      () => world.management.update(stranger, webhookId, { description: 'x' }),
      () => world.management.pause(stranger, webhookId),
      () => world.management.resume(stranger, webhookId),
      () => world.management.rotateSecret(stranger, webhookId),
      () => world.management.remove(stranger, webhookId),
      () => world.management.deliveries.page(stranger, webhookId, { limit: 5 }),
      () => world.management.pause(world.context, randomUUID()),
    ];
    for (const attempt of attempts) await expect(attempt()).rejects.toEqual(refusedWith('webhook_not_found'));
    expect(await world.management.list([stranger.applicationId])).toEqual([]);
    expect(await world.management.list([world.context.applicationId])).toEqual([webhook]);
    expect(await world.management.find(world.context, webhookId)).toEqual(webhook);
  });

  test('one that was removed does not exist any more', async () => {
    const { webhook } = await world.create();
    await world.management.remove(world.context, webhook.webhookId);
    await expect(world.management.find(world.context, webhook.webhookId)).rejects.toEqual(
      refusedWith('webhook_not_found'),
    );
  });
});
