import { createHash, randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { vectors } from '../domain/support/finance-vectors.ts';
import type { LoanVector } from '../domain/support/finance-vectors.ts';
import { loanRequest, multipart, smallPdf } from '../support/api-client.ts';
import type { ApiClient, ApiResponse } from '../support/api-client.ts';
import { RunningService } from '../support/running-service.ts';

let service: RunningService;
let api: ApiClient;
let operations = 0;

beforeAll(async () => {
  service = await RunningService.start({ SANDBOX_STEP: '1ms' });
  api = await service.client(randomUUID());
}, 40_000);
afterAll(() => service?.stop());

const nextCode = (): string => `OP-${++operations}`;
const L1 = vectors.present_value[0]!;
const paidUntilMay = ['001', '002', '003', '004', '005'];

/** An active operation of a vector on which these installments were paid in full. */
const activeLoan = async (vector: LoanVector = L1, paid: readonly string[] = []): Promise<string> => {
  const code = nextCode();
  const installments = vector.installments.map((one) => ({ ...one, face_value: Number(one.face_value) }));
  const overrides = {
    acquisition_value: Number(vector.acquisition_value),
    date_issued: vector.date_issued,
    number_of_installments: installments.length,
    installments,
  };
  expect((await api.assign(loanRequest(api.fund, code, 1, overrides))).status).toBe(201);
  await api.untilStatus(code, 'active');
  for (const installment of paid) {
    const face = installments.find((one) => one.code === installment)?.face_value ?? 0;
    expect((await api.settle(code, installment, face)).status).toBe(200);
  }
  return code;
};

const prepay = (code: string, value: number, extra: object = {}): Promise<ApiResponse> =>
  api.call('POST', '/installment/prepayment', {
    originator_proposal_code: code,
    prepayment_value: value,
    prepayment_date: '2026-06-20',
    payment_method: 'pix',
    idempotency_key: `${code}-prepayment`,
    ...extra,
  });
const repurchase = (code: string, reason = 'repurchase', extra: object = {}): Promise<ApiResponse> =>
  api.call('POST', '/loan/repurchase', {
    originator_proposal_code: code,
    reason,
    effective_date: '2026-06-20',
    idempotency_key: `${code}-${reason}`,
    ...extra,
  });
const sendFile = (code: string, name: string, text: string, type = 'invoice'): Promise<ApiResponse> => {
  const data = { originator_proposal_code: code, documents: [{ type, value: name }] };
  return api.call('POST', '/loan/files', multipart('files_data', data, [{ name, content: smallPdf(text) }]));
};
const outcome = ({ status, body, headers }: ApiResponse) => [
  status,
  body.error_code ?? null,
  headers.get('idempotent-replayed'),
];

describe('the worked figures, through HTTP', () => {
  const cases = vectors.present_value.flatMap((vector) =>
    vector.present_values.map((value) => ({
      vector,
      value,
      name: `${vector.name} on ${value.effective_date}`,
    })),
  );
  test.each(cases)('repurchase, $name', async ({ vector, value }) => {
    const paid = vector.installments.map(({ code }) => code).filter((code) => !value.open.includes(code));
    const code = await activeLoan(vector, paid);
    const { status, body } = await repurchase(code, 'repurchase', { effective_date: value.effective_date });
    expect([status, body.repurchase_value.toFixed(2)]).toEqual([200, value.repurchase_value]);
  });

  test.each([
    ['cession_reversal', vectors.cession_reversal_on_L1, 'reversed'],
    ['resolution', '5250.00', 'resolved'],
    ['integrated_repurchase', '6147.33', 'repurchased'],
  ])('%s: %s, in the end %s', async (reason, value, end) => {
    const code = await activeLoan(L1, paidUntilMay);
    expect((await repurchase(code, reason)).body.repurchase_value.toFixed(2)).toBe(value);
    const { body } = await api.untilStatus(code, end);
    expect(body.repurchase).toMatchObject({ reason, completed_at: expect.any(String) });
    expect(body.repurchase.calculated_value.toFixed(2)).toBe(value);
    expect(outcome(await api.settle(code, '006', 950))).toEqual([422, 'operation_invalid_state', null]);
    const again = await repurchase(code, reason);
    expect([...outcome(again), again.body.status]).toEqual([200, null, 'true', end]);
  });

  test.each(vectors.prepayment_on_L1)('prepayment $name', async (v) => {
    const code = await activeLoan(L1, v.paid_in_full_before);
    const answer = await prepay(code, Number(v.prepayment_value), { prepayment_date: v.prepayment_date });
    expect(answer.body).toMatchObject({
      remaining_balance: Number(v.remaining_balance),
      excess_value: Number(v.excess_value),
    });
    expect([...answer.body.settled_installments].sort()).toEqual([...v.settled_installments].sort());
    const partial = answer.body.partially_paid;
    expect(partial?.installment_code).toBe(v.partial?.installment_code);
    expect(partial?.outstanding_value.toFixed(2)).toBe(v.partial?.outstanding_at_due);
    const { body: loan } = await api.loan(code);
    expect(loan.status).toBe(v.loan_settled ? 'settled' : 'active');
    for (const { code: installment, status, outstanding_value: owed } of loan.installments) {
      if (v.settled_installments.includes(installment)) expect([status, owed]).toEqual(['prepaid', 0]);
      if (installment === v.partial?.installment_code)
        expect(owed.toFixed(2)).toBe(v.partial?.outstanding_at_due);
    }
    const again = await prepay(code, Number(v.prepayment_value), { prepayment_date: v.prepayment_date });
    expect([outcome(again), again.body]).toEqual([[200, null, 'true'], answer.body]);
    const { settled_installments, excess_value } = answer.body;
    const entry = { date: v.prepayment_date, settled_installments, excess_value };
    expect(loan.prepayments).toEqual([{ value: Number(v.prepayment_value), ...entry }]);
  });

  test('what the fund paid, on the day of the registration, and the value of the curve beside a stated one', async () => {
    const code = await activeLoan(L1, paidUntilMay);
    const { body: loan } = await api.loan(code);
    const { at } = loan.status_history.at(-1);
    const day = new Intl.DateTimeFormat('sv-SE', { timeZone: 'America/Sao_Paulo' }).format(new Date(at));
    expect([loan.disbursement, loan.prepayments]).toEqual([
      { value: Number(L1.acquisition_value), date: day },
      [],
    ]);
    await repurchase(code, 'repurchase', { repurchase_value: 6000, reason_detail: 'agreed' });
    expect((await api.loan(code)).body.repurchase).toMatchObject({
      repurchase_value: 6000,
      calculated_value: 6147.33,
      reason_detail: 'agreed',
    });
  });
});

describe('precedence and idempotency', () => {
  test('key, operation, status, in this order', async () => {
    const code = await activeLoan();
    await prepay(code, 100);
    const used = { idempotency_key: `${code}-prepayment` };
    expect(outcome(await prepay('UNKNOWN', 100, used))).toEqual([409, 'idempotency_conflict', null]);
    expect(outcome(await prepay('UNKNOWN', 100))).toEqual([404, 'loan_not_found', null]);
    expect(
      outcome(await prepay(code, 100, { prepayment_date: '2026-01-14', idempotency_key: 'early' })),
    ).toEqual([400, 'invalid_date', null]);
    await repurchase(code);
    expect(outcome(await repurchase(code, 'resolution'))).toEqual([422, 'operation_invalid_state', null]);
    expect(outcome(await repurchase(code, 'repurchase', { repurchase_value: 1 }))).toEqual([
      409,
      'idempotency_conflict',
      null,
    ]);
    expect(outcome(await prepay(code, 100, { idempotency_key: 'late' }))).toEqual([
      422,
      'operation_invalid_state',
      null,
    ]);
    expect(outcome(await prepay(code, 100))).toEqual([200, null, 'true']);
  });

  test.each([
    ['prepayment', (code: string) => prepay(code, 2_000)],
    ['repurchase', (code: string) => repurchase(code)],
    ['files', (code: string) => sendFile(code, 'a.pdf', 'one')],
  ])('%s, five times at once: one executes, the others replay it', async (_, send) => {
    const code = await activeLoan();
    const answers = await Promise.all(Array.from({ length: 5 }, () => send(code)));
    expect(
      answers.map(({ headers }) => headers.get('idempotent-replayed')).filter((r) => r === null),
    ).toHaveLength(1);
    const facts = answers.map(({ status, body }) => JSON.stringify([status, { ...body, status: null }]));
    expect(new Set(facts).size).toBe(1);
  });
});

describe('further documents', () => {
  test('are kept, shown, and replayed by name and content', async () => {
    const code = await activeLoan();
    const sent = await sendFile(code, 'invoice.pdf', 'first');
    const sha256 = createHash('sha256').update(smallPdf('first')).digest('hex');
    expect([sent.status, sent.body.documents[0].sha256]).toEqual([201, sha256]);
    expect((await api.loan(code)).body.documents.at(-1)).toEqual(sent.body.documents[0]);
    expect(outcome(await sendFile(code, 'invoice.pdf', 'first'))).toEqual([201, null, 'true']);
    expect(outcome(await sendFile(code, 'invoice.pdf', 'other'))).toEqual([
      409,
      'idempotency_conflict',
      null,
    ]);
    expect(outcome(await sendFile(code, 's.pdf', 'x', 'renegotiation_signature'))).toEqual([
      422,
      'operation_invalid_state',
      null,
    ]);
    expect(outcome(await sendFile('UNKNOWN', 's.pdf', 'x'))).toEqual([404, 'loan_not_found', null]);
  });
});

describe('overdue', () => {
  test('a past due date shows soon after the operation is active, and is settled late', async () => {
    const code = nextCode();
    const installments = [
      { code: 'A', due_date: '2020-02-15', face_value: 500 },
      { code: 'B', due_date: '2099-02-15', face_value: 9000 },
    ];
    const overrides = { installments, acquisition_value: 5000, date_issued: '2020-01-15' };
    expect((await api.assign(loanRequest(api.fund, code, 2, overrides))).status).toBe(201);
    const statuses = async () =>
      (await api.loan(code)).body.installments.map(({ status }: { status: string | null }) => status);
    const deadline = Date.now() + 10_000;
    while ((await statuses())[0] !== 'overdue' && Date.now() < deadline)
      await new Promise((resolve) => setTimeout(resolve, 50));
    expect(await statuses()).toEqual(['overdue', 'pending']);
    expect((await api.settle(code, 'A', 520)).status).toBe(200);
    expect(await statuses()).toEqual(['settled', 'pending']);
  });
});
