import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { cents } from '../../domain/shared/money.ts';
import {
  ApiClient,
  assignmentForm,
  loanRequest,
  multipart,
  settlement,
  smallPdf,
} from '../support/api-client.ts';
import type { ApiResponse } from '../support/api-client.ts';
import { RunningService } from '../support/running-service.ts';

type Json = ReturnType<typeof JSON.parse>;

const [FUND, OTHER_FUND] = [randomUUID(), randomUUID()];
let service: RunningService;
let api: ApiClient;
let stranger: ApiClient;
let limited: ApiClient;

beforeAll(async () => {
  service = await RunningService.start();
  const credentials = await service.createClient(FUND);
  api = new ApiClient(service.baseUrl, credentials);
  stranger = await service.client(FUND);
  const { clients } = service.service.parts;
  const applicationId = credentials.application_id;
  await clients.create({ name: 'both', applicationId, fundIds: [OTHER_FUND] });
  const made = await clients.create({ name: 'few', applicationId, fundIds: [], onlyFundIds: [OTHER_FUND] });
  limited = new ApiClient(service.baseUrl, {
    client_id: made.clientId,
    client_secret: made.clientSecret,
    application_id: made.applicationId,
    fund_ids: made.fundIds,
  });
});
afterAll(() => service?.stop());

const HAND_MADE = Buffer.from('%PDF-1.4\n%%EOF\n');
const assign = (
  code: string,
  headers: Record<string, string>,
  { more = {}, file = smallPdf() }: { more?: object; file?: Uint8Array } = {},
): Promise<ApiResponse> =>
  api.call('POST', '/loan', assignmentForm(loanRequest(FUND, code, 2, more), file), headers);
const hold = async (code: string): Promise<void> => {
  expect((await assign(code, { 'X-Sandbox-Outcome': 'hold' })).status).toBe(201);
};
const dues = (...days: readonly string[]): object[] =>
  days.map((day, i) => ({ code: `00${i + 1}`, due_date: day, face_value: 950 }));
const decide = (decision: object, by = api): Promise<Json> => by.call('POST', '/sandbox/decision', decision);
const outcomeOf = ({ status, body }: Json): Json => [status, body.error_code ?? body.outcome, body.status];

