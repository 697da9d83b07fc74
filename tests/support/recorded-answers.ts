import { ConcurrencyError, StoreUnavailableError } from '../../application/ports/event-store.ts';
import { exampleLoanData } from '../../infrastructure/http/resources/assign-loan.ts';
import { EXAMPLE } from '../../application/schemas/example-values.ts';
import { examplePrepayment } from '../../infrastructure/http/resources/process-prepayment.ts';
import {
  exampleRenegotiation,
  sampleRenegotiationData,
} from '../../infrastructure/http/resources/renegotiation-request.ts';
import { exampleRepurchase } from '../../infrastructure/http/resources/request-repurchase.ts';
import { exampleBatch, exampleSettlement } from '../../infrastructure/http/resources/settle-installment.ts';
import { EXAMPLE_EVENT_ID, EXAMPLE_WEBHOOK_ID } from '../../infrastructure/http/resources/subscriptions.ts';
import type { ApiClient } from './api-client.ts';
import { loanRequest, multipart, smallPdf } from './api-client.ts';
import { FUND, tokenFor } from './http-fakes.ts';
import { validSettlement } from './http-requests.ts';
import { HttpWorld } from './http-world.ts';
import { refusedBesideAnother } from './running-redelivery.ts';
import { RunningService } from './running-service.ts';

type Body = ReturnType<typeof JSON.parse>;

const SETTLEMENT = validSettlement();
const CODE = EXAMPLE.code;
/** The examples of receipts have it as well. */
const CALCULATED_AT = '2026-06-20T15:04:05.000Z';
const WEBHOOK = { url: 'https://hooks.example.com/receivables', events: ['*'] };
const PDF = smallPdf();

const settling = (changes: object = {}): object => ({
  ...SETTLEMENT,
  originator_proposal_code: CODE,
  idempotency_key: `${CODE}-001`,
  ...changes,
});

const assigning = (changes: object = {}, files = [{ name: 'ccb.pdf', content: PDF }]): FormData =>
  multipart(
    'loan_data',
    { ...exampleLoanData, originator_proposal_code: 'OP-2026-000124', ...changes },
    files,
  );

const withState = (state: string): object => {
  const { borrower } = exampleLoanData;
  return { borrower: { ...borrower, address: { ...borrower.address, state } } };
};

/** Two applications that have the operation of the examples: as it was assigned, and a longer one of which five are paid. */
interface ExampleWorld {
  readonly service: RunningService;
  readonly assigned: ApiClient;
  readonly paid: ApiClient;
  readonly http: HttpWorld;
}

const exampleWorld = async (): Promise<ExampleWorld> => {
  const service = await RunningService.start();
  const [assigned, paid] = [await service.client(FUND), await service.client(FUND)];
  await assigned.assign(exampleLoanData);
  await paid.assign(loanRequest(FUND, CODE, 12, { acquisition_value: 10_000 }));
  await assigned.untilStatus(CODE, 'active');
  await paid.untilStatus(CODE, 'active');
  for (const month of [1, 2, 3, 4, 5]) {
    await paid.settle(CODE, `00${month}`, 950, { settled_at: `2026-0${month + 1}-15` });
  }
  return { service, assigned, paid, http: await HttpWorld.start() };
};

type Provoked = (world: ExampleWorld) => Promise<Body>;

const of =
  (
    method: string,
    path: string,
    body?: object | (() => object),
    more: Record<string, string> = {},
  ): Provoked =>
  async ({ assigned }) =>
    (await assigned.call(method, path, typeof body === 'function' ? body() : body, more)).body;

/** Sent as it stands, without a token unless the headers have one. */
const raw =
  (path: string, init: RequestInit): Provoked =>
  async ({ service }) =>
    (await fetch(service.baseUrl + path, init)).json();

const failing =
  (error: unknown): Provoked =>
  async ({ http }) => {
    http.behaviour.loans.settle = async () => {
      throw error;
    };
    return (await http.call('POST', '/installment/settle', { json: SETTLEMENT })).body;
  };

const token = (fields: Record<string, string>): RequestInit => ({
  method: 'POST',
  body: new URLSearchParams(fields),
});

const askingForToken =
  (fields: Record<string, string>, headers: Record<string, string> = {}): Provoked =>
  async ({ service }) => {
    const { client_id, client_secret } = await service.createClient(FUND);
    const all = { grant_type: 'client_credentials', client_id, client_secret, ...fields };
    return (await fetch(`${service.baseUrl}/token`, { ...token(all), headers })).json();
  };

const json =
  (body: string): Provoked =>
  async ({ service, assigned }) => {
    const headers = { authorization: `Bearer ${await assigned.token()}`, 'content-type': 'application/json' };
    return (await fetch(`${service.baseUrl}/installment/settle`, { method: 'POST', headers, body })).json();
  };

