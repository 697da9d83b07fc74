import { setTimeout } from 'node:timers/promises';
import { describe, expect, test } from '@jest/globals';
import { ApiError, ConnectionError } from '../../../clients/typescript/src/errors.ts';
import type { ReceivablesError } from '../../../clients/typescript/src/errors.ts';
import { withKey } from '../../../clients/typescript/src/bodies.ts';
import { mayRepeat, secondsOf, waitBefore } from '../../../clients/typescript/src/repeating.ts';
import type { AttemptReport, ClientSettings } from '../../../clients/typescript/src/settings.ts';
import { Transport, pathOf } from '../../../clients/typescript/src/transport.ts';

/** An answer, the loss of one, or one that never comes. */
type Scripted =
  | { readonly status: number; readonly body?: object | string | null; readonly headers?: object }
  | { readonly code: string }
  | 'silence';

const refusal = (status: number, error_code: string, retryable = false): Scripted => ({
  ...{ status, body: { error_code, message: error_code, request_id: 'r', retryable } },
});

const reset = { code: 'ECONNRESET' };
const unreachable = { code: 'ECONNREFUSED' };
const busy = refusal(503, 'service_unavailable', true);

/** A transport over answers that are given in their order; a token always comes, unless `issued` says otherwise. */
const over = (
  script: Scripted[],
  { issued = [], ...settings }: Partial<ClientSettings> & { readonly issued?: Response[] } = {},
) => {
  const sent: { readonly method: string; readonly token: string | null; readonly body: unknown }[] = [];
  const reports: AttemptReport[] = [];
  let tokens = 0;
  const fetching = async (url: string, init: RequestInit): Promise<Response> => {
    if (url.endsWith('/token')) {
      tokens += 1;
      return issued.shift() ?? Response.json({ access_token: `T${tokens}`, expires_in: 3_600 });
    }
    const token = new Headers(init.headers).get('authorization');
    sent.push({ method: init.method ?? '', token, body: init.body });
    const next: Scripted = script.shift() ?? { status: 200, body: {} };
    if (next === 'silence') {
      return new Promise((_, reject) => {
        init.signal!.addEventListener('abort', () => reject(init.signal!.reason as Error));
      });
    }
    if ('code' in next) throw new TypeError('fetch failed', { cause: Object.assign(new Error(), next) });
    const text = typeof next.body === 'string' ? next.body : JSON.stringify(next.body);
    return new Response(next.body === null ? null : text, {
      ...{ status: next.status, headers: { 'retry-after': '0', ...next.headers } },
    });
  };
  const transport = new Transport(
    {
      ...{ baseUrl: 'http://service', clientId: 'id', clientSecret: 'secret' },
      ...{ fetch: fetching as typeof fetch, onAttempt: (report) => reports.push(report), ...settings },
    },
    '1.2.3',
  );
  const call = (idempotent: boolean, method = 'POST', options = {}) =>
    transport.call(
      { operation: 'op', method, path: '/x', idempotent, json: { idempotency_key: 'K' } },
      options,
    );
  return { transport, sent, reports, call };
};

const failure = (work: Promise<unknown>) =>
  work.then(
    () => undefined,
    (error: unknown) => error as ReceivablesError,
  );

describe('what may be sent again', () => {
  const retryable = { error_code: 'c', message: 'm', request_id: 'r', retryable: true };
  const answered = (status: number, refused?: typeof retryable) => ({
    ...{ status, refusal: refused, retryAfter: undefined },
  });
  test.each([
    ['429', answered(429, retryable), true, true],
    ['429 of a proxy', answered(429), true, true],
    ['408', answered(408, retryable), true, true],
    ['409 with retryable', answered(409, retryable), true, true],
    ['409', answered(409, { ...retryable, retryable: false }), false, false],
    ['422', answered(422, { ...retryable, retryable: false }), false, false],
    ['503', answered(503, retryable), true, false],
    ['500', answered(500, { ...retryable, retryable: false }), true, false],
    ['502 of a proxy', answered(502), true, false],
    ['a page of a proxy', answered(404), false, false],
    ['a connection that was cut', { lost: new TypeError('x', { cause: reset }) }, true, false],
    ['a time-out', { lost: new Error('no answer within 1 ms') }, true, false],
    ['no connection', { lost: Object.assign(new Error(), unreachable) }, true, true],
    [
      'no connection to any address',
      { lost: new AggregateError([Object.assign(new Error(), unreachable)]) },
      true,
      true,
    ],
    [
      'a connection that stood until its host could not be reached',
      { lost: Object.assign(new Error(), { code: 'EHOSTUNREACH', syscall: 'read' }) },
      true,
      false,
    ],
    [
      'a certificate that has expired',
      { lost: new TypeError('x', { cause: Object.assign(new Error(), { code: 'CERT_HAS_EXPIRED' }) }) },
      true,
      true,
    ],
    [
      'no way to the host',
      { lost: Object.assign(new Error(), { code: 'EHOSTUNREACH', syscall: 'connect' }) },
      true,
      true,
    ],
  ])('%s', (_, outcome, idempotent, other) => {
    expect([mayRepeat(outcome, true), mayRepeat(outcome, false)]).toEqual([idempotent, other]);
  });

  test('never sooner than asked for, otherwise twice as late each time, up to a bound', () => {
    const asked = { status: 429, refusal: undefined, retryAfter: 7 };
    expect([waitBefore(asked, 1, () => 0), waitBefore(asked, 5, () => 1)]).toEqual([7_000, 7_250]);
    const lost = { lost: undefined };
    expect([1, 2, 3, 9].map((attempt) => waitBefore(lost, attempt, () => 1))).toEqual([
      500, 1_000, 2_000, 20_000,
    ]);
    expect(waitBefore(lost, 1, () => 0)).toBe(250);
    const now = Date.parse('2026-01-01T00:00:00Z');
    const asks = ['5', '1.5', 'Thu, 01 Jan 2026 00:00:09 GMT', 'soon', '-1', null];
    expect(asks.map((one) => secondsOf(one, now))).toEqual([5, 1.5, 9, undefined, undefined, undefined]);
  });
});

