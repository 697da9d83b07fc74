import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { client } from '../../../support/http-fakes.ts';
import { loanForm, validLoanData, validSettlement } from '../../../support/http-requests.ts';
import { HttpWorld } from '../../../support/http-world.ts';

const world = await HttpWorld.start();
afterAll(() => world.stop());
beforeEach(() => {
  world.now += 3_600_000;
});

const settle = (body: object) => world.call('POST', '/installment/settle', { json: body });
const messageFor = async (field: string, value: unknown): Promise<string> => {
  const { body } = await settle({ ...validSettlement(), [field]: value });
  expect(body).toMatchObject({ error_code: 'validation_error', details: [{ field }] });
  return body.details[0].message;
};

describe('a value of another type is told its type first', () => {
  test.each([
    ['installment_code', 5, 'must be a string: 1 to 50 visible ASCII characters, without spaces'],
    ['idempotency_key', true, /^must be a string: 1 to 255 /],
    ['originator_proposal_code', ['x'], /^must be a string: 1 to 100 /],
    [
      'settled_at',
      20_260_115,
      /^must be a string: a date of the calendar, from the year 1000 on, written YYYY-MM-DD/,
    ],
    ['payment_method', null, /^must be a string: one of direct_debit, /],
    ['settled_value', '950.00', /^must be a JSON number \(no quotes\) above 0/],
    ['dry_run', 'true', 'must be true or false'],
  ])('%s: %j', async (field, value, message) => {
    expect(await messageFor(field, value)).toEqual(
      typeof message === 'string' ? message : expect.stringMatching(message),
    );
  });

  test('of the right type it is told the rule alone', async () => {
    expect(await messageFor('installment_code', '')).toBe(
      'must be 1 to 50 visible ASCII characters, without spaces',
    );
  });

  test.each<[object, string, string]>([
    [{ url: 1, events: ['*'] }, 'url', 'must be a string: an https:// address of '],
    [{ url: 'https://a.example', events: '*' }, 'events', 'must be a list of at least '],
  ])('of a webhook as well: %j', async (json, field, message) => {
    const answer = await world.call('POST', '/webhook', { json });
    expect(answer.body.details).toEqual([
      { field, code: expect.any(String), message: expect.stringContaining(message) },
    ]);
  });
});

const upload = (names: readonly string[], contents: Record<string, string> = {}) => {
  const data = {
    ...validLoanData(),
    backing_documents: ['a.pdf', 'b.pdf'].map((value) => ({ type: 'ccb', value })),
  };
  const body = new FormData();
  body.append('loan_data', JSON.stringify(data));
  for (const name of names) body.append('files', new Blob([contents[name] ?? '%PDF-1.4']), name);
  return world.call('POST', '/loan', { body });
};

describe('a file is named by its place in the form, and by its name in the message', () => {
  test('one that is too large', async () => {
    const { status, body } = await upload(['a.pdf', 'b.pdf'], { 'b.pdf': 'x'.repeat(2 * 1024 * 1024) });
    expect([status, body.error_code]).toEqual([413, 'payload_too_large']);
    expect(body.details).toEqual([
      { field: 'files[1]', code: 'payload_too_large', message: expect.stringContaining('b.pdf') },
    ]);
  });

  test('one that comes twice, and one that no document names', async () => {
    const { body } = await upload(['b.pdf', 'x.pdf', 'a.pdf', 'b.pdf']);
    expect(body.error_code).toBe('duplicate_file_name');
    expect(body.details).toEqual([
      { field: 'files[3]', code: 'duplicate_file_name', message: expect.stringContaining('b.pdf') },
      { field: 'files[1]', code: 'unreferenced_file', message: expect.stringContaining('x.pdf') },
    ]);
  });

  test('a file that is missing has no place', async () => {
    const { body } = await upload(['b.pdf']);
    expect(body.details).toEqual([
      { field: 'files', code: 'missing_file', message: expect.stringContaining('a.pdf') },
    ]);
  });

  test('too many of them', async () => {
    const { status, body } = await upload(Array.from({ length: 21 }, (_, i) => `${i}.pdf`));
    expect([status, body.details]).toEqual([
      413,
      [{ field: 'files', code: 'payload_too_large', message: 'a request may carry at most 20 files' }],
    ]);
  });
});

