import { once } from 'node:events';
import { request } from 'node:http';
import type { Socket } from 'node:net';
import { afterAll, beforeEach, describe, expect, test } from '@jest/globals';
import { OutcomeUnknownError } from '../../../../application/ports/event-store.ts';
import { DomainError } from '../../../../domain/shared/domain-error.ts';
import { client, tokenFor } from '../../../support/http-fakes.ts';
import { validSettlement } from '../../../support/http-requests.ts';
import { HttpWorld } from '../../../support/http-world.ts';
import { within } from '../../../support/within.ts';

const PATH = '/installment/settle/batch';
const HALF = tokenFor('client-half');

const world = await HttpWorld.start();
const accept = world.behaviour.loans.settle;
world.clients.add(client({ clientId: 'client-half', applicationId: 'app-half', rateLimitMultiplier: 0.5 }));
afterAll(() => world.stop());
beforeEach(() => {
  world.behaviour.loans.settle = accept;
  world.now += 3_600_000;
});

const numbered = (count: number): object[] =>
  Array.from({ length: count }, (_, i) => ({
    ...validSettlement(),
    originator_proposal_code: `OP-${i}`,
    idempotency_key: `K-${i}`,
  }));
const settleAll = (settlements: readonly unknown[], auth = tokenFor('client-a')) =>
  world.call('POST', PATH, { json: { settlements }, auth });
const settle = (json: unknown) => world.call('POST', '/installment/settle', { json });
const left = (headers: Headers): number => Number(headers.get('x-ratelimit-remaining'));

describe('POST /installment/settle/batch', () => {
  test('answers each line as it would be answered alone, in their order, with both decimals', async () => {
    world.behaviour.loans.settle = async (context, input) => {
      if (input.code === 'OP-3') throw new DomainError('operation_invalid_state', 'it is settled');
      return { ...(await accept(context, input)), replayed: input.code === 'OP-2' };
    };
    const wrong = { ...validSettlement(), settled_value: '950.00', payment_method: 'cash' };
    const lines = [
      ...numbered(4),
      wrong,
      5,
      null,
      [],
      { dryRun: true },
      { ...validSettlement(), note: 'mine' },
    ];
    const { status, headers, body, text } = await settleAll(lines);
    expect(status).toBe(200);
    expect(headers.get('idempotent-replayed')).toBeNull();
    expect(text).toContain('"settled_value":950.00');
    expect(body.results).toHaveLength(lines.length);
    for (const [i, line] of lines.entries()) {
      const alone = await settle(line);
      const answered = { ...alone.body };
      if (answered.request_id !== undefined) answered.request_id = headers.get('x-request-id');
      expect(body.results[i]).toEqual({
        line: i + 1,
        status: alone.status,
        replayed: alone.headers.get('idempotent-replayed') === 'true',
        body: { ...answered, ...(i === 8 && { details: expect.any(Array) }) },
      });
    }
    expect(body.results.map((one: { status: number }) => one.status)).toEqual([
      ...[200, 200, 200, 422],
      ...[400, 400, 400, 400, 400, 200],
    ]);
  });

  test('has no dry_run, on a line as little as at the top, and no key for the whole', async () => {
    let called = 0;
    world.behaviour.loans.settle = async (context, input) => {
      called += 1;
      return accept(context, input);
    };
    const { body } = await settleAll([{ ...validSettlement(), dry_run: false }]);
    expect(body.results[0]).toMatchObject({ status: 400, body: { error_code: 'unknown_field' } });
    expect(body.results[0].body.message).toContain('POST /installment/settle');
    for (const field of ['dry_run', 'idempotency_key', 'Settlement']) {
      const json = { settlements: numbered(2), [field]: true };
      const { status, body: refusal } = await world.call('POST', PATH, { json });
      expect([status, refusal.error_code, refusal.details[0].field]).toEqual([400, 'unknown_field', field]);
    }
    expect(called).toBe(0);
  });

  test.each([
    ['no object', '[]', 'validation_error'],
    ['null', 'null', 'validation_error'],
    ['nothing in it', '{}', 'validation_error'],
    ['no list', '{"settlements":{}}', 'validation_error'],
    ['null instead of a list', '{"settlements":null}', 'validation_error'],
    ['an empty list', '{"settlements":[]}', 'validation_error'],
    ['501 settlements', JSON.stringify({ settlements: numbered(501) }), 'validation_error'],
    ['a field that is not known', JSON.stringify({ settlements: numbered(1), note: 1 }), 'validation_error'],
    [
      'a field of a name that objects have',
      `{"settlements":${JSON.stringify(numbered(1))},"__proto__":1}`,
      'validation_error',
    ],
    ['a name twice in a line', '{"settlements":[{"settled_value":1,"settled_value":2}]}', 'invalid_request'],
    ['no JSON', '{"settlements":[', 'invalid_request'],
  ])('is refused as a whole and does nothing: %s', async (_what, body, code) => {
    world.behaviour.loans.settle = async () => {
      throw new Error('nothing is to be done');
    };
    const answer = await world.call('POST', PATH, { body, headers: { 'content-type': 'application/json' } });
    expect([answer.status, answer.body.error_code]).toEqual([400, code]);
    expect(left(answer.headers)).toBe(599);
  });

  test('takes 500 settlements in 512 KiB, and no byte more', async () => {
    const settlements = numbered(500);
    const { status, body } = await settleAll(settlements);
    expect([status, body.results.length]).toEqual([200, 500]);
    world.now += 3_600_000;
    const padded = (length: number): string => {
      const text = JSON.stringify({ settlements });
      return text + ' '.repeat(length - text.length);
    };
    const send = (text: string) =>
      world.call('POST', PATH, { body: text, headers: { 'content-type': 'application/json' } });
    expect((await send(padded(524_288))).status).toBe(200);
    expect((await send(padded(524_289))).status).toBe(413);
  });
});

