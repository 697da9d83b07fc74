import { randomUUID } from 'node:crypto';
import { afterAll, describe, expect, test } from '@jest/globals';
import {
  exampleRenegotiation,
  exampleRenegotiationData,
} from '../../../../infrastructure/http/resources/renegotiation-request.ts';
import { examplePrepayment } from '../../../../infrastructure/http/resources/process-prepayment.ts';
import { exampleRepurchase } from '../../../../infrastructure/http/resources/request-repurchase.ts';
import { loanForm, validLoanData, validSettlement, withField } from '../../../support/http-requests.ts';
import { HttpWorld } from '../../../support/http-world.ts';

type Json = ReturnType<typeof JSON.parse>;
type Send = (change: (body: Json) => Json) => Promise<{ status: number; body: Json }>;

const world = await HttpWorld.start();
afterAll(() => world.stop());

const json =
  (method: string, path: string, valid: object): Send =>
  (change) =>
    world.call(method, path, { json: change(structuredClone(valid)) });

const form = (part: string, method: string, path: string, valid: object): Send => {
  const names = (body: Json): string[] => {
    const documents = body.backing_documents ?? body.documents ?? body.new_loan.backing_documents;
    return documents.map((one: Json) => one.value);
  };
  return (change) => {
    const body = new FormData();
    const data = change(structuredClone(valid));
    body.append(part, JSON.stringify(data));
    for (const name of names(data)) body.append('files', new Blob(['%PDF-1.4']), name);
    return world.call(method, path, { body });
  };
};

const filesData = { originator_proposal_code: 'OP-1', documents: [{ type: 'ccb', value: 'ccb.pdf' }] };
const WEBHOOK = { url: 'https://hooks.example.com/x', events: ['*'] };

const ENDPOINTS: Readonly<Record<string, Send>> = {
  settle: json('POST', '/installment/settle', validSettlement()),
  prepayment: json('POST', '/installment/prepayment', examplePrepayment),
  repurchase: json('POST', '/loan/repurchase', exampleRepurchase),
  renegotiation: json('PATCH', '/loan/renegotiate', exampleRenegotiation),
  'renegotiation with documents': form(
    'renegotiation_data',
    'PATCH',
    '/loan/renegotiate',
    exampleRenegotiationData,
  ),
  loan: form('loan_data', 'POST', '/loan', validLoanData()),
  files: form('files_data', 'POST', '/loan/files', filesData),
  webhook: json('POST', '/webhook', WEBHOOK),
  'webhook update': json('PATCH', '/webhook/hook-1', WEBHOOK),
};

const MISSPELT: readonly (readonly [endpoint: string, path: string, meant: string])[] = [
  ['settle', 'dryRun', 'dry_run'],
  ['settle', 'settled_amount', 'settled_value'],
  ['prepayment', 'dryrun', 'dry_run'],
  ['repurchase', 'repurchase_amount', 'repurchase_value'],
  ['repurchase', 'Dry_Run', 'dry_run'],
  ['renegotiation', 'effectiveDate', 'effective_date'],
  ['renegotiation', 'new_proposal.acquisition_amount', 'acquisition_value'],
  ['renegotiation', 'new_proposal.installments[1].faceValue', 'face_value'],
  ['renegotiation with documents', 'new_loan.backing_document', 'backing_documents'],
  ['loan', 'dryRun', 'dry_run'],
  ['loan', 'borrower.address.zipcode', 'zip_code'],
  ['loan', 'installments[0].dueDate', 'due_date'],
  ['loan', 'backing_documents[0].vaule', 'value'],
  ['files', 'document', 'documents'],
  ['webhook', 'fund_id', 'fund_ids'],
  ['webhook update', 'descripton', 'description'],
];

describe('a field that is plainly misspelt', () => {
  test.each(MISSPELT)(
    '%s: %s is refused, and the field that was meant is named',
    async (endpoint, path, meant) => {
      const { status, body } = await ENDPOINTS[endpoint]!((valid) => withField(valid, path, 1));
      expect([status, body.error_code, body.retryable]).toEqual([400, 'unknown_field', false]);
      expect(body.details).toContainEqual({
        field: path,
        code: 'unknown_field',
        message: `is not a field here; the field is called ${meant}`,
      });
    },
  );

  test('wins over everything else that is wrong, and `details` holds all of it', async () => {
    const { body } = await ENDPOINTS['repurchase']!((valid) => ({
      ...valid,
      reason: 'x',
      dryRun: true,
      effective_date: 5,
    }));
    expect(body.error_code).toBe('unknown_field');
    expect(body.details.map(({ field }: Json) => field)).toEqual(['dryRun', 'reason', 'effective_date']);
  });

  test('a field of the caller\u2019s own is still ignored', async () => {
    const { status } = await ENDPOINTS['loan']!((valid) => {
      valid.borrower.address.street2 = 'Block B';
      return { ...valid, note: 'x', metadata: { dryRun: true }, constructor: 1 };
    });
    expect(status).toBe(201);
  });
});