describe('what is too large is named', () => {
  test('a body', async () => {
    const { status, body } = await settle({ ...validSettlement(), note: 'x'.repeat(9_000) });
    expect([status, body.details[0].field]).toEqual([413, 'body']);
  });

  test('the part of a form with the data', async () => {
    const form = loanForm({ ...validLoanData(), note: 'x'.repeat(300_000) });
    const { status, body } = await world.call('POST', '/loan', { body: form });
    expect([status, body.details[0].field]).toEqual([413, 'loan_data']);
  });
});

test('one key twice is refused in a body and in the data of a form', async () => {
  const twice = JSON.stringify(validSettlement()).replace('{', '{"settled_\\u0076alue":1.00,');
  const headers = { 'content-type': 'application/json' };
  const { status, body } = await world.call('POST', '/installment/settle', { body: twice, headers });
  expect([status, body.error_code, body.details[0]]).toEqual([
    400,
    'invalid_request',
    { field: 'settled_value', code: 'duplicate_field', message: expect.stringContaining('line 1, column') },
  ]);
  const form = new FormData();
  form.append('loan_data', JSON.stringify(validLoanData()).replace('"city":', '"city":"A","city":'));
  form.append('files', new Blob(['%PDF-1.4']), 'ccb.pdf');
  expect((await world.call('POST', '/loan', { body: form })).body).toMatchObject({
    error_code: 'invalid_request',
    details: [{ field: 'borrower.address.city', code: 'duplicate_field' }],
  });
});

test.each([
  ['/loan?satus=active', 'satus is not a parameter here; the nearest one is status'],
  ['/loan?fundId=x', 'fundId is not a parameter here; the nearest one is fund_id'],
  ['/loan?limit[]=1', 'limit[] is not a parameter here; the nearest one is limit'],
  [
    '/webhook/hook-1/deliveries?foo=1',
    /^foo is not a parameter here; there are status, since, event, originator_proposal_code, event_id, limit, cursor$/,
  ],
  ['/loan/OP-1?foo=1', 'foo is not a parameter here; this request has none'],
])('GET %s names the nearest parameter, or those that there are', async (path, message) => {
  const { body } = await world.call('GET', path);
  expect(body.error_code).toBe('invalid_query_parameter');
  expect(body.message).toEqual(typeof message === 'string' ? message : expect.stringMatching(message));
});

describe('the scope of a token', () => {
  const ask = (scope: string, clientId = 'client-a') => {
    const fields = { grant_type: 'client_credentials', client_id: clientId, client_secret: 'right', scope };
    return world.call('POST', '/token', { auth: false, body: new URLSearchParams(fields) });
  };
  beforeAll(() => {
    world.clients.add(client({ clientId: 'reader', scopes: ['loans:read', 'events'] }));
  });

  test.each([
    ['client-a', 'loans:read', 'loans:read'],
    ['client-a', 'webhooks loans:read loans:read', 'loans:read webhooks'],
    ['client-a', 'events', 'events'],
    ['reader', ' events ', 'events'],
  ])('%s asks for %j and gets it', async (clientId, scope, granted) => {
    expect(await ask(scope, clientId)).toMatchObject({ status: 200, body: { scope: granted } });
  });

  test('is all that the client has where none is named', async () => {
    expect((await ask('')).body.scope).toBe((await ask(' ')).body.scope);
    expect((await ask('', 'reader')).body.scope).toBe('loans:read events');
  });

  test.each([
    ['client-a', 'loans:delete'],
    ['client-a', 'loans:read,webhooks'],
    ['client-a', 'Loans:Read'],
    ['reader', 'loans:write'],
    ['reader', 'events webhooks'],
  ])('%s asks for %j and is refused in both vocabularies', async (clientId, scope) => {
    const { status, body } = await ask(scope, clientId);
    expect([status, body.error, body.error_code]).toEqual([400, 'invalid_scope', 'invalid_scope']);
    expect(body.message).toBe(body.error_description);
    expect(body.details).toMatchObject([{ field: 'scope' }]);
  });

  test('that holds what OAuth allows in no description is repeated as it came in the message alone', async () => {
    const { status, body } = await ask('pre\u00e7os"\\\n\u{1f4b0}');
    expect([status, body.error]).toEqual([400, 'invalid_scope']);
    expect(body.message).toContain('pre\u00e7os"\\\n\u{1f4b0} is no scope');
    expect(body.error_description).toContain('pre?os???? is no scope of this client');
  });

  test('is told to nobody without the secret', async () => {
    const fields = { grant_type: 'client_credentials', client_id: 'reader', scope: 'x', client_secret: 'no' };
    const { body } = await world.call('POST', '/token', { auth: false, body: new URLSearchParams(fields) });
    expect(body.error).toBe('invalid_client');
  });
});
