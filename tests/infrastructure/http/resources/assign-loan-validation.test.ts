import { afterAll, describe, expect, test } from '@jest/globals';
import type { AskedAssignment } from '../../../../application/loans/assign-loan.ts';
import { FUND } from '../../../support/http-fakes.ts';
import { loanForm, validLoanData, withField } from '../../../support/http-requests.ts';
import { HttpWorld, TODAY } from '../../../support/http-world.ts';

let assigned: AskedAssignment | undefined;

const world = await HttpWorld.start();
const accept = world.behaviour.loans.assign;
world.behaviour.loans.assign = (context, input) => {
  assigned = input;
  return accept(context, input);
};
afterAll(() => world.stop());

const send = async (data: unknown) => {
  world.now += 60_000;
  return world.call('POST', '/loan', { body: loanForm(data) });
};

const withInstallments = (count: number) => ({
  ...validLoanData(),
  number_of_installments: count,
  installments: Array.from({ length: count }, (_, i) => ({
    code: `${i}`,
    due_date: '2030-01-01',
    face_value: 1,
  })),
});

const CPF_ONLY = 'borrower.document_number';

/** field, value, and the code of the violation; none when the value is allowed. */
const rules: readonly (readonly [field: string, value: unknown, code?: string])[] = [
  ['fund_id', FUND.toUpperCase()],
  ['fund_id', 'not-a-uuid', 'invalid_format'],
  ['fund_id', undefined, 'required'],
  ['originator_proposal_code', '!"$&\'()*+,-.:;<=>@[]^_`{|}~'],
  ['originator_proposal_code', 'x'.repeat(100)],
  ['originator_proposal_code', 'x'.repeat(101), 'invalid_format'],
  ['originator_proposal_code', '', 'invalid_format'],
  ['originator_proposal_code', 'a b', 'invalid_format'],
  ...['a/b', 'a\\b', 'a?b', 'a#b', 'a%b', 'é', ' a', 'a\n'].map(
    (code) => ['originator_proposal_code', code, 'invalid_format'] as const,
  ),
  ['product_type', 'a-B_9'],
  ['product_type', 'x'.repeat(51), 'invalid_format'],
  ['product_type', 'with space', 'invalid_format'],
  ['acquisition_value', 0.01],
  ['acquisition_value', 999_999_999.99],
  ['acquisition_value', 1_000_000_000, 'invalid_amount'],
  ['acquisition_value', 0, 'invalid_amount'],
  ['acquisition_value', -1, 'invalid_amount'],
  ['acquisition_value', 10.001, 'invalid_amount'],
  ['acquisition_value', '10.00', 'invalid_amount'],
  ['acquisition_value', null, 'invalid_amount'],
  ['number_of_installments', 3, 'installment_count_mismatch'],
  ['number_of_installments', 1.5, 'invalid_count'],
  ['number_of_installments', 0, 'invalid_count'],
  ['number_of_installments', 481, 'invalid_count'],
  ['number_of_installments', '2', 'invalid_count'],
  ['date_issued', '2024-02-29'],
  ['date_issued', '2026-02-29', 'invalid_date'],
  ['date_issued', '2026-1-5', 'invalid_date'],
  ['date_issued', '2026-01-15T00:00:00Z', 'invalid_date'],
  ['date_issued', 20260115, 'invalid_date'],
  ['borrower', undefined, 'required'],
  ['borrower', 'Maria', 'invalid_type'],
  [CPF_ONLY, '5299822472', 'invalid_document_number'],
  [CPF_ONLY, '529.982.247-25', 'invalid_document_number'],
  [CPF_ONLY, '52998224726'],
  [CPF_ONLY, 52998224725, 'invalid_type'],
  ['borrower.document_type', 'RG', 'invalid_value'],
  ['borrower.name', ' ', 'invalid_format'],
  ['borrower.name', 'x'.repeat(256), 'invalid_format'],
  ['borrower.name', 'Zé\u0000', 'invalid_format'],
  ['borrower.name', 'José D’Ávila Ñandú'],
  ['borrower.birth_date', undefined, 'required'],
  ['borrower.birth_date', '1990-13-01', 'invalid_date'],
  ['borrower.birth_date', TODAY],
  ['borrower.birth_date', '2026-06-21', 'invalid_date'],
  ['borrower.email', undefined],
  ['borrower.email', 'no-at', 'invalid_email'],
  ['borrower.email', 'two@@example.com', 'invalid_email'],
  ['borrower.email', `${'x'.repeat(250)}@a.br`, 'invalid_email'],
  ['borrower.email', 'maria.josé+x@exámple.com'],
  ...['\u0001@a.br', 'a@\u001fa.br', 'a@a.br\u007f'].map(
    (email) => ['borrower.email', email, 'invalid_email'] as const,
  ),
  ...['name', 'address.street', 'address.number', 'address.neighborhood', 'address.city'].map(
    (name) => [`borrower.${name}`, 'a\u0001', 'invalid_format'] as const,
  ),
  ['borrower.phone', undefined],
  ['borrower.phone', '5511999990000'],
  ['borrower.phone', '+0511999990000', 'invalid_phone'],
  ['borrower.phone', '+5511 99999-0000', 'invalid_phone'],
  ['borrower.phone', '+1234567890123456', 'invalid_phone'],
  ['borrower.address', undefined, 'required'],
  ['borrower.address.zip_code', '01310-100', 'invalid_zip_code'],
  ['borrower.address.zip_code', '0131010', 'invalid_zip_code'],
  ['borrower.address.neighborhood', undefined],
  ['borrower.address.number', 1000, 'invalid_format'],
  ['borrower.address.state', 'XX', 'invalid_state'],
  ['borrower.address.state', 'sp', 'invalid_state'],
  ['borrower.address.state', 'TO'],
  ['installments', [], 'invalid_count'],
  ['installments', {}, 'invalid_count'],
  ['installments[0].code', '~'.repeat(50)],
  ['installments[0].code', 'x'.repeat(51), 'invalid_format'],
  ['installments[0].code', '', 'invalid_format'],
  ['installments[1].code', '001', 'duplicate_installment_code'],
  ['installments[1].due_date', '2026-01-15', 'due_date_not_after_issue'],
  ['installments[1].due_date', '2026-01-16'],
  ['installments[1].due_date', '2026-04-31', 'invalid_date'],
  ['installments[1].face_value', 0.001, 'invalid_amount'],
  ['installments[1].face_value', undefined, 'required'],
  ['installments[1]', null, 'invalid_type'],
  ['backing_documents', [], 'invalid_count'],
  ['backing_documents', undefined, 'required'],
  ['backing_documents[0].type', 'c c b', 'invalid_format'],
  ['backing_documents[0].value', '../ccb.pdf', 'invalid_file_name'],
  ['backing_documents[0].value', 'a\\b.pdf', 'invalid_file_name'],
  ['backing_documents[0].value', '', 'invalid_file_name'],
  ['backing_documents[0].value', 'a\u0085.pdf', 'invalid_file_name'],
  ['backing_documents[0].value', 'a\u202efdp.exe', 'invalid_file_name'],
];

