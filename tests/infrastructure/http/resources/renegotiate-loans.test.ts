import { afterAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { AskedRenegotiation } from '../../../../application/renegotiation/request.ts';
import { DomainError } from '../../../../domain/shared/domain-error.ts';
import type { DomainErrorCode } from '../../../../domain/shared/domain-error.ts';
import { acceptingUseCases } from '../../../support/http-fakes.ts';
import { validLoanData, withField } from '../../../support/http-requests.ts';
import type { FilePart } from '../../../support/http-requests.ts';
import { HttpWorld } from '../../../support/http-world.ts';

type Body = Record<string, ReturnType<typeof JSON.parse>>;

const PATH = '/loan/renegotiate';
let seen: AskedRenegotiation | undefined;
let replayed = false;

const world = await HttpWorld.start();
beforeEach(() => {
  const accept = acceptingUseCases();
  seen = undefined;
  replayed = false;
  world.behaviour.renegotiation.renegotiate = async (context, input) => {
    seen = input;
    return { ...(await accept.renegotiation.renegotiate(context, input)), replayed };
  };
});
afterAll(() => world.stop());

const proposal = (): Body => ({
  originator_proposal_code: 'OP-9',
  number_of_installments: 2,
  acquisition_value: 6000,
  installments: [
    { code: '1', due_date: '2026-08-20', face_value: 3100 },
    { code: '2', due_date: '2026-09-20', face_value: 3100.5 },
  ],
});
const valid = (): Body => ({
  original_proposal_code: 'OP-1',
  new_proposal: proposal(),
  effective_date: '2026-06-20',
});
const validData = (): Body => ({
  original_proposal_codes: ['OP-1', 'OP-2'],
  new_loan: { ...proposal(), backing_documents: [{ type: 'renegotiation_document', value: 'debt.docx' }] },
  effective_date: '2026-06-20',
});
const form = (data: unknown, files: readonly FilePart[] = [{ name: 'debt.docx' }]): FormData => {
  const parts = new FormData();
  if (data !== undefined) parts.append('renegotiation_data', JSON.stringify(data));
  for (const { name, content = '%PDF-1.4' } of files) parts.append('files', new Blob([content]), name);
  return parts;
};
const send = (json: unknown) => world.call('PATCH', PATH, { json });
const upload = (body: FormData) => world.call('PATCH', PATH, { body });
const INSTALLMENTS = [
  { code: '1', dueDate: '2026-08-20', faceValue: 310_000 },
  { code: '2', dueDate: '2026-09-20', faceValue: 310_050 },
];

describe('PATCH /loan/renegotiate with JSON', () => {
  test('hands the proposal to the use case and shows both sides', async () => {
    const { status, body, headers } = await send({ ...valid(), new_loan: { ignored: true } });
    expect([status, headers.get('idempotent-replayed')]).toEqual([200, null]);
    expect(seen).toEqual({
      originalProposalCodes: ['OP-1'],
      newProposalCode: 'OP-9',
      acquisitionValue: 600_000,
      installments: INSTALLMENTS,
      effectiveDate: '2026-06-20',
      files: [],
    });
    expect(body).toEqual({
      original_proposal_code: 'OP-1',
      original_proposal_codes: ['OP-1'],
      status: 'renegotiated',
      new_proposal: { originator_proposal_code: 'OP-9', status: 'received' },
      effective_date: '2026-06-20',
      processed_at: '2026-01-15T12:00:00.000Z',
    });
  });

  test.each<[string, unknown, string, string]>([
    ['original_proposal_code', undefined, 'original_proposal_code', 'required'],
    ['original_proposal_code', 'a/b', 'original_proposal_code', 'invalid_format'],
    ['effective_date', '2026-02-30', 'effective_date', 'invalid_date'],
    ['new_proposal', undefined, 'new_proposal', 'required'],
    ['new_proposal', 'OP-9', 'new_proposal', 'invalid_type'],
    [
      'new_proposal',
      { ...proposal(), number_of_installments: 3 },
      'new_proposal.number_of_installments',
      'installment_count_mismatch',
    ],
    [
      'new_proposal',
      { ...proposal(), acquisition_value: '6000' },
      'new_proposal.acquisition_value',
      'invalid_amount',
    ],
    [
      'new_proposal',
      { ...proposal(), originator_proposal_code: 'OP-1' },
      'new_proposal.originator_proposal_code',
      'new_code_is_an_original',
    ],
    ['effective_date', '2026-08-20', 'new_proposal.installments[0].due_date', 'due_date_not_after_issue'],
  ])('%s = %j: %s %s', async (field, value, violated, code) => {
    const { status, body } = await send(withField(valid(), field, value));
    expect([status, body.error_code, seen]).toEqual([400, 'validation_error', undefined]);
    expect(body.details).toEqual([{ field: violated, code, message: expect.any(String) }]);
  });

  test('everything that is wrong comes back at once', async () => {
    const broken = {
      ...proposal(),
      number_of_installments: 5,
      acquisition_value: 0,
      originator_proposal_code: 'OP-1',
    };
    const { body } = await send({ ...valid(), new_proposal: broken });
    expect(body.details).toHaveLength(3);
  });
});

describe('PATCH /loan/renegotiate with a form', () => {
  test('hands all originals, the new operation and its files to the use case', async () => {
    const { status, body } = await upload(form(validData()));
    expect(status).toBe(200);
    expect(seen).toMatchObject({
      originalProposalCodes: ['OP-1', 'OP-2'],
      newProposalCode: 'OP-9',
      acquisitionValue: 600_000,
      installments: INSTALLMENTS,
      documents: [{ type: 'renegotiation_document', value: 'debt.docx' }],
      files: [{ name: 'debt.docx', size: 8, sha256: expect.stringMatching(/^[0-9a-f]{64}$/) }],
    });
    expect(seen).not.toHaveProperty('borrower');
    expect(body).toMatchObject({ original_proposal_code: 'OP-1', original_proposal_codes: ['OP-1', 'OP-2'] });
    expect(await world.uploadedFiles()).toEqual([]);
  });

  test('takes a single original by its own name, and what the new operation does not inherit', async () => {
    const { original_proposal_codes: _, ...rest } = validData();
    const { borrower } = validLoanData();
    const stated = { borrower, product_type: 'personal', date_issued: '2026-06-19' };
    const data = { ...rest, original_proposal_code: 'OP-1', new_loan: { ...rest['new_loan'], ...stated } };
    expect((await upload(form(data))).status).toBe(200);
    expect(seen).toMatchObject({
      originalProposalCodes: ['OP-1'],
      ...{ borrower, productType: 'personal', dateIssued: '2026-06-19' },
    });
  });

  const withLoan = (changes: Body): Body => ({
    ...validData(),
    new_loan: { ...validData()['new_loan'], ...changes },
  });
  test.each<[string, Body, string, string]>([
    [
      'no original',
      { ...validData(), original_proposal_codes: undefined },
      'original_proposal_codes',
      'required',
    ],
    [
      'an empty list',
      { ...validData(), original_proposal_codes: [] },
      'original_proposal_codes',
      'invalid_count',
    ],
    [
      'an original twice',
      { ...validData(), original_proposal_codes: ['A', 'B', 'A'] },
      'original_proposal_codes[2]',
      'duplicate_original',
    ],
    [
      'two that contradict',
      { ...validData(), original_proposal_code: 'OP-3' },
      'original_proposal_codes',
      'contradictory',
    ],
    [
      'the new code in the list',
      { ...validData(), original_proposal_codes: ['OP-1', 'OP-9'] },
      'new_loan.originator_proposal_code',
      'new_code_is_an_original',
    ],
    ['no documents', withLoan({ backing_documents: [] }), 'new_loan.backing_documents', 'invalid_count'],
    [
      'a due date on the day of issue',
      withLoan({ date_issued: '2026-08-20' }),
      'new_loan.installments[0].due_date',
      'due_date_not_after_issue',
    ],
    [
      'half a borrower',
      withLoan({ borrower: { ...validLoanData().borrower, name: '' } }),
      'new_loan.borrower.name',
      'invalid_format',
    ],
  ])('%s: %s %s', async (_, data, field, code) => {
    const { status, body } = await upload(form(data));
    expect([status, body.error_code, seen]).toEqual([400, 'validation_error', undefined]);
    expect(body.details).toEqual([{ field, code, message: expect.any(String) }]);
  });

  test.each<[string, Body | undefined, readonly FilePart[], string]>([
    ['no data', undefined, [{ name: 'a.pdf' }], 'invalid_request'],
    ['a document without its file', validData(), [], 'missing_file'],
    [
      'a file without its document',
      validData(),
      [{ name: 'debt.docx' }, { name: 'x.pdf' }],
      'unreferenced_file',
    ],
    [
      'two files of one name',
      validData(),
      [{ name: 'debt.docx' }, { name: 'debt.docx' }],
      'duplicate_file_name',
    ],
  ])('%s: %s', async (_, data, files, code) => {
    const { status, body } = await upload(form(data, files));
    expect([status, body.error_code, seen]).toEqual([400, code, undefined]);
  });
});

describe('PATCH /loan/renegotiate', () => {
  test.each([
    ['JSON', () => send(valid())],
    ['a form', () => upload(form(validData()))],
  ] as const)('with %s, a replay says so', async (_, again) => {
    replayed = true;
    const { status, headers } = await again();
    expect([status, headers.get('idempotent-replayed')]).toEqual([200, 'true']);
  });

  test('draws from its own row of the limits', async () => {
    expect((await send(valid())).headers.get('x-ratelimit-limit')).toBe('120');
  });

  test.each<[DomainErrorCode, number]>([
    ['invalid_date', 400],
    ['invalid_document_type', 400],
    ['fund_not_allowed', 403],
    ['loan_not_found', 404],
    ['idempotency_conflict', 409],
    ['proposal_code_already_used', 409],
    ['concurrent_modification', 409],
    ['operation_invalid_state', 422],
  ])('%s answers %i', async (code, expected) => {
    world.behaviour.renegotiation.renegotiate = () => Promise.reject(new DomainError(code, 'because'));
    const { status, body } = await send(valid());
    expect([status, body.error_code, body.message]).toEqual([expected, code, 'because']);
  });

  test('reads nothing but JSON and forms, and only PATCH', async () => {
    const text = await world.call('PATCH', PATH, { body: 'x', headers: { 'content-type': 'text/plain' } });
    const post = await world.call('POST', PATH, { json: valid() });
    expect([text.status, post.status]).toEqual([415, 405]);
  });
});
