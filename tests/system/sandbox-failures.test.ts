import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { ApiClient, loanRequest, multipart, smallPdf } from '../support/api-client.ts';
import { RunningService } from '../support/running-service.ts';

type Json = ReturnType<typeof JSON.parse>;

const FUND = randomUUID();
const CODE = 'FAILS';
let service: RunningService;
let api: ApiClient;
let other: ApiClient;

beforeAll(async () => {
  service = await RunningService.start();
  [api, other] = [
    new ApiClient(service.baseUrl, await service.createClient(FUND)),
    new ApiClient(service.baseUrl, await service.createClient(FUND)),
  ];
  const lasting = loanRequest(FUND, CODE, 8, {
    installments: Array.from({ length: 8 }, (_, n) => ({
      ...{ code: `00${n + 1}`, due_date: `2099-0${n + 1}-15`, face_value: 950 },
    })),
  });
  for (const one of [api, other]) {
    await one.assign(lasting);
    await one.untilStatus(CODE, 'active');
  }
}, 60_000);
afterAll(() => service?.stop());

const settlement = (part: string, more: object = {}): object => ({
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
  by.call('POST', '/installment/settle', settlement(part, more), how === undefined ? {} : failing(how));
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
  const form = (): FormData =>
    multipart('loan_data', loanRequest(FUND, 'LOST', 1), [{ name: 'ccb.pdf', content: smallPdf() }]);

  test('an assignment whose answer was lost is there, and sent again it is a replay', async () => {
    await expect(api.call('POST', '/loan', form(), failing('cut-after'))).rejects.toThrow();
    const { status, headers } = await api.call('POST', '/loan', form(), failing('cut-after'));
    expect([status, headers.get('idempotent-replayed')]).toEqual([201, 'true']);
  });

  test('documents, prepayment, repurchase and renegotiation do once what they are asked', async () => {
    const proposal = { originator_proposal_code: 'NEXT', acquisition_value: 100, number_of_installments: 1 };
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
    const addition = { originator_proposal_code: CODE, documents: [{ type: 'receipt', value: 'more.pdf' }] };
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