describe('the tokens of a batch', () => {
  test('are one a line, of the bucket of settlements', async () => {
    expect(left((await settleAll(numbered(10))).headers)).toBe(590);
    expect(left((await settle(validSettlement())).headers)).toBe(589);
  });

  test('are all there, or none is taken, nothing is done, and the answer says when they will be', async () => {
    let called = 0;
    world.behaviour.loans.settle = async (context, input) => {
      called += 1;
      return accept(context, input);
    };
    await settleAll(numbered(400));
    const { status, headers, body } = await settleAll(numbered(300));
    expect([status, body.error_code, left(headers), called]).toEqual([429, 'rate_limited', 200, 400]);
    // Five a second; a hundred are missing.
    expect([headers.get('retry-after'), body.message]).toEqual([
      '20',
      'Too many requests to POST /installment/settle/batch, where each of the 300 lines counts; wait 20 seconds',
    ]);
    world.now += 19_999;
    expect((await settleAll(numbered(300))).status).toBe(429);
    world.now += 1;
    const later = await settleAll(numbered(300));
    expect([later.status, left(later.headers)]).toEqual([200, 0]);
    expect((await settleAll(numbered(1))).headers.get('retry-after')).toBe('1');
  });

  test('are never more than the bucket holds: then it is 400 for ever', async () => {
    const { status, body } = await settleAll(numbered(301), HALF);
    expect([status, body.error_code, body.details]).toEqual([
      400,
      'validation_error',
      [
        {
          field: 'settlements',
          code: 'invalid_count',
          message: expect.stringContaining('at most 300 entries'),
        },
      ],
    ]);
    world.now += 3_600_000;
    expect((await settleAll(numbered(300), HALF)).status).toBe(200);
  });
});