describe('a call', () => {
  test('goes through refusals and lost answers with one body, and reports each attempt', async () => {
    const { sent, reports, call } = over([
      busy,
      refusal(429, 'rate_limited', true),
      busy,
      { status: 200, body: { a: 1 } },
    ]);
    expect(await call(true)).toEqual({ a: 1 });
    expect(new Set(sent.map(({ body }) => body))).toEqual(new Set(['{"idempotency_key":"K"}']));
    const own = reports.filter(({ operation }) => operation === 'op');
    expect(own.map(({ attempt, status }) => [attempt, status])).toEqual([
      [1, 503],
      [2, 429],
      [3, 503],
      [4, 200],
    ]);
  });

  test('that may not be carried out twice is not, and says that it may have been', async () => {
    for (const lost of [busy, reset]) {
      const { sent, call } = over([lost]);
      expect(await failure(call(false))).toMatchObject({
        maybe_done: true,
        idempotency_key: 'K',
        operation: 'op',
      });
      expect(sent).toHaveLength(1);
    }
    const { sent, call } = over([unreachable, { status: 200, body: {} }]);
    await call(false);
    expect(sent).toHaveLength(2);
  });

  test('ends after its attempts, and before a wait that is too long', async () => {
    const few = over([busy, busy, busy], { attempts: 2 });
    expect(await failure(few.call(true))).toMatchObject({ status: 503, error_code: 'service_unavailable' });
    expect(few.sent).toHaveLength(2);
    const long = over([busy], { longestWaitMs: -1 });
    expect(await failure(long.call(true))).toBeInstanceOf(ApiError);
    expect(long.sent).toHaveLength(1);
  });

  test.each(['token_expired', 'invalid_token'])('takes a new token once after %s', async (code) => {
    const { sent, call } = over([refusal(401, code), { status: 200, body: {} }]);
    await call(false);
    expect(sent.map(({ token }) => token)).toEqual(['Bearer T1', 'Bearer T2']);
    const again = over([refusal(401, code), refusal(401, code)]);
    expect(await failure(again.call(true))).toMatchObject({
      status: 401,
      error_code: code,
      maybe_done: false,
    });
    expect(again.sent).toHaveLength(2);
  });

  test('that deletes has done so when a repetition finds nothing; otherwise nothing was there', async () => {
    const gone = over([reset, refusal(404, 'webhook_not_found')]);
    expect(await gone.call(true, 'DELETE')).toBeUndefined();
    const never = over([refusal(404, 'webhook_not_found')]);
    expect(await failure(never.call(true, 'DELETE'))).toMatchObject({ status: 404 });
    const elsewhere = over([reset, { status: 404, body: 'no such host' }]);
    expect(await failure(elsewhere.call(true, 'DELETE'))).toMatchObject({ status: 404, maybe_done: true });
  });

  test('is bounded in each attempt, and ended by its signal with the reason', async () => {
    const silent = over(['silence', { status: 200, body: {} }], { timeoutMs: 500 });
    expect(await silent.call(true)).toEqual({});
    const lost = over(['silence'], { timeoutMs: 20 });
    expect(await failure(lost.call(false))).toBeInstanceOf(ConnectionError);
    const controller = new AbortController();
    const stopped = over(['silence']);
    const ended = failure(stopped.call(true, 'POST', { signal: controller.signal }));
    controller.abort(new Error('enough'));
    expect(await ended).toMatchObject({ message: 'enough' });
  });

  test('without a token says what became of its earlier attempts, and keeps its key', async () => {
    const token = () => Response.json({ access_token: 'T', expires_in: 0 });
    const revoked = () =>
      Response.json({ error_code: 'invalid_client', message: 'no', request_id: 'r' }, { status: 401 });
    const lost = over([reset], { issued: [token(), revoked()] });
    expect(await failure(lost.call(true))).toMatchObject({
      ...{ operation: 'issueToken', status: 401, error_code: 'invalid_client', request_id: 'r' },
      ...{ maybe_done: true, idempotency_key: 'K' },
    });
    const elsewhere = () => new Response('<html>', { status: 502 });
    const never = over([], { attempts: 1, issued: [elsewhere()] });
    expect(await failure(never.call(true))).toMatchObject({
      ...{ status: 502, error_code: 'unexpected_answer', maybe_done: false, idempotency_key: 'K' },
    });
    expect(never.sent).toEqual([]);
  });

  test('that only reads has done nothing, whatever became of it', async () => {
    for (const lost of [reset, busy, { status: 200, body: '<html>' }]) {
      const { call } = over([lost], { attempts: 1 });
      expect(await failure(call(true, 'GET'))).toMatchObject({ maybe_done: false });
    }
  });

  test('may be bounded by more than a timer knows', async () => {
    const late = (_: unknown, { signal }: RequestInit) =>
      setTimeout(20, Response.json({ access_token: 'T', expires_in: 3_600 }), { signal: signal! });
    const { reports, call } = over([], { timeoutMs: Infinity, fetch: late as typeof fetch });
    await call(true);
    expect(reports.map(({ operation, status }) => [operation, status])).toEqual([
      ['issueToken', 200],
      ['op', 200],
    ]);
  });

  test.each([NaN, Infinity])('sends no amount that is %s', async (repurchase_value) => {
    const { transport, sent } = over([]);
    const data = { originator_proposal_code: 'OP-1', repurchase_value };
    const request = { operation: 'op', method: 'POST', path: '/x', idempotent: true };
    for (const body of [{ json: data }, { form: { part: 'data', data, files: [] } }]) {
      await expect(transport.call({ ...request, ...body })).rejects.toThrow(/repurchase_value is/);
    }
    expect(sent).toEqual([]);
  });

  test('has an answer without content only where the service says so', async () => {
    expect(await over([{ status: 204, body: null }]).call(true)).toBeUndefined();
    const proxy = over([{ status: 200, body: '', headers: { 'x-request-id': 'r-7' } }]);
    expect(await failure(proxy.call(true))).toMatchObject({
      ...{ error_code: 'unexpected_answer', maybe_done: true, request_id: 'r-7' },
    });
  });

  test('takes an answer that is not of the service for an error', async () => {
    for (const answer of [
      { status: 200, body: '<html>' },
      { status: 302, body: '' },
    ]) {
      const { call } = over([answer]);
      expect(await failure(call(true))).toMatchObject({
        error_code: 'unexpected_answer',
        status: answer.status,
      });
    }
  });
});