describe('a field of other requests', () => {
  test.each(['files', 'webhook', 'webhook update'])('dry_run of %s', async (endpoint) => {
    const { status, body } = await ENDPOINTS[endpoint]!((valid) => ({ ...valid, dry_run: false }));
    expect([status, body.error_code, body.details[0].field]).toEqual([400, 'unknown_field', 'dry_run']);
  });

  test.each([
    ['POST', '/webhook/hook-1/pause'],
    ['POST', '/webhook/hook-1/resume'],
    ['POST', '/webhook/hook-1/ping'],
    ['POST', '/webhook/hook-1/rotate-secret'],
    ['POST', `/webhook/event/${randomUUID()}/redeliver`],
    ['DELETE', '/webhook/hook-1'],
  ])('dry_run of %s %s, which asks for no body: nothing is done', async (method, path) => {
    const done: unknown[] = [];
    const { webhooks } = world.behaviour;
    world.behaviour.webhooks = new Proxy({} as typeof webhooks, { get: (_, name) => done.push(name) });
    for (const [json, field] of [
      [{ dry_run: true }, 'dry_run'],
      [{ note: 1, dryRun: false }, 'dryRun'],
    ] as const) {
      const { status, body } = await world.call(method, path, { json });
      expect([status, body.error_code, body.details[0].field]).toEqual([400, 'unknown_field', field]);
    }
    world.behaviour.webhooks = webhooks;
    expect(done).toEqual([]);
  });

  test.each(['', '{', '[]', 'null', '{"note":{"dry_run":true}}', '\u00ff', ' '.repeat(100_000)])(
    'another body where none is asked for is ignored as before: %.30j',
    async (body) => {
      const headers = { 'content-type': 'application/json' };
      expect((await world.call('POST', '/webhook/hook-1/pause', { body, headers })).status).toBe(200);
    },
  );

  test('dry_run below the top of a request', async () => {
    for (const [endpoint, field] of [
      ['loan', 'borrower'],
      ['renegotiation', 'new_proposal'],
      ['renegotiation with documents', 'new_loan'],
    ] as const) {
      const { body } = await ENDPOINTS[endpoint]!((valid) => withField(valid, `${field}.dry_run`, true));
      expect([body.error_code, body.details[0].field]).toEqual(['unknown_field', `${field}.dry_run`]);
    }
  });

  test.each(['backing_documents', 'new_proposal.backing_documents'])(
    '%s of the JSON renegotiation',
    async (path) => {
      const { status, body } = await ENDPOINTS['renegotiation']!((valid) => withField(valid, path, []));
      expect([status, body.error_code, body.details[0].field]).toEqual([400, 'unknown_field', path]);
      expect(body.details[0].message).toContain('renegotiation_data');
    },
  );
});

describe('several originals in the JSON renegotiation', () => {
  test('are refused with the form that takes them', async () => {
    const { status, body } = await ENDPOINTS['renegotiation']!((valid) => ({
      ...valid,
      original_proposal_codes: ['OP-1', 'OP-2'],
    }));
    expect([status, body.error_code, body.details[0].field]).toEqual([
      ...[400, 'unknown_field', 'original_proposal_codes'],
    ]);
    expect(body.details[0].message).toContain('several are sent as a form with the part renegotiation_data');
  });
});

describe('any other field of another request', () => {
  test('is ignored, as every unknown field is', async () => {
    const { status, body } = await ENDPOINTS['prepayment']!((valid) => ({
      ...valid,
      installment_code: '004',
    }));
    expect([status, body.error_code]).not.toContain(400);
    expect(body.error_code).not.toBe('unknown_field');
  });
});

describe('an optional field that is null counts as left out', () => {
  test.each([
    ['settle', 'dry_run'],
    ['prepayment', 'dry_run'],
    ['repurchase', 'repurchase_value'],
    ['repurchase', 'reason_detail'],
    ['renegotiation', 'dry_run'],
    ['renegotiation with documents', 'new_loan.borrower'],
    ['renegotiation with documents', 'new_loan.product_type'],
    ['renegotiation with documents', 'new_loan.date_issued'],
    ['renegotiation with documents', 'original_proposal_code'],
    ['loan', 'borrower.email'],
    ['loan', 'borrower.phone'],
    ['loan', 'borrower.address.neighborhood'],
    ['webhook', 'fund_ids'],
    ['webhook', 'description'],
    ['webhook update', 'fund_ids'],
    ['webhook update', 'description'],
  ])('%s: %s', async (endpoint, path) => {
    const { status } = await ENDPOINTS[endpoint]!((valid) => withField(valid, path, null));
    expect([200, 201]).toContain(status);
  });

  test.each([
    ['loan', 'borrower.birth_date'],
    ['loan', 'product_type'],
    ['settle', 'settled_value'],
    ['webhook', 'url'],
    ['webhook update', 'url'],
    ['webhook update', 'events'],
  ])('and of a required one it is refused: %s, %s', async (endpoint, path) => {
    const { status, body } = await ENDPOINTS[endpoint]!((valid) => withField(valid, path, null));
    expect([status, body.details[0].field]).toEqual([400, path]);
  });
});

