import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { DomainError } from '../../../../domain/shared/domain-error.ts';
import { tokenFor } from '../../../support/http-fakes.ts';
import { loanForm, validLoanData, validSettlement } from '../../../support/http-requests.ts';
import { HttpWorld } from '../../../support/http-world.ts';
import type { CallOptions } from '../../../support/http-world.ts';

const SETTLE = '/installment/settle';
const BIG = 'x'.repeat(1_048_577);
const EMPTY_APPLICATION = tokenFor('drained');

let world: HttpWorld;

beforeAll(async () => {
  world = await HttpWorld.start();
  const { client } = await import('../../../support/http-fakes.ts');
  // A contract factor so small that one request empties the bucket.
  world.clients.add(
    client({ clientId: 'drained', applicationId: 'app-drained', rateLimitMultiplier: 0.001 }),
  );
  await world.call('POST', SETTLE, { auth: EMPTY_APPLICATION, json: validSettlement() });
  world.behaviour.loans.settle = async () => {
    throw new DomainError('operation_invalid_state', 'the operation is settled');
  };
});
afterAll(() => world.stop());

type Row = readonly [
  what: string,
  method: string,
  path: string,
  options: CallOptions,
  status: number,
  code: string,
];

/** Each request breaks several rules at once; the answer names the one that is looked at first. */
const rows: readonly Row[] = [
  ['unknown path, no token', 'POST', '/nothing', { auth: false, body: BIG }, 404, 'not_found'],
  ['other method, no token, too large', 'PUT', SETTLE, { auth: false, body: BIG }, 405, 'method_not_allowed'],
  [
    'too large, wrong type, wrong Accept, no token',
    'POST',
    SETTLE,
    { auth: false, body: BIG, headers: { 'content-type': 'text/plain', accept: 'image/png' } },
    413,
    'payload_too_large',
  ],
  [
    'wrong type, wrong Accept, no token',
    'POST',
    SETTLE,
    { auth: false, body: '{', headers: { 'content-type': 'text/plain', accept: 'image/png' } },
    415,
    'unsupported_media_type',
  ],
  [
    'wrong Accept, no token',
    'POST',
    SETTLE,
    { auth: false, body: '{', headers: { 'content-type': 'application/json', accept: 'image/png' } },
    406,
    'not_acceptable',
  ],
  [
    'no token, broken JSON',
    'POST',
    SETTLE,
    { auth: false, body: '{', headers: { 'content-type': 'application/json' } },
    401,
    'missing_token',
  ],
  [
    'foreign token, broken JSON',
    'POST',
    SETTLE,
    { auth: 'a.b.c', body: '{', headers: { 'content-type': 'application/json' } },
    401,
    'invalid_token',
  ],
  ['expired token', 'POST', SETTLE, { auth: 'expired', json: {} }, 401, 'token_expired'],
  ['revoked client', 'POST', SETTLE, { auth: tokenFor('nobody'), json: {} }, 401, 'invalid_token'],
  [
    'missing scope, broken JSON',
    'POST',
    SETTLE,
    {
      auth: tokenFor('client-a', ['loans:read']),
      body: '{',
      headers: { 'content-type': 'application/json' },
    },
    403,
    'insufficient_scope',
  ],
  [
    'missing scope, empty bucket',
    'POST',
    SETTLE,
    { auth: tokenFor('drained', ['loans:read']), json: {} },
    403,
    'insufficient_scope',
  ],
  [
    'empty bucket, broken JSON',
    'POST',
    SETTLE,
    { auth: EMPTY_APPLICATION, body: '{', headers: { 'content-type': 'application/json' } },
    429,
    'rate_limited',
  ],
  [
    'broken JSON',
    'POST',
    SETTLE,
    { body: '{', headers: { 'content-type': 'application/json' } },
    400,
    'invalid_request',
  ],
  [
    'broken rule and invalid state',
    'POST',
    SETTLE,
    { json: { ...validSettlement(), settled_value: 0 } },
    400,
    'validation_error',
  ],
  ['invalid state', 'POST', SETTLE, { json: validSettlement() }, 422, 'operation_invalid_state'],
  [
    'broken rule and missing file',
    'POST',
    '/loan',
    { body: loanForm({ ...validLoanData(), fund_id: 'x' }, []) },
    400,
    'validation_error',
  ],
  ['empty bucket at a read', 'GET', '/loan/OP-1', { auth: false }, 401, 'missing_token'],
];

describe('of several things wrong with a request, the first in the published order is answered', () => {
  test.each(rows)('%s', async (...[, method, path, options, status, code]) => {
    const answer = await world.call(method, path, options);
    expect([answer.status, answer.body.error_code]).toEqual([status, code]);
    expect(answer.body.request_id).toBe(answer.headers.get('x-request-id'));
    expect(answer.headers.get('content-type')).toBe('application/json; charset=utf-8');
    expect(answer.headers.get('x-ratelimit-limit')).toMatch(/^\d+$/);
    expect(answer.headers.get('x-svc-api-version')).toBe(world.description.document['info'].version);
  });
});

