import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { WebhookEvent } from '../../../application/ports/delivery-queue.ts';
import { secretContext } from '../../../application/ports/webhook-secrets.ts';
import type { RequestContext } from '../../../application/request-context.ts';
import { WebhookManagement } from '../../../application/webhooks/webhook-management.ts';
import { DomainError } from '../../../domain/shared/domain-error.ts';
import { SqlDeliveryLog } from '../../../infrastructure/sql/webhooks/sql-delivery-log.ts';
import { SqlDeliveryQueue } from '../../../infrastructure/sql/webhooks/sql-delivery-queue.ts';
import { SqlWebhookSubscriptions } from '../../../infrastructure/sql/webhooks/sql-webhook-subscriptions.ts';
import { openServiceDatabase } from '../../infrastructure/sql/support/temporary-database.ts';
import type { TemporaryDatabase } from '../../infrastructure/sql/support/temporary-database.ts';
import { ManualClock } from '../../support/manual-clock.ts';

const URL_A = 'https://receiver.example/hooks';
const [FUND, OTHER_FUND] = [randomUUID(), randomUUID()];

let store: TemporaryDatabase;
let context: RequestContext;
let clock: ManualClock;
let queued: string[];
let queue: SqlDeliveryQueue;

beforeAll(async () => {
  store = await openServiceDatabase();
  queue = new SqlDeliveryQueue(store.database);
});
afterAll(() => store.close());
beforeEach(() => {
  clock = new ManualClock();
  queued = [];
  context = { requestId: 'r', clientId: 'c', applicationId: randomUUID(), fundIds: [FUND, OTHER_FUND] };
});

let secrets = 0;
const management = (pingsOnCreation = false): WebhookManagement =>
  new WebhookManagement({
    subscriptions: new SqlWebhookSubscriptions(store.database),
    queue,
    log: new SqlDeliveryLog(store.database),
    guard: {
      check: async (url) => {
        if (url.startsWith('http:')) throw new DomainError('invalid_webhook_url', 'url: only https');
      },
    },
    sealer: { seal: (text, owner) => `sealed(${text})for(${owner})`, open: () => '' },
    random: { id: randomUUID, secret: () => `secret-${++secrets}` },
    clock,
    apiVersion: '2026.1.0',
    pingsOnCreation,
    onQueued: (webhookIds) => queued.push(...webhookIds),
  });

const create = (overrides = {}, by = context) =>
  management().create(by, { url: URL_A, events: ['*'], ...overrides });
const other = (): RequestContext => ({ ...context, applicationId: randomUUID() });
const refusedWith = (code: string) => expect.objectContaining({ name: 'DomainError', code });

const event = (overrides: Partial<WebhookEvent> = {}): WebhookEvent => ({
  eventId: randomUUID(),
  name: 'loan_received',
  applicationId: context.applicationId,
  fundId: FUND,
  code: 'OP-1',
  sequence: 0,
  timestamp: clock.now(),
  body: '{}',
  ...overrides,
});
const enqueue = (webhookId: string, one: WebhookEvent) =>
  queue.enqueue([{ webhookId, event: one }], clock.now());

