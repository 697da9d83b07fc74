import { afterAll, beforeEach, describe, expect, test } from '@jest/globals';
import { REPURCHASE_REASONS } from '../../../../domain/loan/exits.ts';
import { DomainError } from '../../../../domain/shared/domain-error.ts';
import type { DomainErrorCode } from '../../../../domain/shared/domain-error.ts';
import {
  exampleRenegotiation,
  exampleRenegotiationData,
} from '../../../../infrastructure/http/resources/renegotiation-request.ts';
import { acceptingUseCases } from '../../../support/http-fakes.ts';
import { validSettlement, withField } from '../../../support/http-requests.ts';
import type { FilePart } from '../../../support/http-requests.ts';
import { HttpWorld } from '../../../support/http-world.ts';

type Body = Record<string, ReturnType<typeof JSON.parse>>;

let seen: object | undefined;
let replayed = false;

const world = await HttpWorld.start();
beforeEach(() => {
  const accept = acceptingUseCases();
  seen = undefined;
  replayed = false;
  const noting =
    <Input extends object, Result>(run: (context: never, input: Input) => Promise<Result>) =>
    async (context: unknown, input: Input) => {
      seen = input;
      return { ...(await run(context as never, input)), replayed };
    };
  world.behaviour.loans.prepay = noting(accept.loans.prepay);
  world.behaviour.loans.repurchase = noting(accept.loans.repurchase);
  world.behaviour.loans.settle = noting(accept.loans.settle);
  world.behaviour.loans.addDocuments = noting(accept.loans.addDocuments);
});
afterAll(() => world.stop());

const PREPAYMENT = '/installment/prepayment';
const REPURCHASE = '/loan/repurchase';
const FILES = '/loan/files';

const validPrepayment = (): Body => ({
  originator_proposal_code: 'OP-1',
  prepayment_value: 3000,
  prepayment_date: '2026-06-20',
  payment_method: 'pix',
  idempotency_key: 'P-1',
});
const validRepurchase = (): Body => ({
  originator_proposal_code: 'OP-1',
  reason: 'repurchase',
  effective_date: '2026-06-20',
  idempotency_key: 'OP-1-repurchase',
});
const validFiles = (): Body => ({
  originator_proposal_code: 'OP-1',
  documents: [{ type: 'renegotiation_document', value: 'debt.docx' }],
});
const form = (data: unknown, files: readonly FilePart[] = [{ name: 'debt.docx' }]): FormData => {
  const parts = new FormData();
  if (data !== undefined) parts.append('files_data', JSON.stringify(data));
  for (const { name, content = '%PDF-1.4' } of files) parts.append('files', new Blob([content]), name);
  return parts;
};
const post = (path: string, json: unknown) => world.call('POST', path, { json });
const upload = (body: FormData) => world.call('POST', FILES, { body });

describe('POST /installment/prepayment', () => {
  test('hands cents to the use case and prints every amount with both decimals', async () => {
    const { status, text, headers } = await post(PREPAYMENT, { ...validPrepayment(), note: 'ignored' });
    expect([status, headers.get('idempotent-replayed')]).toEqual([200, null]);
    expect(seen).toEqual({
      code: 'OP-1',
      prepaymentValue: 300_000,
      prepaymentDate: '2026-06-20',
      paymentMethod: 'pix',
      idempotencyKey: 'P-1',
    });
    expect(text).toBe(
      '{"originator_proposal_code":"OP-1","status":"prepayment_processed","prepayment_value":3000.00,' +
        '"settled_installments":["012","011","010"],"remaining_balance":3147.33,"excess_value":0.00,' +
        '"partially_paid":{"installment_code":"009","outstanding_value":436.45},' +
        '"processed_at":"2026-01-15T12:00:00.000Z"}',
    );
  });

  test.each([
    ['originator_proposal_code', 'a/b', 'invalid_format'],
    ['prepayment_value', '3000.00', 'invalid_amount'],
    ['prepayment_value', 0, 'invalid_amount'],
    ['prepayment_value', 10.001, 'invalid_amount'],
    ['prepayment_value', 1_000_000_000, 'invalid_amount'],
    ['prepayment_date', '2026-02-30', 'invalid_date'],
    ['prepayment_date', '2026-06-20T00:00:00Z', 'invalid_date'],
    ['payment_method', 'cash', 'invalid_value'],
    ['idempotency_key', '', 'invalid_format'],
    ['idempotency_key', undefined, 'required'],
  ])('%s = %j: %s', async (field, value, code) => {
    const { status, body } = await post(PREPAYMENT, withField(validPrepayment(), field, value));
    expect([status, body.details]).toEqual([400, [{ field, code, message: expect.any(String) }]]);
  });
});