describe('methods', () => {
  test('a path that exists names its methods', async () => {
    const { status, headers } = await world.call('DELETE', SETTLE);
    expect([status, headers.get('allow')]).toEqual([405, 'OPTIONS, POST']);
    const webhook = await world.call('PUT', '/webhook/x');
    expect(webhook.headers.get('allow')).toBe('DELETE, GET, HEAD, OPTIONS, PATCH');
    const read = await world.call('POST', '/loan/OP-1');
    expect(read.headers.get('allow')).toBe('GET, HEAD, OPTIONS');
  });

  test('OPTIONS answers without a token', async () => {
    const { status, headers, text } = await world.call('OPTIONS', '/loan', { auth: false });
    expect([status, text, headers.get('allow')]).toEqual([204, '', 'GET, HEAD, OPTIONS, POST']);
    expect(headers.get('x-ratelimit-limit')).toBe('1200');
  });

  test('HEAD answers the headers of GET', async () => {
    const get = await world.call('GET', '/loan/OP-1');
    const head = await world.call('HEAD', '/loan/OP-1');
    expect([head.status, head.text, head.headers.get('content-length')]).toEqual([
      200,
      '',
      get.headers.get('content-length'),
    ]);
  });

  test('paths are matched exactly', async () => {
    for (const path of ['/Loan', '/loan/', '/loan/OP-1/', '/installment/settle/']) {
      expect((await world.call('GET', path)).body.error_code).toBe('not_found');
    }
  });

  test('a path that is not validly encoded is a broken request', async () => {
    const { status, body } = await world.call('GET', '/loan/%zz', { described: false });
    expect([status, body.error_code]).toEqual([400, 'invalid_request']);
  });
});

describe('formats', () => {
  test.each([
    ['*/*', 200],
    ['application/json', 200],
    ['application/*;q=0.5, text/html', 200],
    ['', 200],
    [',', 200],
    [' , ,,', 200],
    [', application/json,', 200],
    ['text/html, */*;q=0', 406],
    [', text/html,', 406],
    ['application/xml', 406],
    ['application/json;q=0, */*', 406],
    ['application/json; charset=utf-8', 200],
    ['text/html, application/json;version=1; q=0.9', 200],
    ['application/json; charset=utf-8 ; Q=0, */*', 406],
  ])('Accept: %s answers %i', async (accept, status) => {
    expect((await world.call('GET', '/loan/OP-1', { headers: { accept } })).status).toBe(status);
  });

  test('the YAML description is offered as YAML only', async () => {
    expect(
      (await world.call('GET', '/openapi.yaml', { headers: { accept: 'application/json' } })).status,
    ).toBe(406);
    expect(
      (await world.call('GET', '/openapi.yaml', { headers: { accept: 'application/yaml' } })).status,
    ).toBe(200);
  });

  test.each([
    ['application/json', 422],
    ['Application/JSON; charset=UTF-8', 422],
    ['application/json; charset="utf-8"', 422],
    ['application/json; charset=latin1', 415],
    ['application/merge-patch+json', 415],
    ['multipart/form-data; boundary=x', 415],
    ['', 415],
  ])('Content-Type: %s answers %i', async (type, status) => {
    const body = Buffer.from(JSON.stringify(validSettlement()));
    expect((await world.call('POST', SETTLE, { body, headers: { 'content-type': type } })).status).toBe(
      status,
    );
  });

  test.each([
    ['gzip', 415],
    ['identity, gzip', 415],
    ['Identity', 422],
    [', identity,', 422],
    ['', 422],
  ])('Content-Encoding: %s answers %i', async (encoding, expected) => {
    const options = { json: validSettlement(), headers: { 'content-encoding': encoding } };
    expect((await world.call('POST', SETTLE, options)).status).toBe(expected);
  });

  test('an absent body is missing rather than of the wrong type', async () => {
    const { status, body } = await world.call('POST', SETTLE);
    expect([status, body.error_code]).toEqual([400, 'invalid_request']);
  });

  test('bytes that are not UTF-8 are refused', async () => {
    const body = Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]);
    const answer = await world.call('POST', SETTLE, {
      body,
      headers: { 'content-type': 'application/json' },
    });
    expect([answer.status, answer.body.error_code]).toEqual([400, 'invalid_request']);
  });

  test('a body without a declared length is cut off at the limit', async () => {
    const chunk = Buffer.alloc(65_536, ' ');
    let left = 40;
    const body = new ReadableStream({
      pull: (controller) => {
        if (left-- > 0) controller.enqueue(chunk);
        else controller.close();
      },
    });
    const answer = await world.call('POST', SETTLE, {
      body,
      headers: { 'content-type': 'application/json' },
    });
    expect([answer.status, answer.body.error_code]).toEqual([413, 'payload_too_large']);
  });
});
