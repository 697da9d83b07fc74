import { afterAll, beforeEach, describe, expect, test } from '@jest/globals';
import { DomainError } from '../../../../domain/shared/domain-error.ts';
import { FUND, NOW } from '../../../support/http-fakes.ts';
import { HttpWorld } from '../../../support/http-world.ts';

let calls: { method: string; args: unknown[] }[] = [];

const noted = <Called extends object>(real: Called): Called =>
  new Proxy(real, {
    get: (target, name): unknown => {
      const member: unknown = Reflect.get(target, name);
      if (typeof member !== 'function') return noted(member as object);
      return (...args: unknown[]) => {
        calls.push({ method: String(name), args: args.slice(1) });
        return (member as (...all: unknown[]) => unknown)(...args);
      };
    },
  });

const world = await HttpWorld.start();
world.behaviour.webhooks = noted(world.behaviour.webhooks);
afterAll(() => world.stop());
beforeEach(() => {
  calls = [];
  world.now += 60_000;
});

const URL = 'https://hooks.example.com/x';

describe('subscriptions', () => {
  test('creation shows the secret', async () => {
    const json = {
      url: URL,
      events: ['loan_received', '*'],
      fund_ids: [FUND.toUpperCase()],
      description: 'd',
      other: 1,
    };
    const { status, body } = await world.call('POST', '/webhook', { json });
    expect([status, body.signing_secret, body.status]).toEqual([200, 's', 'active']);
    expect(calls).toEqual([
      {
        method: 'create',
        args: [{ url: URL, events: ['loan_received', '*'], fundIds: [FUND], description: 'd' }],
      },
    ]);
  });

  test.each([
    [{ url: 'http://example.com', events: ['*'] }, 'invalid_webhook_url'],
    [{ url: 'not a url', events: ['*'] }, 'invalid_webhook_url'],
    [{ url: 7, events: ['*'] }, 'invalid_webhook_url'],
    [{ url: URL, events: [] }, 'invalid_event'],
    [{ url: URL, events: ['no_such_event'] }, 'invalid_event'],
    [{ url: URL, events: 'loan_received' }, 'invalid_event'],
    [{ url: URL }, 'validation_error'],
    [{ url: URL, events: ['*'], fund_ids: ['x'] }, 'validation_error'],
    [{ url: URL, events: ['*'], fund_ids: [] }, 'validation_error'],
    [{ url: URL, events: ['*'], description: 'x'.repeat(501) }, 'validation_error'],
    [{ url: 'http://example.com', events: ['*'], description: 1 }, 'validation_error'],
  ])('creation with %j is refused as %s', async (json, code) => {
    const { status, body } = await world.call('POST', '/webhook', { json });
    expect([status, body.error_code, body.details.length > 0]).toEqual([400, code, true]);
    expect(calls).toEqual([]);
  });

  test('the list never shows a secret', async () => {
    const { body, text } = await world.call('GET', '/webhook');
    expect(body.data).toHaveLength(1);
    expect(text).not.toContain('secret');
  });

  test('one of them is read as the list shows it', async () => {
    const listed = (await world.call('GET', '/webhook')).body.data;
    calls = [];
    const { status, body } = await world.call('GET', '/webhook/hook-1');
    expect([status, [body]]).toEqual([200, listed]);
    expect(calls).toEqual([{ method: 'find', args: ['hook-1'] }]);
    expect((await world.call('GET', '/webhook/%00')).body.error_code).toBe('webhook_not_found');
  });

  test('an update passes on what is present', async () => {
    const { status } = await world.call('PATCH', '/webhook/hook-1', {
      json: { events: ['*'], fund_ids: null, description: null },
    });
    expect(status).toBe(200);
    expect(calls).toEqual([
      { method: 'update', args: ['hook-1', { events: ['*'], fundIds: null, description: null }] },
    ]);
  });

  test.each([
    [{}, 'empty_update'],
    [{ status: 'paused' }, 'immutable_field'],
    [{ webhook_id: 'x', url: URL }, 'immutable_field'],
    [{ url: 'http://x' }, 'invalid_webhook_url'],
    [{ webhook_id: 'x', url: 'http://x' }, 'immutable_field'],
    [{ events: ['nope'] }, 'invalid_event'],
    [{ description: 5 }, 'validation_error'],
  ])('an update %j is refused as %s', async (json, code) => {
    const { status, body } = await world.call('PATCH', '/webhook/hook-1', { json });
    expect([status, body.error_code]).toEqual([400, code]);
  });

  test('pause, resume, rotate and delete name their subscription', async () => {
    expect((await world.call('POST', '/webhook/hook-1/pause')).body.status).toBe('paused');
    expect((await world.call('POST', '/webhook/hook-1/resume')).body.status).toBe('active');
    const rotated = await world.call('POST', '/webhook/hook-1/rotate-secret');
    expect(rotated.body).toEqual({ webhook_id: 'hook-1', signing_secret: 't', rotated_at: NOW });
    const removed = await world.call('DELETE', '/webhook/hook-1');
    expect([removed.status, removed.text]).toEqual([204, '']);
    expect(calls.map(({ method, args }) => [method, args[0]])).toEqual([
      ['pause', 'hook-1'],
      ['resume', 'hook-1'],
      ['rotateSecret', 'hook-1'],
      ['remove', 'hook-1'],
    ]);
  });

  test('are known by their ids in capitals, too', async () => {
    await world.call('GET', '/webhook/HOOK-1');
    await world.call('GET', '/webhook/HOOK-1/deliveries');
    expect(calls.map(({ args }) => args[0])).toEqual(['hook-1', 'hook-1']);
  });

  test('one that is not there is 404', async () => {
    world.behaviour.webhooks.remove = async () =>
      Promise.reject(new DomainError('webhook_not_found', 'no such webhook'));
    const refuse = async () => Promise.reject(new DomainError('webhook_not_found', 'no such webhook'));
    const before = world.behaviour.webhooks;
    world.behaviour.webhooks = { ...before, remove: refuse } as never;
    expect((await world.call('DELETE', '/webhook/none')).body.error_code).toBe('webhook_not_found');
    world.behaviour.webhooks = before;
  });
});