const ALLOWED = 'allowed';

describe('each rule of a creation request', () => {
  test.each(rules.map(([field, value, code = ALLOWED]) => [field, value, code] as const))(
    '%s = %j: %s',
    async (field, value, code) => {
      const { status, body } = await send(withField(validLoanData(), field, value));
      if (code === ALLOWED) {
        expect([status, body]).toEqual([201, expect.anything()]);
        return;
      }
      expect([status, body.error_code]).toEqual([400, 'validation_error']);
      expect(body.details).toContainEqual({ field, code, message: expect.any(String) });
      expect(body.details.filter((violation: { field: string }) => violation.field === field)).toHaveLength(
        1,
      );
    },
  );

  test('a schedule holds 480 installments and not one more', async () => {
    expect((await send(withInstallments(480))).status).toBe(201);
    const { body } = await send(withInstallments(481));
    expect(body.details.map((violation: { field: string }) => violation.field)).toEqual([
      'number_of_installments',
      'installments',
    ]);
  });

  test('document names differ', async () => {
    const documents = [
      { type: 'ccb', value: 'ccb.pdf' },
      { type: 'other', value: 'ccb.pdf' },
    ];
    const { body } = await send({ ...validLoanData(), backing_documents: documents });
    expect(body.details).toEqual([
      { field: 'backing_documents[1].value', code: 'duplicate_document', message: expect.any(String) },
    ]);
  });

  test('a name that was allowed once, with its file, goes on to where a replay is told from a new request', async () => {
    const name = 'invoice-\u202efdp.exe';
    const data = withField(validLoanData(), 'backing_documents[0].value', name);
    const form = (loan: unknown) => ({ body: loanForm(loan, [{ name }]) });
    expect((await world.call('POST', '/loan', form(data))).status).toBe(201);
    expect(assigned?.documents).toEqual([{ type: 'ccb', value: name }]);
    const { body } = await world.call('POST', '/loan', form({ ...data, acquisition_value: 10.001 }));
    expect(body.details.map(({ field, code }: { field: string; code: string }) => [field, code])).toEqual(
      expect.arrayContaining([
        ['backing_documents[0].value', 'invalid_file_name'],
        ['acquisition_value', 'invalid_amount'],
      ]),
    );
  });

  test.each(['11222333000181', '12ABC34501DE35', '11222333000180'])(
    'a CNPJ %s needs no birth date',
    async (number) => {
      const data = withField(validLoanData(), 'borrower.document_type', 'CNPJ');
      withField(withField(data, 'borrower.document_number', number), 'borrower.birth_date', undefined);
      expect((await send(data)).status).toBe(201);
      expect(assigned?.borrower).not.toHaveProperty('birth_date');
    },
  );

  test.each(['1122233300018', '12abc34501de35', '12ABC34501DEXX'])('%s is not a CNPJ', async (number) => {
    const data = withField(validLoanData(), 'borrower.document_type', 'CNPJ');
    const { body } = await send(withField(data, 'borrower.document_number', number));
    expect(body.details).toEqual([
      { field: 'borrower.document_number', code: 'invalid_document_number', message: expect.any(String) },
    ]);
  });
});