describe('creating', () => {
  test('answers the subscription and shows its secret, which is stored sealed for it alone', async () => {
    const { webhook, signingSecret } = await create({ description: 'd', fundIds: [FUND.toUpperCase()] });
    expect(webhook).toEqual({
      webhookId: expect.stringMatching(/^[0-9a-f-]{36}$/),
      applicationId: context.applicationId,
      url: URL_A,
      events: ['*'],
      fundIds: [FUND],
      description: 'd',
      status: 'active',
      createdAt: clock.now(),
      updatedAt: clock.now(),
      lastSuccessAt: null,
      lastFailureAt: null,
      failingSince: null,
    });
    await enqueue(webhook.webhookId, event());
    const now = clock.now();
    const claim = await queue.claim(
      [{ webhookId: webhook.webhookId, firstAttempts: 1, retries: 0 }],
      now,
      '2027-01-01',
    );
    const { sealedSecret } = claim.deliveries[0]!.endpoint;
    expect(sealedSecret).toBe(`sealed(${signingSecret})for(${secretContext(webhook.webhookId)})`);
    expect(JSON.stringify(await management().list(context))).not.toContain(signingSecret);
  });

  test('queues a ping in the sandbox, and none elsewhere', async () => {
    const quiet = await create();
    expect(queued).toEqual([]);
    expect(
      (await management().deliveries(context, quiet.webhook.webhookId, { limit: 5 })).deliveries,
    ).toEqual([]);
    const { webhook } = await management(true).create(context, { url: URL_A, events: ['loan_received'] });
    expect(queued).toEqual([webhook.webhookId]);
    const { deliveries } = await management().deliveries(context, webhook.webhookId, { limit: 5 });
    expect(deliveries).toMatchObject([
      { event: 'webhook.ping', code: null, fundId: null, status: 'pending' },
    ]);
    const found = await queue.findEvent(context.applicationId, deliveries[0]!.eventId);
    expect(JSON.parse(found!.event.body)).toEqual({
      event: 'webhook.ping',
      event_id: deliveries[0]!.eventId,
      originator_proposal_code: null,
      fund_id: null,
      timestamp: clock.now(),
      sequence: 0,
      api_version: '2026.1.0',
      data: { message: expect.any(String) },
    });
  });

  test.each([
    ['an address that is refused', { url: 'http://receiver.example/' }, 'invalid_webhook_url'],
    ['an event that does not exist', { events: ['loan_received', 'no_such_event'] }, 'invalid_event'],
    ['no event at all', { events: [] }, 'invalid_event'],
    ['an empty list of funds', { fundIds: [] }, 'validation_error'],
    ['a fund of somebody else', { fundIds: [FUND, randomUUID()] }, 'fund_not_allowed'],
  ])('is refused with %s', async (_what, overrides, code) => {
    await expect(create(overrides)).rejects.toEqual(refusedWith(code));
    expect(await management().list(context)).toEqual([]);
  });

  test('names the events that do not exist by their place', async () => {
    const details = [{ field: 'events[1]', code: 'unknown_event', message: expect.any(String) }];
    await expect(create({ events: ['*', 'nope'] })).rejects.toMatchObject({ details });
  });

  test('stops at twenty an application, and a removed one makes room', async () => {
    const created = await Promise.all(Array.from({ length: 20 }, () => create()));
    await expect(create()).rejects.toEqual(refusedWith('webhook_invalid_state'));
    await expect(create({}, other())).resolves.toBeDefined();
    await management().remove(context, created[0]!.webhook.webhookId);
    await expect(create()).resolves.toBeDefined();
  });
});

describe('changing', () => {
  test('takes url, events, description and funds, and leaves the rest', async () => {
    const { webhook } = await create({ description: 'before', fundIds: [FUND] });
    clock.advance(1_000);
    const change = {
      url: 'https://other.example/',
      events: ['loan_approved', 'loan_approved'],
      description: null,
    };
    const changed = await management().update(context, webhook.webhookId, { ...change, fundIds: null });
    expect(changed).toEqual({
      ...webhook,
      url: 'https://other.example/',
      events: ['loan_approved'],
      description: null,
      fundIds: null,
      updatedAt: clock.now(),
    });
  });

  test.each([
    ['another field', { url: URL_A, otherFields: ['status'] }, 'immutable_field'],
    ['nothing', {}, 'empty_update'],
    ['an address that is refused', { url: 'http://receiver.example/' }, 'invalid_webhook_url'],
    ['an unknown event', { events: ['nope'] }, 'invalid_event'],
    ['a fund of somebody else', { fundIds: [randomUUID()] }, 'fund_not_allowed'],
  ])('is refused with %s', async (_what, input, code) => {
    const { webhook } = await create();
    await expect(management().update(context, webhook.webhookId, input)).rejects.toEqual(refusedWith(code));
    expect(await management().list(context)).toEqual([webhook]);
  });

  test('pausing and resuming can be repeated, and resuming wakes the sender', async () => {
    const { webhook } = await create();
    const { webhookId } = webhook;
    clock.advance(1_000);
    const paused = await management().pause(context, webhookId);
    expect(paused).toEqual({ ...webhook, status: 'paused', updatedAt: clock.now() });
    clock.advance(1_000);
    expect(await management().pause(context, webhookId)).toEqual(paused);
    expect(await management().resume(context, webhookId)).toMatchObject({ status: 'active' });
    expect(await management().resume(context, webhookId)).toMatchObject({ status: 'active' });
    expect(queued).toContain(webhookId);
  });

  test('rotating answers a secret never seen before', async () => {
    const { webhook, signingSecret } = await create();
    clock.advance(1_000);
    const rotated = await management().rotateSecret(context, webhook.webhookId);
    expect(rotated).toEqual({
      webhookId: webhook.webhookId,
      signingSecret: expect.any(String),
      rotatedAt: clock.now(),
    });
    expect(rotated.signingSecret).not.toBe(signingSecret);
  });

  test('another application’s webhook does not exist', async () => {
    const { webhook } = await create();
    const [stranger, { webhookId }] = [other(), webhook];
    const attempts = [
      () => management().update(stranger, webhookId, { description: 'x' }),
      () => management().pause(stranger, webhookId),
      () => management().resume(stranger, webhookId),
      () => management().rotateSecret(stranger, webhookId),
      () => management().remove(stranger, webhookId),
      () => management().deliveries(stranger, webhookId, { limit: 5 }),
      () => management().pause(context, randomUUID()),
    ];
    for (const attempt of attempts) await expect(attempt()).rejects.toEqual(refusedWith('webhook_not_found'));
    expect(await management().list(stranger)).toEqual([]);
    expect(await management().list(context)).toEqual([webhook]);
  });
});

