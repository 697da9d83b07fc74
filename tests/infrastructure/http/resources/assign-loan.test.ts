import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { AskedAssignment } from '../../../../application/loans/assign-loan.ts';
import {
  exampleRenegotiation,
  exampleRenegotiationData,
} from '../../../../infrastructure/http/resources/renegotiation-request.ts';
import { FUND } from '../../../support/http-fakes.ts';
import { loanForm, validLoanData, withField } from '../../../support/http-requests.ts';
import { HttpWorld } from '../../../support/http-world.ts';

let world: HttpWorld;
let production: HttpWorld;
let assigned: AskedAssignment | undefined;

beforeAll(async () => {
  world = await HttpWorld.start();
  production = await HttpWorld.start({ settings: { environment: 'production' } });
  for (const each of [world, production]) {
    const accept = each.behaviour.loans.assign;
    each.behaviour.loans.assign = (context, input) => {
      assigned = input;
      return accept(context, input);
    };
  }
});
afterAll(() => Promise.all([world.stop(), production.stop()]));

const send = async (data: unknown, to = world) => {
  to.now += 60_000;
  return to.call('POST', '/loan', { body: loanForm(data) });
};

describe('decimals are judged by their text', () => {
  const asText = (amount: string): string =>
    JSON.stringify(validLoanData()).replace('"acquisition_value":1800', `"acquisition_value":${amount}`);

  test.each([
    '10.0000000000000000001',
    '999999999.990000000001',
    '1000000000000000000000000001e-24',
    '1.001e0',
    '0.30000000000000004',
  ])('%s has too many', async (amount) => {
    const { body } = await send(asText(amount));
    expect(body.details).toEqual([
      { field: 'acquisition_value', code: 'invalid_amount', message: expect.any(String) },
    ]);
  });

  test.each([
    ['10.100', 1_010],
    ['1.5e2', 15_000],
    ['1800.00', 180_000],
    ['123456789.01', 12_345_678_901],
  ])('%s is exactly %i cents', async (amount, cents) => {
    expect((await send(asText(amount))).status).toBe(201);
    expect(assigned?.acquisitionValue).toBe(cents);
  });
});

describe('what reaches the use case', () => {
  test('typed, in cents, without fields that nobody knows', async () => {
    const data = { ...validLoanData(), colour: 'red', fund_id: FUND.toUpperCase() };
    withField(data, 'borrower.nickname', 'M');
    withField(data, 'borrower.address.complement', '12');
    await send(data);
    const { borrower } = validLoanData();
    expect(assigned).toEqual({
      fundId: FUND,
      code: 'OP-1',
      productType: 'financing',
      acquisitionValue: 180_000,
      dateIssued: '2026-01-15',
      borrower,
      installments: [
        { code: '001', dueDate: '2026-02-15', faceValue: 95_000 },
        { code: '002', dueDate: '2026-03-15', faceValue: 95_050 },
      ],
      documents: [{ type: 'ccb', value: 'ccb.pdf' }],
      files: [
        {
          name: 'ccb.pdf',
          field: 'files[0]',
          size: 8,
          sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
          read: expect.any(Function),
        },
      ],
    });
  });

  test('of a name given twice the last one counts', async () => {
    await send(JSON.stringify(validLoanData()).replace('{', '{"product_type":"first",'));
    expect(assigned?.productType).toBe('financing');
  });
});