const after =
  (...steps: readonly Provoked[]): Provoked =>
  async (world) => {
    let last: Body;
    for (const step of steps) last = await step(world);
    return last;
  };

const tooOften: Provoked = async ({ http }) => {
  for (;;) {
    const { status, body } = await http.call('POST', '/loan/repurchase', { json: {} });
    if (status === 429) return body;
  }
};

/** How each refusal of the description is brought about. */
const PROVOCATIONS: Readonly<Record<string, Provoked>> = {
  invalid_request: json('{"originator_proposal_code": "OP-2026-000123",}'),
  invalid_request_of_path: raw('/loan/%', {}),
  invalid_request_of_token: raw('/token', token({ client_id: 'a' })),
  validation_error: of('POST', '/loan', () => assigning(withState('Sao Paulo'))),
  validation_error_of_token: askingForToken({}, { 'X-Sandbox-Token-Lifetime': '2h' }),
  unknown_field: of('POST', '/installment/settle', settling({ dryRun: true })),
  invalid_query_parameter: of('GET', '/loan?statu=active'),
  installment_not_found: of('POST', '/installment/settle', settling({ installment_code: '003' })),
  invalid_date: of('POST', '/installment/settle', settling({ settled_at: '2026-01-14' })),
  missing_file: of('POST', '/loan', () => assigning({}, [])),
  unreferenced_file: of('POST', '/loan', () =>
    assigning(
      {},
      ['ccb.pdf', 'term.pdf'].map((name) => ({ name, content: PDF })),
    ),
  ),
  duplicate_file_name: of('POST', '/loan', () =>
    assigning(
      {},
      ['ccb.pdf', 'ccb.pdf'].map((name) => ({ name, content: PDF })),
    ),
  ),
  invalid_file: of('POST', '/loan', () =>
    assigning({}, [{ name: 'ccb.pdf', content: Buffer.from('a text') }]),
  ),
  invalid_document_type: of('PATCH', '/loan/renegotiate', () =>
    multipart(
      'renegotiation_data',
      {
        ...sampleRenegotiationData,
        new_loan: {
          ...sampleRenegotiationData.new_loan,
          backing_documents: [{ type: 'ccb', value: 'ccb.pdf' }],
        },
      },
      [{ name: 'ccb.pdf', content: PDF }],
    ),
  ),
  invalid_webhook_url: of('POST', '/webhook', { ...WEBHOOK, url: 'http://hooks.example.com/receivables' }),
  invalid_event: of('POST', '/webhook', { ...WEBHOOK, events: ['loan_paid'] }),
  immutable_field: async ({ assigned }) => {
    const { webhook_id } = (await assigned.call('POST', '/webhook', WEBHOOK)).body;
    return (await assigned.call('PATCH', `/webhook/${webhook_id}`, { signing_secret: 'mine' })).body;
  },
  empty_update: async ({ assigned }) => {
    const { webhook_id } = (await assigned.call('POST', '/webhook', WEBHOOK)).body;
    return (await assigned.call('PATCH', `/webhook/${webhook_id}`, {})).body;
  },
  unsupported_grant_type: raw('/token', token({ grant_type: 'password' })),
  invalid_scope: askingForToken({ scope: 'loans' }),
  invalid_client: raw(
    '/token',
    token({ grant_type: 'client_credentials', client_id: 'a', client_secret: 'b' }),
  ),
  missing_token: raw('/loan', {}),
  invalid_token: raw('/loan', { headers: { authorization: 'Bearer abc' } }),
  token_expired: async ({ http }) => (await http.call('GET', '/loan', { auth: 'expired' })).body,
  fund_not_allowed: of('POST', '/loan', () => assigning({ fund_id: '00000000-0000-4000-8000-000000000000' })),
  insufficient_scope: async ({ http }) => {
    const auth = tokenFor('client-a', ['loans:read']);
    return (await http.call('POST', '/installment/settle', { json: SETTLEMENT, auth })).body;
  },
  loan_not_found: of('GET', '/loan/OP-2026-000999'),
  webhook_not_found: of('POST', `/webhook/${EXAMPLE_WEBHOOK_ID}/pause`),
  event_not_found: of('GET', `/webhook/event/${EXAMPLE_EVENT_ID}`),
  document_not_found: of('GET', `/loan/${CODE}/documents/${EXAMPLE.documentId}`),
  not_found: raw('/loans', {}),
  method_not_allowed: raw('/installment/settle', {}),
  not_acceptable: of('GET', '/loan', undefined, { accept: 'text/html' }),
  idempotency_conflict: after(
    of('POST', '/installment/settle', settling()),
    of('POST', '/installment/settle', settling({ settled_value: 900 })),
  ),
  installment_already_closed: after(
    of('POST', '/installment/settle', settling()),
    of('POST', '/installment/settle', settling({ idempotency_key: 'another' })),
  ),
  proposal_code_already_used: after(
    of('POST', '/loan', () => assigning()),
    of('PATCH', '/loan/renegotiate', {
      ...exampleRenegotiation,
      new_proposal: { ...exampleRenegotiation.new_proposal, originator_proposal_code: 'OP-2026-000124' },
    }),
  ),
  concurrent_modification: failing(new ConcurrencyError('loan-1', 1n, 2n)),
  payload_too_large: json(`{"reason_detail": "${'x'.repeat(9_000)}"}`),
  payload_too_large_of_token: raw('/token', token({ client_secret: 'x'.repeat(20_000) })),
  unsupported_media_type_of_token: raw('/token', { method: 'POST', body: '{}' }),
  unsupported_media_type: of('POST', '/installment/settle', undefined, { 'content-type': 'text/plain' }),
  operation_invalid_state: async ({ assigned }) => {
    const code = 'OP-2026-000125';
    const form = multipart('loan_data', { ...exampleLoanData, originator_proposal_code: code }, [
      { name: 'ccb.pdf', content: PDF },
    ]);
    await assigned.call('POST', '/loan', form, { 'X-Sandbox-Outcome': 'hold' });
    return (await assigned.settle(code, '001', 950)).body;
  },
  webhook_invalid_state: async ({ assigned }) => {
    const { webhook_id } = (await assigned.call('POST', '/webhook', WEBHOOK)).body;
    await assigned.call('POST', `/webhook/${webhook_id}/pause`);
    const { body } = await assigned.call('POST', `/webhook/${webhook_id}/ping`);
    return JSON.parse(JSON.stringify(body).replaceAll(webhook_id, EXAMPLE_WEBHOOK_ID));
  },
  redelivery_running: ({ service, assigned }) => refusedBesideAnother(service, assigned),
  rate_limited: tooOften,
  internal_error: failing(new Error('unforeseen')),
  service_unavailable: failing(new StoreUnavailableError('away')),
};