describe('text', () => {
  test.each([
    ['repurchase', 'reason_detail', 'a\u0000b'],
    ['repurchase', 'reason_detail', 'a\ud800b'],
    ['webhook', 'description', '\u0000'],
    ['webhook', 'description', '\udc00'],
    ['webhook update', 'description', 'a\u0000'],
    ['loan', 'borrower.name', 'Maria \ud83d'],
    ['loan', 'borrower.address.street', 'Rua\u0000'],
    ['loan', 'backing_documents[0].value', 'a\ud800.pdf'],
    ['files', 'documents[0].value', 'a\ud800.pdf'],
  ])('%s: %s must be well-formed and without NUL', async (endpoint, path, value) => {
    const { status, body } = await ENDPOINTS[endpoint]!((valid) => withField(valid, path, value));
    expect([status, body.error_code, body.details[0].field]).toEqual([400, 'validation_error', path]);
  });

  test('free text may hold line breaks', async () => {
    const { status } = await ENDPOINTS['repurchase']!((valid) => ({
      ...valid,
      reason_detail: 'one\ntwo\r\n\tthree',
    }));
    expect(status).toBe(200);
  });
});

describe('codes that clients resolve away', () => {
  test.each(['.', '..'])('"%s" is none', async (code) => {
    const loan = await ENDPOINTS['loan']!((valid) => ({ ...valid, originator_proposal_code: code }));
    expect([loan.status, loan.body.details[0].field]).toEqual([400, 'originator_proposal_code']);
    const settle = await ENDPOINTS['settle']!((valid) => ({ ...valid, originator_proposal_code: code }));
    expect(settle.status).toBe(400);
  });

  test.each(['...', '.a', 'a.', '..a'])('"%s" is one', async (code) => {
    const { status } = await ENDPOINTS['settle']!((valid) => ({ ...valid, originator_proposal_code: code }));
    expect(status).toBe(200);
  });
});

describe('a query parameter that does not exist', () => {
  test('is told together with a value that is not allowed', async () => {
    const { body } = await world.call('GET', '/loan?limit=0&colour=red');
    expect(body.details.map(({ field }: Json) => field)).toEqual(['colour', 'limit']);
  });

  test('does not matter on public pages', async () => {
    const options = { auth: false, headers: { accept: '*/*' } } as const;
    for (const path of ['/openapi.json?x=1', '/docs?utm=1', '/health/live?x'])
      expect([path, (await world.call('GET', path, options)).status]).toEqual([path, 200]);
  });
});

test.each([
  ['POST', '/installment/settle?dry_run=true', 'dry_run'],
  ['POST', '/installment/settle/batch?x=1&dryRun', 'dryRun'],
  ['POST', '/loan/repurchase?dry_run=1', 'dry_run'],
  ['PATCH', '/loan/renegotiate?dry_run=false', 'dry_run'],
  ['DELETE', '/webhook/w-1?dry_run=true', 'dry_run'],
])(
  'a trial that the address asks for is refused, because it would take effect: %s %s',
  async (method, path, field) => {
    const { status, body } = await world.call(method, path, { json: validSettlement() });
    expect([status, body.error_code]).toEqual([400, 'unknown_field']);
    expect(body.details).toEqual([
      { field, code: 'unknown_field', message: expect.stringContaining('top of their body') },
    ]);
  },
);

test('a form without its data part still says what is missing', async () => {
  const { status, body } = await world.call('POST', '/loan', { body: loanForm(undefined) });
  expect([status, body.error_code]).toEqual([400, 'invalid_request']);
});

describe('what no engine could look for', () => {
  const never = async (): Promise<never> => {
    throw new Error('looked for it');
  };

  test.each(['%00', 'a%00b'])('the id %s in a path is not found, without a look', async (id) => {
    Object.assign(world.behaviour.webhooks, {
      update: never,
      remove: never,
      deliveries: { redeliver: never, page: never },
    });
    const rows = [
      ['GET', `/webhook/${id}/deliveries`, 'webhook_not_found'],
      ['DELETE', `/webhook/${id}`, 'webhook_not_found'],
      ['POST', `/webhook/event/${id}/redeliver`, 'event_not_found'],
      ['GET', `/loan/${id}`, 'loan_not_found'],
    ] as const;
    for (const [method, path, code] of rows) {
      const { status, body } = await world.call(method, path);
      expect([path, status, body.error_code]).toEqual([path, 404, code]);
    }
  });

  test('a client id like that gets the answer of a wrong secret', async () => {
    for (const id of ['client-a\u0000', '\u0000']) {
      const body = new URLSearchParams({
        grant_type: 'client_credentials',
        client_id: id,
        client_secret: 'right',
      });
      const answer = await world.call('POST', '/token', { auth: false, body });
      expect([answer.status, answer.body.error_code]).toEqual([401, 'invalid_client']);
    }
  });
});