describe('an assignment tried out', () => {
  type Files = Parameters<typeof loanForm>[1];
  const PDF = { name: 'ccb.pdf' };
  const quote = async (changes: object, files?: Files) => {
    world.now += 60_000;
    assigned = undefined;
    const body = loanForm({ ...validLoanData(), dry_run: true, ...changes }, files);
    return world.call('POST', '/loan', { body });
  };

  test('is answered 200 with its quote, and assigns nothing', async () => {
    const { status, text, headers } = await quote({});
    expect([status, headers.get('idempotent-replayed'), assigned]).toEqual([200, null, undefined]);
    const line = (code: string, due: string, value: string) =>
      `{"installment_code":"${code}","due_date":"${due}","days":178,"face_value":${value},"present_value":901.20}`;
    expect(text).toBe(
      `{"originator_proposal_code":"OP-1","status":"quoted","dry_run":true,"resulting_status":"received",` +
        `"pricing_policy":"curve_v1","daily_factor":"0.9997","fund_id":"${FUND}","annual_rate":"0.1157000000",` +
        `"acquisition_value":1800.00,"face_value":1900.50,"number_of_installments":2,` +
        `"lines":[${line('001', '2026-02-15', '950.00')},${line('002', '2026-03-15', '950.50')}],` +
        `"files_checked":true,"calculated_at":"2026-01-15T12:00:00.000Z"}`,
    );
  });

  test.each([[[]], [undefined]])('needs no files, and takes those that come: %j', async (files) => {
    const { status, body } = await quote({}, files);
    expect([status, body.files_checked]).toEqual([200, files === undefined]);
  });

  test.each<[string, object, Files]>([
    ['unreferenced_file', {}, [{ name: 'other.pdf' }]],
    ['duplicate_file_name', {}, [PDF, PDF]],
    ['validation_error', { acquisition_value: 0 }, []],
    ['validation_error', { dry_run: 'yes' }, [PDF]],
    ['missing_file', { dry_run: false }, []],
    ['missing_file', { dry_run: null }, []],
  ])('is refused as %s', async (code, changes, files) => {
    expect((await quote(changes, files)).body.error_code).toBe(code);
    expect(assigned).toBeUndefined();
  });

  test('says of a file whose accents are other characters than those of its document that they are', async () => {
    const backing_documents = [{ type: 'ccb', value: 'c\u00e9dula.pdf' }];
    const { body } = await quote({ backing_documents }, [{ name: 'ce\u0301dula.pdf' }]);
    expect(body).toMatchObject({
      error_code: 'unreferenced_file',
      message:
        'ce\u0301dula.pdf differs from the name of its document in how accents are written; send both in one form of Unicode, such as NFC',
    });
  });

  test('with `dry_run` false it is the assignment itself', async () => {
    expect((await quote({ dry_run: false })).status).toBe(201);
    expect(assigned).not.toHaveProperty('dryRun');
  });

  test('takes a token from the bucket of assignments', async () => {
    const remaining = async (changes: object): Promise<number> => {
      const body = loanForm({ ...validLoanData(), ...changes });
      const { headers } = await world.call('POST', '/loan', { body });
      return Number(headers.get('x-ratelimit-remaining'));
    };
    const first = await remaining({});
    expect([await remaining({ dry_run: true }), await remaining({})]).toEqual([first - 1, first - 2]);
  });
});

describe('check digits', () => {
  const { check_digits: vectors } = JSON.parse(
    readFileSync(new URL('../../../fixtures/finance-vectors.json', import.meta.url), 'utf8'),
  ) as { check_digits: Record<string, string[]> };
  const cases = Object.entries(vectors).flatMap(([kind, numbers]) =>
    numbers.map((number) => [kind, number] as const),
  );

  test.each(cases)('in production %s: %s', async (kind, number) => {
    const data = withField(validLoanData(), 'borrower.document_number', number);
    withField(data, 'borrower.document_type', kind.startsWith('cpf') ? 'CPF' : 'CNPJ');
    const { status, body } = await send(data, production);
    if (kind.endsWith('_valid')) expect(status).toBe(201);
    else expect([status, body.details[0].code]).toEqual([400, 'invalid_document_number']);
  });

  test.each([...(vectors['cpf_invalid'] ?? [])])('the sandbox takes %s', async (number) => {
    expect((await send(withField(validLoanData(), 'borrower.document_number', number))).status).toBe(201);
  });
});

describe('an issue after tomorrow', () => {
  const TOMORROW = '2026-06-21';
  const LATER = '2026-06-22';
  const issued = (date: string) => withField(validLoanData(), 'date_issued', date);
  const dueLater = (data: ReturnType<typeof validLoanData>) => {
    data['installments'] = [
      { code: '1', due_date: '2026-08-20', face_value: 1900 },
      { code: '2', due_date: '2026-09-20', face_value: 1900 },
    ];
    return data;
  };

  test('is refused in production, because it could not be disbursed, and may be tried in the sandbox', async () => {
    expect((await send(dueLater(issued(TOMORROW)), production)).status).toBe(201);
    expect((await send(dueLater(issued(LATER)))).status).toBe(201);
    const { status, body } = await send(dueLater(issued(LATER)), production);
    expect([status, body.details]).toMatchObject([400, [{ field: 'date_issued', code: 'invalid_date' }]]);
  });

  test('of the operation that a renegotiation brings in as well, wherever its date stands', async () => {
    const later = { ...exampleRenegotiation, effective_date: LATER };
    const refused = await production.call('PATCH', '/loan/renegotiate', { json: later });
    expect([refused.status, refused.body.details]).toMatchObject([400, [{ field: 'effective_date' }]]);
    const send = (data: object) => {
      const body = new FormData();
      body.append('renegotiation_data', JSON.stringify(data));
      body.append('files', new Blob(['%PDF-1.4']), 'debt.docx');
      return production.call('PATCH', '/loan/renegotiate', { body });
    };
    const data = { ...exampleRenegotiationData, effective_date: TOMORROW };
    expect((await send(data)).status).toBe(200);
    const issuedLater = await send({ ...data, new_loan: { ...data.new_loan, date_issued: LATER } });
    expect(issuedLater.body.details).toMatchObject([{ field: 'new_loan.date_issued', code: 'invalid_date' }]);
    const unborn = { ...validLoanData()['borrower'], birth_date: TOMORROW };
    const tooYoung = await send({ ...data, new_loan: { ...data.new_loan, borrower: unborn } });
    expect(tooYoung.body.details).toMatchObject([
      { field: 'new_loan.borrower.birth_date', code: 'invalid_date' },
    ]);
  });
});
