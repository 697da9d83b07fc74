import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { ApiClient, loanRequest, multipart, smallPdf } from '../support/api-client.ts';
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
  stranger = new ApiClient(service.baseUrl, await service.createClient(FUND));
  const { clients } = service.service.parts.app;
  const applicationId = credentials.application_id;
  await clients.create({ name: 'both', applicationId, fundIds: [OTHER_FUND] });
  const made = await clients.create({ name: 'few', applicationId, fundIds: [], onlyFundIds: [OTHER_FUND] });
  limited = new ApiClient(service.baseUrl, {
    client_id: made.clientId,
    client_secret: made.clientSecret,
    application_id: made.applicationId,
    fund_ids: made.fundIds,
  });
}, 60_000);
afterAll(() => service?.stop());

const hold = async (code: string): Promise<void> => {
  const files = [{ name: 'ccb.pdf', content: smallPdf() }];
  const form = multipart('loan_data', loanRequest(FUND, code, 2, { date_issued: '2026-01-15' }), files);
  expect((await api.call('POST', '/loan', form, { 'X-Sandbox-Outcome': 'hold' })).status).toBe(201);
};
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
    expect(outcomeOf(await decide(other))).toMatchObject([409, 'idempotency_conflict']);
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
