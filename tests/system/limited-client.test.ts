import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { OPERATIONS } from '../../infrastructure/http/resources/endpoints.ts';
import { ApiClient, assignmentForm, loanRequest, multipart, smallPdf } from '../support/api-client.ts';
import { RunningService } from '../support/running-service.ts';

const [MINE, OTHER] = [randomUUID(), randomUUID()];
let service: RunningService;
let everything: ApiClient;
let limited: ApiClient;
let webhookId: string;
let eventIds: { readonly mine: string; readonly other: string };

const clientOf = async (input: object): Promise<ApiClient> => {
  const created = await service.service.parts.clients.create({
    name: 'test',
    applicationId: 'acme',
    fundIds: [],
    rateLimitMultiplier: 1_000,
    ...input,
  });
  return new ApiClient(service.baseUrl, {
    client_id: created.clientId,
    client_secret: created.clientSecret,
    application_id: created.applicationId,
    fund_ids: created.fundIds,
  });
};

/** Nothing falls due while the test looks on: what it compares does not change by itself. */
const lasting = (fundId: string, code: string): object =>
  loanRequest(fundId, code, 2, {
    installments: ['001', '002'].map((one) => ({ code: one, due_date: '2099-01-15', face_value: 950 })),
  });

const deliveredEvent = async (code: string): Promise<string> => {
  for (;;) {
    const { body } = await everything.call('GET', `/webhook/${webhookId}/deliveries?limit=200`);
    const found = body.data.find(
      (one: { originator_proposal_code: string }) => one.originator_proposal_code === code,
    );
    if (found) return found.event_id;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
};

beforeAll(async () => {
  service = await RunningService.start({ WEBHOOK_ALLOW_PRIVATE_NETWORK: 'true' });
  everything = await clientOf({ fundIds: [MINE, OTHER] });
  limited = await clientOf({ onlyFundIds: [MINE] });
  const hook = { url: 'https://127.0.0.1:9/hooks', events: ['*'] };
  webhookId = (await everything.call('POST', '/webhook', hook)).body.webhook_id;
  await everything.assign(lasting(MINE, 'MINE'));
  await everything.assign(lasting(OTHER, 'OTHER'));
  await Promise.all(['MINE', 'OTHER'].map((code) => everything.untilStatus(code, 'active')));
  eventIds = { mine: await deliveredEvent('MINE'), other: await deliveredEvent('OTHER') };
});
afterAll(() => service?.stop());

const settlement = (code: string, key: string) => ({
  originator_proposal_code: code,
  installment_code: '001',
  settled_at: '2026-02-15',
  settled_value: 950,
  payment_method: 'pix',
  idempotency_key: key,
});
const prepayment = (code: string) => ({
  originator_proposal_code: code,
  prepayment_value: 100,
  prepayment_date: '2026-02-01',
  payment_method: 'pix',
  idempotency_key: `prepay-${code}`,
});
const repurchase = (code: string) => ({
  originator_proposal_code: code,
  reason: 'repurchase',
  effective_date: '2026-02-01',
  idempotency_key: `buy-${code}`,
});
const renegotiation = (code: string, next = `${code}-NEXT`) => ({
  original_proposal_code: code,
  effective_date: '2026-03-01',
  new_proposal: {
    originator_proposal_code: next,
    acquisition_value: 800,
    number_of_installments: 1,
    installments: [{ code: '001', due_date: '2026-12-15', face_value: 900 }],
  },
});
const files = (code: string) =>
  multipart(
    'files_data',
    { originator_proposal_code: code, documents: [{ type: 'invoice', value: 'a.pdf' }] },
    [{ name: 'a.pdf', content: smallPdf() }],
  );

interface Case {
  readonly path: string;
  readonly body?: (code: string) => object | FormData;
  /** status, and the error's code where it is one */
  readonly hidden: readonly [number, string?];
}

/** Every published operation behind a token, asked by the limited client about an operation, an event or a webhook of the other fund. */
const CASES: Readonly<Record<string, Case>> = {
  assignLoan: {
    path: '/loan',
    body: () => assignmentForm(loanRequest(MINE, 'OTHER')),
    hidden: [409, 'idempotency_conflict'],
  },
  listLoans: { path: `/loan?fund_id=${OTHER}`, hidden: [200] },
  readLoan: { path: '/loan/OTHER', hidden: [404, 'loan_not_found'] },
  readDocument: { path: '/loan/OTHER/documents/DOCUMENT', hidden: [404, 'loan_not_found'] },
  settleInstallment: {
    path: '/installment/settle',
    body: (code) => settlement(code, `settle-${code}`),
    hidden: [404, 'loan_not_found'],
  },
  settleBatch: {
    path: '/installment/settle/batch',
    body: (code) => ({ settlements: [settlement(code, `settle-${code}`)] }),
    hidden: [200],
  },
  processPrepayment: { path: '/installment/prepayment', body: prepayment, hidden: [404, 'loan_not_found'] },
  requestRepurchase: { path: '/loan/repurchase', body: repurchase, hidden: [404, 'loan_not_found'] },
  renegotiateLoans: {
    path: '/loan/renegotiate',
    body: (code) => renegotiation(code),
    hidden: [404, 'loan_not_found'],
  },
  addDocuments: { path: '/loan/files', body: files, hidden: [404, 'loan_not_found'] },
  redeliverEvent: { path: '/webhook/event/EVENT/redeliver', hidden: [404, 'event_not_found'] },
  listDeliveries: { path: '/webhook/WEBHOOK/deliveries', hidden: [200] },
  createWebhook: {
    path: '/webhook',
    body: () => ({ url: 'https://127.0.0.1:9/b', events: ['*'], fund_ids: [MINE] }),
    hidden: [403, 'insufficient_scope'],
  },
  listWebhooks: { path: '/webhook', hidden: [403, 'insufficient_scope'] },
  readWebhook: { path: '/webhook/WEBHOOK', hidden: [403, 'insufficient_scope'] },
  updateWebhook: {
    path: '/webhook/WEBHOOK',
    body: () => ({ events: ['*'] }),
    hidden: [403, 'insufficient_scope'],
  },
  deleteWebhook: { path: '/webhook/WEBHOOK', hidden: [403, 'insufficient_scope'] },
  pauseWebhook: { path: '/webhook/WEBHOOK/pause', hidden: [403, 'insufficient_scope'] },
  resumeWebhook: { path: '/webhook/WEBHOOK/resume', hidden: [403, 'insufficient_scope'] },
  pingWebhook: { path: '/webhook/WEBHOOK/ping', hidden: [403, 'insufficient_scope'] },
  redeliverWebhook: {
    path: '/webhook/WEBHOOK/redeliver',
    body: () => ({ since: '2026-01-15T12:00:00Z' }),
    hidden: [403, 'insufficient_scope'],
  },
  readRedelivery: { path: '/webhook/WEBHOOK/redeliver/any', hidden: [403, 'insufficient_scope'] },
  listEvents: { path: '/event?after=EVENT', hidden: [400, 'invalid_query_parameter'] },
  readEvent: { path: '/webhook/event/EVENT', hidden: [404, 'event_not_found'] },
  // The clock belongs to the whole sandbox; neither answer says anything of an operation.
  readSandboxClock: { path: '/sandbox/clock', hidden: [200] },
  moveSandboxClock: { path: '/sandbox/clock', body: () => ({ advance: '1s' }), hidden: [200] },
  decideInSandbox: {
    path: '/sandbox/decision',
    body: (code) => ({ originator_proposal_code: code, decision: 'process_repurchase' }),
    hidden: [404, 'loan_not_found'],
  },
  rotateWebhookSecret: { path: '/webhook/WEBHOOK/rotate-secret', hidden: [403, 'insufficient_scope'] },
};
const behindToken = OPERATIONS.filter(({ access }) => access !== 'public' && access !== 'client_credentials');

describe('to a client limited to one fund', () => {
  test.each(behindToken.map(({ id, method }) => [id, method] as const))(
    '%s shows and changes nothing of another fund',
    async (id, method) => {
      const asked = CASES[id];
      if (!asked)
        throw new Error(`${id} needs a case: what does it answer about an operation of another fund?`);
      const path = asked.path.replace('EVENT', eventIds.other).replace('WEBHOOK', webhookId);
      const before = (await everything.loan('OTHER')).body;
      const address = path.replace('DOCUMENT', before.documents[0].document_id);
      const { status, body } = await limited.call(method.toUpperCase(), address, asked.body?.('OTHER'));
      expect([status, ...(status >= 400 ? [body.error_code] : [])]).toEqual(asked.hidden);
      expect(JSON.stringify(body)).not.toContain(OTHER);
      expect((await everything.loan('OTHER')).body).toEqual(before);
    },
  );

  test('a hidden operation answers as one that never was, dry runs and used keys included', async () => {
    expect((await everything.settle('OTHER', '002', 950, { idempotency_key: 'used' })).status).toBe(200);
    const anonymous = ({ request_id: _, ...body }: Record<string, unknown>, code: string) =>
      JSON.stringify(body).replaceAll(code, 'CODE');
    for (const [method, path, body] of [
      ['GET', (code: string) => `/loan/${code}`, undefined],
      ['POST', () => '/installment/settle', (code: string) => settlement(code, 'fresh')],
      ['POST', () => '/installment/settle', (code: string) => settlement(code, 'used')],
      ['POST', () => '/installment/settle', (code: string) => ({ ...settlement(code, 'k'), dry_run: true })],
      ['POST', () => '/installment/prepayment', (code: string) => ({ ...prepayment(code), dry_run: true })],
      ['POST', () => '/loan/repurchase', (code: string) => ({ ...repurchase(code), dry_run: true })],
      ['PATCH', () => '/loan/renegotiate', (code: string) => renegotiation(code, 'NEXT')],
      [
        'PATCH',
        () => '/loan/renegotiate',
        (code: string) => ({ ...renegotiation(code, 'NEXT'), dry_run: true }),
      ],
    ] as const) {
      const [hidden, never] = [
        await limited.call(method, path('OTHER'), body?.('OTHER')),
        await limited.call(method, path('NEVER'), body?.('NEVER')),
      ];
      expect([hidden.status, anonymous(hidden.body, 'OTHER')]).toEqual([
        never.status,
        anonymous(never.body, 'NEVER'),
      ]);
    }
    const settlements = ['OTHER', 'NEVER'].map((code) => settlement(code, 'fresh'));
    const { results } = (await limited.call('POST', '/installment/settle/batch', { settlements })).body;
    expect(results.map(({ status }: { status: number }) => status)).toEqual([404, 404]);
    expect(anonymous(results[0].body, 'OTHER')).toBe(anonymous(results[1].body, 'NEVER'));
    // The very request that another client had accepted is no replay for this one.
    expect((await limited.settle('OTHER', '002', 950, { idempotency_key: 'used' })).status).not.toBe(200);
  });

  test('its own fund is all there: lists, reads, commands, deliveries and events', async () => {
    const codes = (await limited.call('GET', '/loan')).body.data.map(
      (one: { originator_proposal_code: string }) => one.originator_proposal_code,
    );
    expect(codes).toEqual(['MINE']);
    expect((await limited.loan('MINE')).status).toBe(200);
    expect((await limited.settle('MINE', '001', 950)).status).toBe(200);
    const deliveries = (await limited.call('GET', `/webhook/${webhookId}/deliveries?limit=200`)).body.data;
    const funds = new Set(deliveries.map(({ fund_id }: { fund_id: string }) => fund_id));
    expect(funds).toEqual(new Set([MINE]));
    const listed = async (client: ApiClient, filter: string): Promise<string[]> => {
      const answer = await client.call('GET', `/webhook/${webhookId}/deliveries?${filter}`);
      return answer.body.data.map((one: { event_id: string }) => one.event_id);
    };
    // A settlement may be told while they are read, so nothing here lists all of an operation.
    for (const [of, eventId] of [
      ['MINE', eventIds.mine],
      ['OTHER', eventIds.other],
    ] as const) {
      const [byId, received] = [
        `originator_proposal_code=${of}&event_id=${eventId}`,
        `originator_proposal_code=${of}&event=loan_received,loan_rejected`,
      ];
      expect(await listed(everything, byId)).toEqual([eventId]);
      const [first, ...more] = await listed(everything, received);
      expect([typeof first, more]).toEqual(['string', []]);
      const seen = of === 'MINE';
      expect(await listed(limited, byId)).toEqual(seen ? [eventId] : []);
      expect(await listed(limited, received)).toEqual(seen ? [first] : []);
      expect((await listed(limited, `originator_proposal_code=${of}`)).length > 0).toBe(seen);
    }
    expect((await listed(limited, 'event=loan_received')).length).toBe(1);
    const redelivered = await limited.call('POST', `/webhook/event/${eventIds.mine}/redeliver`);
    expect(redelivered.status).toBe(202);
    const foreign = await limited.assign(loanRequest(OTHER, 'NEW-OTHER'));
    expect([foreign.status, foreign.body.error_code]).toEqual([403, 'fund_not_allowed']);
    const tried = await limited.assign(loanRequest(MINE, 'OTHER', 2, { dry_run: true }));
    expect([tried.status, tried.body.error_code]).toEqual([409, 'proposal_code_already_used']);
    const taken = await limited.call('PATCH', '/loan/renegotiate', renegotiation('MINE', 'OTHER'));
    expect([taken.status, taken.body.error_code]).toEqual([409, 'proposal_code_already_used']);
  });

  test('an event is followed with its body, also one that nobody subscribed to', async () => {
    const sent = (await limited.call('GET', `/webhook/event/${eventIds.mine}`)).body;
    expect(JSON.parse(sent.body)).toMatchObject({ event_id: eventIds.mine, event: sent.event });
    expect(sent.deliveries).toMatchObject([{ webhook_id: webhookId, event_id: eventIds.mine }]);
    const alone = await clientOf({ applicationId: 'alone', fundIds: [MINE] });
    await alone.assign(lasting(MINE, 'ALONE'));
    const stream = service.service.parts.publication.stream;
    const all = stream({ follow: false, applicationId: 'alone' }, new AbortController().signal);
    for await (const { event } of all) {
      const { status, body } = await alone.call('GET', `/webhook/event/${event.eventId}`);
      expect([status, body]).toEqual([
        200,
        { event_id: event.eventId, event: event.name, body: event.body, deliveries: [] },
      ]);
      expect((await everything.call('GET', `/webhook/event/${event.eventId}`)).status).toBe(404);
    }
  });

  test('scopes limit its tokens', async () => {
    const reader = await clientOf({ onlyFundIds: [MINE], scopes: ['loans:read'] });
    const [, payload = ''] = (await reader.token()).split('.');
    expect(JSON.parse(Buffer.from(payload, 'base64url').toString())).toMatchObject({ scope: 'loans:read' });
    expect((await reader.loan('MINE')).status).toBe(200);
    const refused = await reader.settle('MINE', '003', 950);
    expect([refused.status, refused.body.error_code]).toEqual([403, 'insufficient_scope']);
    expect((await reader.call('GET', `/webhook/${webhookId}/deliveries`)).status).toBe(403);
  });
});