const quoting =
  (application: 'assigned' | 'paid', method: string, path: string, example: object): Provoked =>
  async (world) => ({
    ...(await world[application].call(method, path, { ...example, dry_run: true })).body,
    calculated_at: CALCULATED_AT,
  });

const quotedAssignment: Provoked = async ({ assigned }) => ({
  ...(await assigned.call('POST', '/loan', assigning({ dry_run: true }))).body,
  originator_proposal_code: CODE,
  calculated_at: CALCULATED_AT,
});

const QUOTES: Readonly<Record<string, Provoked>> = {
  assignment: quotedAssignment,
  settlement: quoting('assigned', 'POST', '/installment/settle', exampleSettlement),
  prepayment: quoting('paid', 'POST', '/installment/prepayment', examplePrepayment),
  repurchase: quoting('paid', 'POST', '/loan/repurchase', exampleRepurchase),
  renegotiation: quoting('paid', 'PATCH', '/loan/renegotiate', exampleRenegotiation),
};

/** Of a batch, with the instants and ids that the examples have. */
const batchAnswer: Provoked = async ({ service }) => {
  const client = await service.client(FUND);
  await client.assign(exampleLoanData);
  await client.untilStatus(CODE, 'active');
  const { results } = (await client.call('POST', '/installment/settle/batch', exampleBatch)).body;
  const [settled, refused] = results;
  settled.body.processed_at = '2026-02-15T15:04:05.000Z';
  refused.body.request_id = '0b5f6b52-9a3e-4c55-8f0b-7a4f0f6b9c1d';
  return { results };
};

const answersOf = async (
  provoked: Readonly<Record<string, Provoked>>,
  world: ExampleWorld,
): Promise<Body> => {
  const answers: Body = {};
  for (const [name, provoke] of Object.entries(provoked)) answers[name] = await provoke(world);
  return answers;
};

/** What a service really answers to the requests of the examples: each quote, a batch, and of each refusal its message and details. */
export const recordAnswers = async (): Promise<Body> => {
  const world = await exampleWorld();
  try {
    const quotes = await answersOf(QUOTES, world);
    const answers: [string, Body][] = Object.entries(await answersOf(PROVOCATIONS, world));
    const refusals = answers.map(([name, { error_code, message, details }]) => [
      name,
      { error_code, message, ...(details && { details }) },
    ]);
    return { quotes, batch: await batchAnswer(world), refusals: Object.fromEntries(refusals) };
  } finally {
    await world.service.stop();
    await world.http.stop();
  }
};