describe('decisions over HTTP', () => {
  test('take an operation that was held through its life, each once', async () => {
    const code = 'DECIDED';
    await hold(code);
    const approve = { decision_id: 'D-1', originator_proposal_code: code, decision: 'approve' };
    expect((await decide(approve)).body).toEqual({ ...approve, outcome: 'applied', status: 'approved' });
    expect(outcomeOf(await decide(approve))).toEqual([200, 'already_applied', 'approved']);
    const disburse = { decision: 'disburse', disbursement_date: '2026-01-15', disbursed_value: 1800 };
    expect(outcomeOf(await decide({ originator_proposal_code: code, ...disburse }))).toEqual([
      ...[422, 'operation_invalid_state', undefined],
    ]);
    expect(outcomeOf(await decide({ originator_proposal_code: code, decision: 'sign_term' }))).toEqual([
      ...[200, 'applied', 'term_signed'],
    ]);
    const { acquisition_value: value } = (await api.call('GET', `/loan/${code}`)).body;
    const far = { ...disburse, originator_proposal_code: code, disbursed_value: value * 2 };
    expect((await decide(far)).body.details).toMatchObject([{ field: 'confirmed_value' }]);
    expect(outcomeOf(await decide({ ...far, confirmed_value: value * 2 }))).toEqual([
      200,
      'applied',
      'active',
    ]);
    const { body } = await api.call('GET', `/loan/${code}`);
    expect([body.status, body.disbursement.value]).toEqual(['active', value * 2]);
  });

  test('name what is wrong with them, and use nothing up', async () => {
    await hold('MENDED');
    const wrong = { decision_id: 'D-2', originator_proposal_code: 'MENDED', decision: 'reject' };
    for (const [decision, field] of [
      [wrong, 'reasons'],
      [{ ...wrong, decision: 'Approve' }, 'decision'],
      [{ ...wrong, decision: 'approve', reasons: [{ code: 'a', message: 'b' }] }, 'reasons'],
      [{ ...wrong, reasons: [{ code: 'a' }] }, 'reasons[0].message'],
      [{ decision: 'approve' }, 'originator_proposal_code'],
    ] as const) {
      const { status, body } = await decide(decision);
      expect([status, body.error_code, body.details[0].field]).toEqual([400, 'validation_error', field]);
    }
    expect(outcomeOf(await decide({ ...wrong, expectedStatus: 'received' }))).toMatchObject([
      ...[400, 'unknown_field'],
    ]);
    const right = { ...wrong, reasons: [{ code: 'limit', message: 'too much' }], note: null };
    expect(outcomeOf(await decide({ ...right, expected_status: 'approved' }))).toEqual([
      ...[422, 'operation_invalid_state', undefined],
    ]);
    expect(outcomeOf(await decide(right))).toEqual([200, 'applied', 'rejected']);
    const other = { ...right, reasons: [{ code: 'other', message: 'another' }] };
    const conflict = await decide(other);
    expect(outcomeOf(conflict)).toMatchObject([409, 'idempotency_conflict']);
    expect(conflict.body.details[0].field).toBe('decision_id');
  });

  test('have ids of their own in each application, which learns nothing of those of others', async () => {
    const approve = { decision_id: 'D-3', originator_proposal_code: 'ALIKE', decision: 'approve' };
    for (const by of [api, stranger]) {
      const form = assignmentForm(loanRequest(FUND, 'ALIKE', 2));
      expect((await by.call('POST', '/loan', form, { 'X-Sandbox-Outcome': 'hold' })).status).toBe(201);
      expect(outcomeOf(await decide(approve, by))).toEqual([200, 'applied', 'approved']);
      expect(outcomeOf(await decide(approve, by))).toEqual([200, 'already_applied', 'approved']);
      const other = await decide({ ...approve, decision: 'sign_term' }, by);
      expect(outcomeOf(other)).toMatchObject([409, 'idempotency_conflict']);
    }
  });

  test('of others, on what they cannot see, find nothing', async () => {
    await hold('MINE');
    const approve = { originator_proposal_code: 'MINE', decision: 'approve', application_id: 'another' };
    for (const by of [stranger, limited])
      expect(outcomeOf(await decide(approve, by))).toMatchObject([404, 'loan_not_found']);
    expect(outcomeOf(await decide({ ...approve, originator_proposal_code: 'NEVER' }))).toMatchObject([
      ...[404, 'loan_not_found'],
    ]);
    expect(outcomeOf(await decide(approve))).toEqual([200, 'applied', 'approved']);
  });
});

const active = async (code: string, headers: Record<string, string> = {}): Promise<void> => {
  expect((await assign(code, headers)).status).toBe(201);
  await api.untilStatus(code, 'active');
};
const replacing = (code: string, effectiveDate: string): object => ({
  original_proposal_code: code,
  effective_date: effectiveDate,
  new_proposal: {
    ...{ originator_proposal_code: `${code}-R`, acquisition_value: 1_500, number_of_installments: 1 },
    installments: [{ code: '001', due_date: '2099-12-15', face_value: 2_000 }],
  },
});