describe('POST /loan/repurchase', () => {
  test('without a value and without a detail, neither reaches the use case', async () => {
    const { status, text } = await post(REPURCHASE, validRepurchase());
    expect(status).toBe(200);
    expect(seen).toEqual({
      code: 'OP-1',
      reason: 'repurchase',
      effectiveDate: '2026-06-20',
      idempotencyKey: 'OP-1-repurchase',
    });
    expect(text).toBe(
      '{"originator_proposal_code":"OP-1","status":"repurchase_pending","reason":"repurchase",' +
        '"repurchase_value":6147.33,"calculated_at":"2026-01-15T12:00:00.000Z"}',
    );
  });

  test.each(REPURCHASE_REASONS)('reason %s, with a value of its own', async (reason) => {
    const body = { ...validRepurchase(), reason, repurchase_value: 6000.5, reason_detail: 'Agreed' };
    const { status, text } = await post(REPURCHASE, body);
    expect([status, text.includes('"repurchase_value":6000.50')]).toEqual([200, true]);
    expect(seen).toMatchObject({ reason, repurchaseValue: 600_050, reasonDetail: 'Agreed' });
  });

  test.each([
    ['reason', 'fraud', 'invalid_value'],
    ['reason', undefined, 'required'],
    ['effective_date', '20/06/2026', 'invalid_date'],
    ['repurchase_value', 0, 'invalid_amount'],
    ['repurchase_value', -1, 'invalid_amount'],
    ['reason_detail', 'x'.repeat(2_001), 'invalid_format'],
    ['idempotency_key', 'with space', 'invalid_format'],
  ])('%s = %j: %s', async (field, value, code) => {
    const { status, body } = await post(REPURCHASE, withField(validRepurchase(), field, value));
    expect([status, body.details]).toEqual([400, [{ field, code, message: expect.any(String) }]]);
  });
});

describe('POST /loan/files', () => {
  test('hands the documents and their files to the use case', async () => {
    const { status, body } = await upload(form(validFiles()));
    expect(status).toBe(201);
    expect(seen).toMatchObject({
      code: 'OP-1',
      documents: [{ type: 'renegotiation_document', value: 'debt.docx' }],
      files: [{ name: 'debt.docx', size: 8, sha256: expect.stringMatching(/^[0-9a-f]{64}$/) }],
    });
    expect(body).toMatchObject({
      originator_proposal_code: 'OP-1',
      documents: [{ type: 'renegotiation_document', value: 'debt.docx', size: 8 }],
    });
    expect(await world.uploadedFiles()).toEqual([]);
  });

  test.each<[string, Body | undefined, readonly FilePart[], string]>([
    ['no data', undefined, [{ name: 'a.pdf' }], 'invalid_request'],
    ['no documents', { ...validFiles(), documents: [] }, [], 'validation_error'],
    ['a document without its file', validFiles(), [], 'missing_file'],
    [
      'a file without its document',
      validFiles(),
      [{ name: 'debt.docx' }, { name: 'x.pdf' }],
      'unreferenced_file',
    ],
    [
      'two files of one name',
      validFiles(),
      [{ name: 'debt.docx' }, { name: 'debt.docx' }],
      'duplicate_file_name',
    ],
    [
      'two documents of one name',
      { ...validFiles(), documents: [...validFiles()['documents'], ...validFiles()['documents']] },
      [{ name: 'debt.docx' }],
      'validation_error',
    ],
    [
      'a name with a path',
      { ...validFiles(), documents: [{ type: 'invoice', value: '../a.pdf' }] },
      [{ name: 'a.pdf' }],
      'validation_error',
    ],
  ])('%s: %s', async (_, data, files, code) => {
    const { status, body } = await upload(form(data, files));
    expect([status, body.error_code, seen]).toEqual([400, code, undefined]);
    expect(await world.uploadedFiles()).toEqual([]);
  });

  test('a JSON body is another media type', async () => {
    const { status, body } = await post(FILES, validFiles());
    expect([status, body.error_code]).toEqual([415, 'unsupported_media_type']);
  });
});