describe('all violations come together', () => {
  test('those of single fields and those between fields', async () => {
    const data = { ...validLoanData(), acquisition_value: 10.001, number_of_installments: 5 };
    withField(data, 'borrower.address.state', 'XX');
    withField(data, 'borrower.birth_date', undefined);
    withField(data, 'installments[1].code', '001');
    withField(data, 'installments[0].due_date', '2026-01-01');
    const { body } = await send(data);
    expect(body.details.map((violation: { code: string }) => violation.code).sort()).toEqual(
      [
        'due_date_not_after_issue',
        'duplicate_installment_code',
        'installment_count_mismatch',
        'invalid_amount',
        'invalid_state',
        'required',
      ].sort(),
    );
  });

  test('messages name the bound', async () => {
    const { body } = await send({ ...validLoanData(), acquisition_value: 1e12, number_of_installments: 900 });
    const messages = body.details.map((violation: { message: string }) => violation.message).join(' ');
    expect(messages).toContain('999999999.99');
    expect(messages).toContain('480');
  });

  test('a body that is not an object is one violation', async () => {
    const { body } = await send('[1]');
    expect(body.details).toEqual([
      { field: 'loan_data', code: 'invalid_type', message: 'must be an object' },
    ]);
  });

  test('as many empty installments as fit are refused quickly and briefly', async () => {
    const started = performance.now();
    const { status, text } = await send({
      ...validLoanData(),
      installments: Array.from({ length: 80_000 }, () => ({})),
    });
    expect(status).toBe(400);
    expect(text.length).toBeLessThan(300_000);
    expect(performance.now() - started).toBeLessThan(5_000);
  });

  test('hostile text does not slow the checks down', async () => {
    const started = performance.now();
    const data = withField(validLoanData(), 'borrower.name', `${' '.repeat(130_000)}\u0000`);
    withField(data, 'borrower.email', 'a'.repeat(120_000));
    expect((await send(data)).status).toBe(400);
    expect(performance.now() - started).toBeLessThan(5_000);
  });
});