describe('another disbursed value', () => {
  const asked = { 'X-Sandbox-Disburse': '9900.00' };

  test('is disbursed, however far it is, shown, and what a reversal gives back; sent again without it is a replay', async () => {
    await active('OTHER', asked);
    const { body } = await api.loan('OTHER');
    expect([body.disbursement.value, body.acquisition_value]).toEqual([9_900, 1_672]);
    const again = await assign('OTHER', {});
    expect([again.status, again.headers.get('idempotent-replayed')]).toEqual([201, 'true']);
    const reversal = { reason: 'cession_reversal', effective_date: '2026-06-15', dry_run: true };
    const { body: quote } = await api.call('POST', '/loan/repurchase', {
      ...{ originator_proposal_code: 'OTHER', idempotency_key: 'OTHER-reversal' },
      ...reversal,
    });
    expect(quote).toMatchObject({ repurchase_value: 9_900, disbursed_value: 9_900 });
  });

  test('of a renegotiation is that of its new operation, where a fund asks for two people too', async () => {
    await active('OLD');
    const { administrator } = service.service.parts;
    const rule = {
      fundId: FUND,
      evidence: 'stated',
      decisions: [{ decision: 'disburse', from: cents(0) }],
    } as const;
    await administrator.rules.set(rule, { decisionId: 'two', actor: 'administrator/ana' }, { name: 'ana' });
    const done = await api.call('PATCH', '/loan/renegotiate', replacing('OLD', '2026-06-15'), asked);
    expect(done.status).toBe(200);
    expect((await api.untilStatus('OLD-R', 'active')).body.disbursement.value).toBe(9_900);
  });
});

describe('a request that is checked as in production', () => {
  const strictly = { 'X-Sandbox-Strict': 'true' };
  const CODE = 'STRICT';
  const SOON = new Date(Date.now() + 40 * 86_400_000).toISOString().slice(0, 10);
  const borrower = {
    ...(loanRequest(FUND, CODE) as { borrower: object }).borrower,
    document_number: '52998224700',
  };
  const prepayment = (date: string): object => ({
    ...{ originator_proposal_code: CODE, idempotency_key: `${CODE}-${date}`, prepayment_value: 1 },
    ...{ prepayment_date: date, payment_method: 'pix' },
  });
  const settling = (date: string, more: object = {}): object =>
    settlement(CODE, '001', 950, { settled_at: date, ...more });
  const later = { date_issued: '2099-01-15', installments: dues('2099-02-15', '2099-03-15') };
  const filed = (name: string): FormData =>
    multipart(
      'files_data',
      { originator_proposal_code: CODE, documents: [{ type: 'receipt', value: name }] },
      [{ name, content: HAND_MADE }],
    );
  const signed = (): FormData =>
    multipart(
      'renegotiation_data',
      {
        original_proposal_codes: [CODE],
        effective_date: '2026-06-15',
        new_loan: {
          ...{ originator_proposal_code: `${CODE}-F`, acquisition_value: 1_500, number_of_installments: 1 },
          installments: [{ code: '001', due_date: '2099-12-15', face_value: 2_000 }],
          backing_documents: [{ type: 'renegotiation_document', value: 'debt.pdf' }],
        },
        dry_run: true,
      },
      [{ name: 'debt.pdf', content: HAND_MADE }],
    );

  beforeAll(() => active(CODE, strictly), 60_000);

  type Send = (headers: Record<string, string>) => Promise<ApiResponse>;
  test.each<[string, string, Send]>([
    ['check digits', 'validation_error', (headers) => assign('DIGITS', headers, { more: { borrower } })],
    [
      'check digits of a quote',
      'validation_error',
      (headers) => assign('DIGITS-Q', headers, { more: { borrower, dry_run: true } }),
    ],
    ['a file', 'invalid_file', (headers) => assign('FILE', headers, { file: HAND_MADE })],
    ['an issue', 'validation_error', (headers) => assign('LATER', headers, { more: later })],
    [
      'an added file',
      'invalid_file',
      (headers) => api.call('POST', '/loan/files', filed('more.pdf'), headers),
    ],
    [
      'a quoted settlement',
      'invalid_date',
      (headers) =>
        api.call('POST', '/installment/settle', settling('2099-01-15', { dry_run: true }), headers),
    ],
    [
      'a settlement',
      'invalid_date',
      (headers) => api.call('POST', '/installment/settle', settling('2099-01-15'), headers),
    ],
    [
      'a quoted prepayment',
      'invalid_date',
      (headers) =>
        api.call('POST', '/installment/prepayment', { ...prepayment(SOON), dry_run: true }, headers),
    ],
    [
      'a prepayment',
      'invalid_date',
      (headers) => api.call('POST', '/installment/prepayment', prepayment(SOON), headers),
    ],
    [
      'a renegotiation',
      'validation_error',
      (headers) =>
        api.call('PATCH', '/loan/renegotiate', { ...replacing(CODE, '2098-06-15'), dry_run: true }, headers),
    ],
    ['its file', 'invalid_file', (headers) => api.call('PATCH', '/loan/renegotiate', signed(), headers)],
  ])('%s: %s, and passes without it', async (_, code, send) => {
    const refused = await send(strictly);
    expect([refused.status, refused.body.error_code]).toEqual([400, code]);
    expect((await send({})).status).toBeLessThan(300);
  });

  test('in a batch, line by line, by the clock of the sandbox; the header is no part of a request', async () => {
    const { now } = (await api.call('GET', '/sandbox/clock')).body;
    const day = new Date(Date.parse(now) + 40 * 86_400_000).toISOString().slice(0, 10);
    const line = settlement(CODE, '002', 950, { settled_at: day });
    const batch = async (headers = {}): Promise<Json> =>
      (await api.call('POST', '/installment/settle/batch', { settlements: [line] }, headers)).body.results[0];
    expect(await batch(strictly)).toMatchObject({ status: 400, body: { error_code: 'invalid_date' } });
    expect((await api.call('POST', '/sandbox/clock', { advance: '41d' })).status).toBe(200);
    expect(await batch(strictly)).toMatchObject({ status: 200, replayed: false });
    expect(await batch()).toMatchObject({ status: 200, replayed: true });
  });
});