describe('listing deliveries', () => {
  test.each([
    ['2026-01-15T12:00:01Z', ['OP-1']],
    ['2026-01-15T09:00:01-03:00', ['OP-1']],
    ['2026-01-15t12:00:00.000z', ['OP-1', 'OP-0']],
    ['2026-01-15T12:00:00.0000001Z', ['OP-1', 'OP-0']],
  ])('since %s', async (since, codes) => {
    const { webhook } = await create();
    for (const code of ['OP-0', 'OP-1']) {
      await enqueue(webhook.webhookId, event({ code }));
      clock.advance(1_000);
    }
    const page = await management().deliveries(context, webhook.webhookId, { since, limit: 10 });
    expect(page.deliveries.map((delivery) => delivery.code)).toEqual(codes);
  });

  test.each([
    'yesterday',
    '2026-01-15',
    '2026-02-30T00:00:00Z',
    '2026-01-15T25:00:00Z',
    '2026-01-15T12:00:00',
    '',
  ])('since "%s" is refused', async (since) => {
    const { webhook } = await create();
    const listing = management().deliveries(context, webhook.webhookId, { since, limit: 10 });
    await expect(listing).rejects.toEqual(refusedWith('invalid_query_parameter'));
  });
});

describe('sending again', () => {
  test('goes to every subscription that matches and is not paused, and wakes the sender', async () => {
    const [all, named, another, paused, elsewhere] = [
      await create(),
      await create({ events: ['loan_received'], fundIds: [FUND] }),
      await create({ events: ['loan_approved'] }),
      await create(),
      await create({ fundIds: [OTHER_FUND] }),
    ].map(({ webhook }) => webhook.webhookId);
    const one = event();
    await enqueue(all!, one);
    await enqueue(another!, one);
    await management().pause(context, paused!);
    const receipt = await management().redeliver(context, one.eventId);
    expect(receipt.eventId).toBe(one.eventId);
    expect(new Set(receipt.deliveries.map(({ webhookId }) => webhookId))).toEqual(new Set([all, named]));
    expect(new Set(queued)).toEqual(new Set([all, named]));
    expect([another, paused, elsewhere].some((webhookId) => queued.includes(webhookId!))).toBe(false);
  });

  test('a ping goes only to the registration that it is about', async () => {
    const { webhook } = await management(true).create(context, { url: URL_A, events: ['loan_approved'] });
    await create();
    const { deliveries } = await management().deliveries(context, webhook.webhookId, { limit: 1 });
    const receipt = await management().redeliver(context, deliveries[0]!.eventId);
    expect(receipt.deliveries.map(({ webhookId }) => webhookId)).toEqual([webhook.webhookId]);
  });

  test('is refused when nobody can get it', async () => {
    const { webhook } = await create();
    const one = event();
    await enqueue(webhook.webhookId, one);
    await management().pause(context, webhook.webhookId);
    const refused = () => management().redeliver(context, one.eventId);
    await expect(refused()).rejects.toEqual(refusedWith('webhook_invalid_state'));
    await management().remove(context, webhook.webhookId);
    await expect(refused()).rejects.toEqual(refusedWith('webhook_invalid_state'));
  });

  test('knows no event of another application, and none that never was', async () => {
    const { webhook } = await create();
    const one = event();
    await enqueue(webhook.webhookId, one);
    const unknown = refusedWith('event_not_found');
    await expect(management().redeliver(other(), one.eventId)).rejects.toEqual(unknown);
    await expect(management().redeliver(context, randomUUID())).rejects.toEqual(unknown);
    await expect(management().redeliver(context, 'not even an id')).rejects.toEqual(unknown);
  });
});