test('a path keeps to its operation', () => {
  expect(pathOf('/loan/{code}', { code: 'A/B ç' })).toBe('/loan/A%2FB%20%C3%A7');
  for (const code of ['', '.', '..']) expect(() => pathOf('/webhook/{code}', { code })).toThrow(TypeError);
});

test('a key that is left out follows from what happens once, and is one of chance otherwise', () => {
  const about = { originator_proposal_code: 'OP-1' };
  const key = (body: object) =>
    (withKey(body, 'idempotency_key') as { idempotency_key?: string }).idempotency_key;
  expect(key({ ...about, installment_code: '001' })).toBe('OP-1-001');
  expect(key({ originator_proposal_code: 'OP', installment_code: '1-001' })).toBe('OP/1-001');
  expect(key({ ...about, reason: 'resolution' })).toBe('OP-1-resolution');
  expect(key({ ...about, idempotency_key: 'mine' })).toBe('mine');
  expect(key(about)).toMatch(/^[\da-f-]{36}$/);
  expect(key(about)).not.toBe(key(about));
});

test('settings that cannot work are refused at once', () => {
  const settings = { baseUrl: 'http://service', clientId: 'id', clientSecret: 'secret' };
  for (const wrong of [
    { baseUrl: 'service' },
    { baseUrl: 'http://a b' },
    { authUrl: 'ftp://x' },
    { clientId: '' },
    { clientSecret: '' },
  ])
    expect(() => new Transport({ ...settings, ...wrong }, '1')).toThrow(TypeError);
});