describe('requests that are asked to fail', () => {
  const CODE = 'FAILS';
  let api: ApiClient;
  let other: ApiClient;

  beforeAll(async () => {
    [api, other] = [await service.client(FUND), await service.client(FUND)];
    const lasting = loanRequest(FUND, CODE, 8, {
      installments: Array.from({ length: 8 }, (_, n) => ({
        ...{ code: `00${n + 1}`, due_date: `2099-0${n + 1}-15`, face_value: 950 },
      })),
    });
    for (const one of [api, other]) {
      await one.assign(lasting);
      await one.untilStatus(CODE, 'active');
    }
  });

  const settlementOf = (part: string, more: object = {}): object => ({
    originator_proposal_code: CODE,
    installment_code: part,
    settled_at: '2026-02-15',
    settled_value: 950,
    payment_method: 'pix',
    idempotency_key: `settle-${part}`,
    ...more,
  });
  const failing = (how: string) => ({ 'X-Sandbox-Fail': how });
  const settle = (part: string, how?: string, by = api, more = {}): Promise<Json> =>
    by.call('POST', '/installment/settle', settlementOf(part, more), how === undefined ? {} : failing(how));
  const partOf = async (part: string, by = api): Promise<string> => {
    const { body } = await by.call('GET', `/loan/${CODE}`);
    return body.installments.find(({ code }: { code: string }) => code === part).status;
  };

  describe('a settlement that is asked to fail', () => {
    test.each([
      ['001', '429', [429, 'rate_limited', true], 'pending'],
      ['002', '503', [503, 'service_unavailable', true], 'pending'],
      ['003', '503-after', [503, 'service_unavailable', true], 'settled'],
    ])('%s by %s does so once, with its work done or not', async (part, how, told, found) => {
      const answer = await settle(part, how);
      expect([answer.status, answer.body.error_code, answer.body.retryable]).toEqual(told);
      expect(answer.headers.get('retry-after')).toBe('1');
      expect(await partOf(part)).toBe(found);
      const again = await settle(part, how);
      expect([again.status, again.headers.get('idempotent-replayed')]).toEqual([
        ...[200, found === 'settled' ? 'true' : null],
      ]);
      expect((await settle(part, how)).headers.get('idempotent-replayed')).toBe('true');
    });

    test.each([
      ['004', 'cut', 'pending'],
      ['005', 'cut-after', 'settled'],
    ])('%s by %s loses its connection', async (part, how, found) => {
      await expect(settle(part, how)).rejects.toThrow();
      expect(await partOf(part)).toBe(found);
      expect((await settle(part, how)).status).toBe(200);
    });

    test('costs another application nothing, and fails there by itself', async () => {
      expect((await settle('006', '503')).status).toBe(503);
      expect((await settle('006', '503', other)).status).toBe(503);
      expect(await Promise.all([settle('006', '503'), settle('006', '503', other)])).toMatchObject([
        ...[{ status: 200 }, { status: 200 }],
      ]);
    });

    test('by 429 takes no token', async () => {
      const remaining = ({ headers }: Json): number => Number(headers.get('x-ratelimit-remaining'));
      const limit = ({ headers }: Json): number => Number(headers.get('x-ratelimit-limit'));
      const failed = await settle('007', '429');
      expect(remaining(failed)).toBe(limit(failed));
    });

    test('passes as a dry_run, and is refused where it would be: nothing is made then', async () => {
      expect((await settle('008', '503', api, { dry_run: true })).status).toBe(200);
      expect((await settle('008', '503-after', api, { settled_at: '1999-01-01' })).status).toBe(400);
      for (const how of ['', '500', '503, 503', 'CUT']) {
        const { status, body } = await settle('008', how);
        expect([status, body.error_code, body.details[0].field]).toEqual([
          ...[400, 'validation_error', 'X-Sandbox-Fail'],
        ]);
      }
    });
  });

  describe('other writes that are asked to fail', () => {
    const form = (): FormData => assignmentForm(loanRequest(FUND, 'LOST', 1));

    test('an assignment whose answer was lost is there, and sent again it is a replay', async () => {
      await expect(api.call('POST', '/loan', form(), failing('cut-after'))).rejects.toThrow();
      const { status, headers } = await api.call('POST', '/loan', form(), failing('cut-after'));
      expect([status, headers.get('idempotent-replayed')]).toEqual([201, 'true']);
    });

    test('documents, prepayment, repurchase and renegotiation do once what they are asked', async () => {
      const proposal = {
        originator_proposal_code: 'NEXT',
        acquisition_value: 100,
        number_of_installments: 1,
      };
      const renegotiation = {
        original_proposal_code: CODE,
        effective_date: '2026-06-15',
        new_proposal: {
          ...proposal,
          installments: [{ code: '001', due_date: '2099-01-15', face_value: 110 }],
        },
      };
      const common = { originator_proposal_code: CODE, idempotency_key: 'once' };
      const prepayment = { prepayment_value: 10, prepayment_date: '2026-02-15', payment_method: 'pix' };
      const addition = {
        originator_proposal_code: CODE,
        documents: [{ type: 'receipt', value: 'more.pdf' }],
      };
      const repurchase = { reason: 'repurchase', effective_date: '2026-06-15' };
      for (const send of [
        (headers: Record<string, string>) =>
          api.call(
            'POST',
            '/loan/files',
            multipart('files_data', addition, [{ name: 'more.pdf', content: smallPdf() }]),
            headers,
          ),
        (headers: Record<string, string>) =>
          api.call('POST', '/installment/prepayment', { ...common, ...prepayment }, headers),
        (headers: Record<string, string>) =>
          other.call('POST', '/loan/repurchase', { ...common, ...repurchase }, headers),
        (headers: Record<string, string>) => api.call('PATCH', '/loan/renegotiate', renegotiation, headers),
      ]) {
        expect((await send(failing('503'))).status).toBe(503);
        const { status, headers } = await send(failing('503'));
        expect([status < 300, headers.get('idempotent-replayed')]).toEqual([true, null]);
      }
    });
  });
});
