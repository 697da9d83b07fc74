import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { MovableClock } from '../../application/maintenance/sandbox/sandbox-clock.ts';
import { assignmentForm, loanRequest } from '../support/api-client.ts';
import type { ApiClient, ApiResponse } from '../support/api-client.ts';
import { ServiceProcess } from '../support/service-process.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { within } from '../support/within.ts';

const DAY_S = 86_400;

let service: ServiceProcess;
let api: ApiClient;

beforeAll(async () => {
  service = await ServiceProcess.start(temporaryDirectory(), { SANDBOX_STEP: '1ms' });
  api = await service.client();
}, 300_000);
afterAll(() => service?.end('SIGTERM'));

const assign = (code: string, outcome?: string, overrides: object = {}): Promise<ApiResponse> =>
  api.call(
    'POST',
    '/loan',
    assignmentForm(loanRequest(api.fund, code, 2, overrides)),
    outcome === undefined ? {} : { 'X-Sandbox-Outcome': outcome },
  );

/** Due so many days after today, as the sandbox's clock has it. */
const dueIn = async (...days: readonly number[]): Promise<object> => {
  const { now } = (await api.call('GET', '/sandbox/clock')).body;
  const dayAfter = (n: number): string => new MovableClock(() => Date.parse(now) + n * DAY_S * 1_000).today();
  return {
    date_issued: dayAfter(-1),
    number_of_installments: days.length,
    installments: days.map((n, i) => ({ code: `00${i + 1}`, due_date: dayAfter(n), face_value: 950 })),
  };
};
const statuses = ({ body }: ApiResponse): string[] =>
  body.installments.map(({ status }: { status: string }) => status);

describe('the outcome that a request asks for', () => {
  test('reject rejects with a reason; sent again with another outcome it is the same request', async () => {
    expect((await assign('REJECTED', 'reject')).status).toBe(201);
    const { body } = await api.untilStatus('REJECTED', 'rejected');
    expect(body.rejection_reasons).toEqual([
      { code: 'sandbox_outcome', message: expect.stringContaining('X-Sandbox-Outcome') },
    ]);
    const again = await assign('REJECTED', 'hold');
    expect([again.status, again.headers.get('Idempotent-Replayed')]).toEqual([201, 'true']);
    expect((await api.loan('REJECTED')).body.status).toBe('rejected');
  });

  test('hold leaves every step to decisions from outside, also after a kill', async () => {
    expect((await assign('HELD', 'hold')).status).toBe(201);
    await service.end('SIGKILL');
    await service.start();
    // What follows it in the log is through: the one that was held was passed by.
    await assign('NEXT');
    await api.untilStatus('NEXT', 'active');
    expect((await api.loan('HELD')).body.status).toBe('received');
    await service.receivables('administrator', 'approve', 'HELD');
    await assign('AFTER');
    await api.untilStatus('AFTER', 'active');
    expect((await api.loan('HELD')).body.status).toBe('approved');
    await service.receivables('administrator', 'sign', 'HELD');
    await service.receivables(
      'administrator',
      'disburse',
      'HELD',
      '--date',
      '2026-01-16',
      '--value',
      '1672.00',
    );
    await api.untilStatus('HELD', 'active');
  }, 300_000);

  test('a renegotiation can hold its new operation', async () => {
    await assign('OLD');
    await api.untilStatus('OLD', 'active');
    const request = {
      original_proposal_code: 'OLD',
      new_proposal: {
        originator_proposal_code: 'NEW',
        acquisition_value: 1_500,
        number_of_installments: 1,
        installments: [{ code: '1', due_date: '2027-06-15', face_value: 1_700 }],
      },
      effective_date: '2026-06-20',
    };
    const done = await api.call('PATCH', '/loan/renegotiate', request, { 'X-Sandbox-Outcome': 'hold' });
    expect(done.status).toBe(200);
    await assign('AFTER-NEW');
    await api.untilStatus('AFTER-NEW', 'active');
    expect((await api.loan('NEW')).body.status).toBe('received');
    const rejected = await api.call('PATCH', '/loan/renegotiate', request, { 'X-Sandbox-Outcome': 'reject' });
    expect([rejected.status, rejected.body.error_code]).toEqual([400, 'validation_error']);
  });
});

describe('the clock', () => {
  test('moves what belongs to operations, keeps what does not, and survives a kill right after the answer', async () => {
    await assign('LATE', undefined, await dueIn(5, 12));
    const before = await api.untilStatus('LATE', 'active');
    expect(statuses(before)).toEqual(['pending', 'pending']);
    const moved = await api.call('POST', '/sandbox/clock', { advance: '10d' });
    expect([moved.status, moved.body.offset_seconds]).toEqual([200, 10 * DAY_S]);
    await within('overdue', 60_000, async () => statuses(await api.loan('LATE'))[0] === 'overdue');

    const { body } = await api.loan('LATE');
    expect(statuses({ body } as ApiResponse)).toEqual(['overdue', 'pending']);
    expect(Date.parse(body.updated_at) - Date.parse(before.body.updated_at)).toBeGreaterThan(
      9 * DAY_S * 1_000,
    );
    expect(body.balances.payoff_date > before.body.balances.payoff_date).toBe(true);

    const paid = await api.settle('LATE', '001', 950, { settled_at: body.balances.payoff_date });
    expect(Date.parse(paid.body.processed_at)).toBeGreaterThan(Date.parse(moved.body.now));

    const further = await api.call('POST', '/sandbox/clock', { to: '2031-03-01T09:00:00-03:00' });
    await service.end('SIGKILL');
    await service.start();
    const { body: kept } = await api.call('GET', '/sandbox/clock');
    expect(kept.offset_seconds).toBe(further.body.offset_seconds);
    expect(kept.now >= '2031-03-01T12:00:00.000Z').toBe(true);
    expect((await assign('IN-2031')).body.received_at).toMatch(/^2031-03-01T12/);
    // The token from before the moves still holds, and so does the audit of everything.
    expect(await service.receivables('audit', 'verify')).toContain('"differences":0');
  }, 300_000);

  test('is moved and shown from the command line while the service runs', async () => {
    const { now, offset_seconds } = JSON.parse(await service.receivables('sandbox', 'clock'));
    const moved = JSON.parse(await service.receivables('sandbox', 'clock', '--advance', '36h'));
    expect(moved.offset_seconds).toBeCloseTo(offset_seconds + 1.5 * DAY_S, 3);
    const { body } = await assign('AFTER-COMMAND');
    expect(Date.parse(body.received_at)).toBeGreaterThan(Date.parse(now) + 1.5 * DAY_S * 1_000);
    expect((await api.call('GET', '/sandbox/clock')).body.offset_seconds).toBe(moved.offset_seconds);
  }, 300_000);

  test('adds up moves that are asked for at once', async () => {
    const before = (await api.call('GET', '/sandbox/clock')).body.offset_seconds;
    const moves = Array.from({ length: 20 }, () => api.call('POST', '/sandbox/clock', { advance: '1h' }));
    expect((await Promise.all(moves)).map(({ status }) => status)).toEqual(Array(20).fill(200));
    expect((await api.call('GET', '/sandbox/clock')).body.offset_seconds).toBe(before + 20 * 3_600);
  });
});