describe('deliveries', () => {
  test('are filtered and paged', async () => {
    const query = `status=failed&since=2026-01-15T12:00:00-03:00&limit=7&cursor=abc`;
    expect((await world.call('GET', `/webhook/hook-1/deliveries?${query}`)).status).toBe(200);
    await world.call('GET', '/webhook/hook-1/deliveries');
    expect(calls.map(({ args }) => args)).toEqual([
      ['hook-1', { status: 'failed', since: '2026-01-15T12:00:00-03:00', limit: 7, cursor: 'abc' }],
      ['hook-1', { limit: 50 }],
    ]);
    calls = [];
    const named = 'event=loan_received,webhook.ping&originator_proposal_code=OP-1';
    const id = '5c0f9a52-7f6b-4a3c-8a37-1e2d3c4b5a69';
    await world.call('GET', `/webhook/hook-1/deliveries?${named}&event_id=${id.toUpperCase()}`);
    await world.call('GET', '/webhook/hook-1/deliveries?event=loan_received&event=loan_rejected');
    expect(calls.map(({ args }) => args[1])).toEqual([
      { events: ['loan_received', 'webhook.ping'], code: 'OP-1', eventId: id, limit: 50 },
      { events: ['loan_received', 'loan_rejected'], limit: 50 },
    ]);
  });

  test.each([
    'status=gone',
    'since=yesterday',
    'since=2026-02-30T00:00:00Z',
    'limit=0',
    'limit=201',
    'limit=1.5',
    'limit=',
    'limit=1&limit=2',
    'cursor=',
    'event=loan_paid',
    'event=loan_received,',
    'event=*',
    'originator_proposal_code=a%20b',
    'originator_proposal_code=OP-1&originator_proposal_code=OP-2',
    'event_id=5c0f9a52',
    'event_id=',
    'code=OP-1',
  ])('%s is refused', async (query) => {
    const { status, body } = await world.call('GET', `/webhook/hook-1/deliveries?${query}`);
    expect([status, body.error_code]).toEqual([400, 'invalid_query_parameter']);
  });

  test('an event is sent again', async () => {
    const { status, body } = await world.call(
      'POST',
      '/webhook/event/5c0f9a52-7f6b-4a3c-8a37-1e2d3c4b5a69/redeliver',
    );
    expect([status, body.deliveries]).toEqual([
      202,
      [{ webhook_id: 'hook-1', delivery_id: 'd-1', attempt: 2 }],
    ]);
  });
});
