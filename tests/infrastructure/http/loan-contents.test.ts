import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { AssignLoanInput } from '../../../application/loans/inputs.ts';
import { FUND } from '../../support/http-fakes.ts';
import { loanForm, validLoanData, withField } from '../../support/http-requests.ts';
import { HttpWorld } from '../../support/http-world.ts';

let world: HttpWorld;
let production: HttpWorld;
let assigned: AssignLoanInput | undefined;

beforeAll(async () => {
  world = await HttpWorld.start();
  production = await HttpWorld.start({ settings: { environment: 'production' } });
  for (const each of [world, production]) {
    const accept = each.behaviour.assignLoan;
    each.behaviour.assignLoan = (context, input) => {
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
          size: 8,
          sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
          path: expect.any(String),
        },
      ],
    });
  });

  test('of a name given twice the last one counts', async () => {
    await send(JSON.stringify(validLoanData()).replace('{', '{"product_type":"first",'));
    expect(assigned?.productType).toBe('financing');
  });
});

describe('check digits', () => {
  const { check_digits: vectors } = JSON.parse(
    readFileSync(new URL('../../fixtures/finance-vectors.json', import.meta.url), 'utf8'),
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