describe('an operation whose code is the last part of a fixed path', () => {
  test.each(['files', 'repurchase'])('GET /loan/%s reads it', async (code) => {
    let asked: string | undefined;
    const { read: readLoan } = acceptingUseCases().loans;
    world.behaviour.loans.read = (context, which) => {
      asked = which;
      return readLoan(context, which);
    };
    expect((await world.call('GET', `/loan/${code}`, { described: false })).status).toBe(200);
    expect(asked).toBe(code);
  });

  test('every method of either is named in Allow', async () => {
    const { status, headers } = await world.call('DELETE', FILES, { described: false });
    expect([status, headers.get('allow')]).toEqual([405, 'GET, HEAD, OPTIONS, POST']);
  });
});

describe.each([
  {
    path: PREPAYMENT,
    send: () => post(PREPAYMENT, validPrepayment()),
    name: 'prepay',
    burst: 240,
    success: 200,
  },
  {
    path: REPURCHASE,
    send: () => post(REPURCHASE, validRepurchase()),
    name: 'repurchase',
    burst: 120,
    success: 200,
  },
  { path: FILES, send: () => upload(form(validFiles())), name: 'addDocuments', burst: 240, success: 201 },
] as const)('POST $path', ({ send, name, burst, success }) => {
  test('a replay keeps its status and says so', async () => {
    replayed = true;
    const { status, headers } = await send();
    expect([status, headers.get('idempotent-replayed')]).toEqual([success, 'true']);
  });

  test('draws from its own row of the limits', async () => {
    expect((await send()).headers.get('x-ratelimit-limit')).toBe(String(burst));
  });

  test.each<[DomainErrorCode, number]>([
    ['loan_not_found', 404],
    ['operation_invalid_state', 422],
    ['idempotency_conflict', 409],
    ['concurrent_modification', 409],
  ])('%s answers %i', async (code, expected) => {
    const refuse = (): Promise<never> => Promise.reject(new DomainError(code, 'because'));
    world.behaviour.loans[name] = refuse;
    const { status, body } = await send();
    expect([status, body.error_code, body.message]).toEqual([expected, code, 'because']);
  });
});

describe('dry_run', () => {
  test.each([
    ['/installment/settle', validSettlement],
    [PREPAYMENT, validPrepayment],
    [REPURCHASE, validRepurchase],
  ] as const)('%s answers a quote as described and does nothing', async (path, valid) => {
    const response = await world.call('POST', path, { json: { ...valid(), dry_run: true } });
    expect(response.status).toBe(200);
    expect(response.body).toMatchObject({ status: 'quoted', dry_run: true });
    expect(seen).toBeUndefined();
  });

  test('both variants of a renegotiation answer a quote as described and do nothing', async () => {
    world.behaviour.renegotiation.renegotiate = async () => {
      throw new Error('done in earnest');
    };
    const json = await world.call('PATCH', '/loan/renegotiate', {
      json: { ...exampleRenegotiation, dry_run: true },
    });
    const body = new FormData();
    body.append('renegotiation_data', JSON.stringify({ ...exampleRenegotiationData, dry_run: true }));
    body.append('files', new Blob(['%PDF-1.4']), 'debt.docx');
    const form = await world.call('PATCH', '/loan/renegotiate', { body });
    for (const [response, originals] of [
      [json, 1],
      [form, 2],
    ] as const) {
      expect(response.body).toMatchObject({
        status: 'quoted',
        dry_run: true,
        resulting_status: 'renegotiated',
      });
      expect([response.status, response.body.originals.length]).toEqual([200, originals]);
    }
  });

  test.each(['yes', 1])('%j is not a boolean', async (value) => {
    const response = await world.call('POST', REPURCHASE, { json: { ...validRepurchase(), dry_run: value } });
    expect(response.status).toBe(400);
    expect(response.body.details).toMatchObject([{ field: 'dry_run' }]);
  });

  test('false is the request itself', async () => {
    const response = await world.call('POST', REPURCHASE, {
      json: { ...validRepurchase(), dry_run: false },
    });
    expect(response.body).toMatchObject({ status: 'repurchase_pending' });
  });
});