describe('the lines of a batch', () => {
  /** Settlements that end when they are told to. */
  const held = () => {
    const begun: string[] = [];
    const ends = new Map<string, () => void>();
    world.behaviour.loans.settle = async (context, input) => {
      begun.push(input.idempotencyKey);
      await new Promise<void>((resolve) => ends.set(input.idempotencyKey, resolve));
      return accept(context, input);
    };
    return { begun, end: (key: string) => ends.get(key)!() };
  };
  const line = (code: string, key: string): object => ({
    ...validSettlement(),
    originator_proposal_code: code,
    idempotency_key: key,
  });
  const reached = (begun: readonly string[], keys: readonly string[]) =>
    within(`${keys.join()} are begun`, 60_000, () => begun.join() === keys.join());

  test('go in their order on one operation, and under one key; others go side by side', async () => {
    const { begun, end } = held();
    const answered = settleAll([line('A', '1'), line('A', '2'), line('B', '3'), line('C', '1')]);
    await reached(begun, ['1', '3']);
    end('1');
    await within('the other two are begun', 60_000, () => begun.length === 4);
    expect(begun.slice(2).toSorted()).toEqual(['1', '2']);
    for (const key of ['1', '2', '3']) end(key);
    const { body } = await answered;
    expect(body.results.map((one: { status: number }) => one.status)).toEqual([200, 200, 200, 200]);
  });

  test('are sixteen at once of an application, whatever number of batches they came in', async () => {
    const { begun, end } = held();
    const first = settleAll(numbered(12));
    await within('twelve are begun', 60_000, () => begun.length === 12);
    const second = settleAll(Array.from({ length: 12 }, (_, i) => line(`S-${i}`, `S-${i}`)));
    await within('sixteen are begun', 60_000, () => begun.length === 16);
    const alone = settle(line('alone', 'alone'));
    await within('one that comes alone is begun', 60_000, () => begun.includes('alone'));
    expect(begun).toHaveLength(17);
    for (let i = 0; i < begun.length; i += 1) {
      end(begun[i]!);
      await within('the next ones are begun', 60_000, () => begun.length >= Math.min(25, i + 18));
    }
    for (const { status } of [await first, await second, await alone]) expect(status).toBe(200);
  });

  test('do not fail with one another: a store that is away, an unknown outcome and the unforeseen are told in their line', async () => {
    world.behaviour.loans.settle = async (context, input) => {
      if (input.code === 'OP-1') throw new OutcomeUnknownError('silent');
      if (input.code === 'OP-2') throw new Error('unforeseen');
      return accept(context, input);
    };
    const { body, headers } = await settleAll(numbered(4));
    const requestId = headers.get('x-request-id');
    expect(body.results).toMatchObject([
      { status: 200 },
      { status: 503, body: { error_code: 'service_unavailable', request_id: requestId, retryable: true } },
      { status: 500, body: { error_code: 'internal_error', request_id: requestId, retryable: false } },
      { status: 200 },
    ]);
    expect(world.logger.lines).toContainEqual({
      level: 'error',
      fields: expect.objectContaining({ request_id: requestId, operation: 'settleBatch', line: 3 }),
      message: 'request failed unexpectedly',
    });
  });

  test('that were not begun when the client has gone are not begun; those that were are carried out', async () => {
    const { begun, end } = held();
    const connected = once(world.http.server, 'connection');
    const outgoing = request(`${world.baseUrl}${PATH}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${tokenFor('client-a')}`, 'content-type': 'application/json' },
      agent: false,
    });
    outgoing.on('error', () => undefined).end(JSON.stringify({ settlements: numbered(30) }));
    await within('sixteen are begun', 60_000, () => begun.length === 16);
    const logged = world.logger.lines.length;
    const [socket] = (await connected) as [Socket];
    const closed = once(socket, 'close');
    outgoing.destroy();
    await closed;
    // The place of a line that was begun is free for others once it has ended.
    const next = settleAll([line('next', 'next')]);
    for (const key of begun.slice(0, 16)) end(key);
    await within('the next batch is begun', 60_000, () => begun.includes('next'));
    end('next');
    expect((await next).status).toBe(200);
    expect(begun).toHaveLength(17);
    expect(world.logger.lines.slice(logged)).toEqual([]);
  });
});
