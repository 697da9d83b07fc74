// A whole life, as somebody lives it who has the package and nothing else of ours. Prints what it saw as one line of JSON.
import { readFileSync } from 'node:fs';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import {
  ApiError,
  ReceivablesClient,
  VERSION,
  WebhookRejectedError,
  until,
  verifyWebhook,
} from 'receivables-fund';
import type { AttemptReport, Loan, LoanData, WebhookEvent } from 'receivables-fund';

const { BASE = '', CLIENT_ID = '', CLIENT_SECRET = '', FUND = '', TLS_KEY = '', TLS_CERT = '' } = process.env;
const whole = AbortSignal.timeout(90_000);
const attempts: AttemptReport[] = [];
const client = new ReceivablesClient({
  ...{ baseUrl: BASE, clientId: CLIENT_ID, clientSecret: CLIENT_SECRET },
  sandboxTokenLifetime: '1s',
  signal: whole,
  onAttempt: (report) => attempts.push(report),
});
const attemptsOf = (operation: string) => attempts.filter((one) => one.operation === operation);

// A receiver that keeps what is genuine, and is away when told so.
const received = new Map<string, WebhookEvent>();
let secret: readonly string[] = [];
let [away, forgeries] = [false, 0];
const receiver = createServer(
  { key: readFileSync(TLS_KEY), cert: readFileSync(TLS_CERT) },
  async (request, response) => {
    const webhook = { body: await buffer(request), headers: request.headers };
    if (away) return void response.writeHead(503).end();
    try {
      const event = verifyWebhook(webhook, { secret });
      verifyWebhook(webhook, { secret, scheme: 'standard' });
      received.set(event.event_id, event);
      response.writeHead(204).end();
    } catch (error) {
      if (!(error instanceof WebhookRejectedError)) throw error;
      forgeries += 1;
      response.writeHead(401).end();
    }
  },
);
await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
const url = `https://localhost:${(receiver.address() as AddressInfo).port}/hooks`;

const day = '2026-02-10';
const assignment = (code: string): LoanData => ({
  fund_id: FUND,
  originator_proposal_code: code,
  product_type: 'financing',
  acquisition_value: 1800,
  number_of_installments: 2,
  date_issued: '2026-01-15',
  borrower: {
    document_number: '52998224725',
    document_type: 'CPF',
    name: 'Maria da Silva',
    birth_date: '1990-05-20',
    address: {
      zip_code: '01310100',
      street: 'Avenida Paulista',
      number: '1000',
      city: 'Sao Paulo',
      state: 'SP',
    },
  },
  installments: [
    { code: '001', due_date: '2036-02-15', face_value: 950 },
    { code: '002', due_date: '2036-03-15', face_value: 950 },
  ],
  backing_documents: [{ type: 'ccb', value: 'ccb.pdf' }],
});
const PDF = '%PDF-1.4\n%%EOF\n';
const ccb = [{ name: 'ccb.pdf', content: PDF }];
const become = (code: string, status: Loan['status']) =>
  until(
    () => client.readLoan(code),
    (loan) => loan.status === status,
    { pauseMs: 100, signal: whole },
  );
const arrived = (...names: WebhookEvent['event'][]) =>
  until(
    async () => [...received.values()].map(({ event }) => event),
    (events) => names.every((name) => events.includes(name)),
    { pauseMs: 50, signal: whole },
  );

// Subscribed, assigned, quoted.
const webhook = await client.createWebhook({ url, events: ['*'] });
secret = [webhook.signing_secret];
const offer = await client.assignLoan({ ...assignment('LIFE-1'), dry_run: true });
const receipts = await Promise.all(
  ['LIFE-1', 'LIFE-2', 'LIFE-3'].map((code) => client.assignLoan(assignment(code), ccb)),
);
const held = await client.assignLoan(assignment('LIFE-4'), ccb, { sandbox: { outcome: 'hold' } });
for (const code of ['LIFE-1', 'LIFE-2', 'LIFE-3']) await become(code, 'active');
await arrived('loan_received', 'loan_approved', 'loan_term_signed', 'disbursement_completed');
const { documents } = await client.readLoan('LIFE-1');
const stored = new TextDecoder().decode(await client.readDocument('LIFE-1', documents[0]!.document_id));

// What waits for a decision gets one.
const decided = await client.decideInSandbox({
  originator_proposal_code: 'LIFE-4',
  decision: 'reject',
  reasons: [{ code: 'limit', message: 'The fund holds enough of it' }],
});

// One settlement, although its answer is lost. The key is made by the client.
const payment = { settled_at: day, settled_value: 950, payment_method: 'pix' as const };
const first = { originator_proposal_code: 'LIFE-1', installment_code: '001', ...payment };
const quoted = await client.settleInstallment({ ...first, dry_run: true });
const before = attemptsOf('settleInstallment').length;
const settled = await client.settleInstallment(first, { sandbox: { fail: 'cut-after' } });
const lost = attemptsOf('settleInstallment')
  .slice(before)
  // Its token may end in between.
  .filter(({ status }) => status !== 401)
  .map(({ status, replayed }) => [status ?? 'lost', replayed]);
const again = await client.settleInstallment(first);
await arrived('installment_settled');

// A refusal says what is wrong, and nothing is sent again.
const refusal = await client
  .settleInstallment({ ...first, settled_value: 949, idempotency_key: 'another' })
  .catch((error: unknown) => error);
const refused =
  refusal instanceof ApiError
    ? [refusal.status, refusal.error_code, refusal.idempotency_key, refusal.maybe_done]
    : [];

// The receiver goes away, and everything goes on without it.
const known = [...received.values()].find(({ event }) => event === 'installment_settled')!.event_id;
const since = new Date(Date.now() - 1_000).toISOString();
away = true;
const prepaid = await client.processPrepayment({
  ...{
    originator_proposal_code: 'LIFE-1',
    prepayment_value: 950,
    prepayment_date: day,
    payment_method: 'pix',
  },
});
const batch = await client.settleBatch({
  settlements: ['001', '009'].map((installment_code) => ({
    originator_proposal_code: 'LIFE-2',
    installment_code,
    ...payment,
  })),
});
const repurchase = await client.requestRepurchase({
  ...{ originator_proposal_code: 'LIFE-2', reason: 'repurchase', effective_date: day },
});
const replaced = await client.renegotiateLoansWithFiles(
  {
    original_proposal_codes: ['LIFE-3'],
    new_loan: {
      ...{ originator_proposal_code: 'LIFE-3-R', number_of_installments: 1, acquisition_value: 1700 },
      installments: [{ code: '001', due_date: '2036-06-15', face_value: 2100 }],
      backing_documents: [{ type: 'renegotiation_document', value: 'debt.pdf' }],
    },
    effective_date: day,
  },
  [{ name: 'debt.pdf', content: new Blob([PDF]) }],
  { sandbox: { fail: '503' } },
);
await become('LIFE-2', 'repurchased');
await become('LIFE-3-R', 'active');
for await (const { data } of client.followEvents(
  { after: known, event: ['renegotiation_completed'] },
  { pauseMs: 50 },
))
  if (data) break; // it is told a moment after the new operation is active

const signed = await client.addDocuments(
  {
    originator_proposal_code: 'LIFE-3-R',
    documents: [{ type: 'renegotiation_signature', value: 'signed.pdf' }],
  },
  [{ name: 'signed.pdf', content: new TextEncoder().encode(PDF) }],
);

// The feed tells what was missed, from the last event that came.
const missed: WebhookEvent[] = [];
for await (const event of client.allEvents({ after: known, limit: 3 })) missed.push(event);
// And so does a redelivery, once every attempt was in vain.
await until(
  async () => {
    const failed: string[] = [];
    for await (const { event_id } of client.allDeliveries(webhook.webhook_id, { status: 'failed', limit: 2 }))
      failed.push(event_id);
    return failed;
  },
  (failed) => missed.every(({ event_id }) => failed.includes(event_id)),
  { pauseMs: 200, signal: whole },
);
away = false;
const { redelivery_id } = await client.redeliverWebhook(webhook.webhook_id, { since });
const redelivered = await until(
  () => client.readRedelivery(webhook.webhook_id, redelivery_id),
  ({ status }) => status !== 'running',
  { pauseMs: 100, signal: whole },
);

// Its secret is replaced; what is sent once more is signed with the new one.
const { signing_secret } = await client.rotateWebhookSecret(webhook.webhook_id);
secret = [signing_secret, ...secret];
const paused = await client.pauseWebhook(webhook.webhook_id);
const resumed = await client.resumeWebhook(webhook.webhook_id);
received.delete(known);
await client.redeliverEvent(known);
const { event_id: pinged } = await client.pingWebhook(webhook.webhook_id);
await until(async () => received.has(known) && received.has(pinged), Boolean, { pauseMs: 50, signal: whole });
const report = await client.readEvent(known);
const changed = await client.updateWebhook(webhook.webhook_id, { events: ['loan_received'] });

// Whoever follows the feed sees the next event as it comes.
const following = client.followEvents({ after: missed.at(-1)!.event_id }, { pauseMs: 50 });
const next = following.next();
await client.assignLoan(assignment('LIFE-5'), ccb, { sandbox: { outcome: 'hold' } });
const followed = (await next).value?.event;
await following.return();

const rest = { ...first, installment_code: '002', settled_value: 1 };
const closed = await client
  .settleInstallment(rest)
  .catch((error: unknown) => (error instanceof ApiError ? error.error_code : String(error)));

const everything: WebhookEvent[] = [];
for await (const event of client.allEvents({}, { signal: whole })) everything.push(event);
const loans: string[] = [];
for await (const loan of client.allLoans({ limit: 2, status: ['settled', 'repurchased', 'renegotiated'] }))
  loans.push(loan.originator_proposal_code);
const clock = await client.moveSandboxClock({ advance: '1h' });
await client.deleteWebhook(webhook.webhook_id);
await new Promise((resolve) => receiver.close(resolve));

console.log(
  JSON.stringify({
    version: VERSION,
    statuses: [offer, ...receipts, held, decided, quoted, settled, again, prepaid, repurchase, replaced].map(
      ({ status }) => status,
    ),
    stored,
    lost,
    refused,
    settlements: everything.filter(
      (event) =>
        event.event === 'installment_settled' &&
        event.originator_proposal_code === 'LIFE-1' &&
        event.data.settled_value === 950,
    ).length,
    batch: batch.results.map(({ status }) => status),
    received_value: (await client.readLoan('LIFE-1')).balances.received_value,
    missed: missed.map(({ event }) => event).sort(),
    recovered: missed.every(({ event_id }) => received.has(event_id)),
    redelivered: [redelivered.status, redelivered.queued - redelivered.delivered],
    signed: signed.documents.map(({ type, size }) => [type, size]),
    followed,
    managed: [paused.status, resumed.status, ...changed.events],
    report: [(JSON.parse(report.body) as WebhookEvent).event_id === known, report.deliveries.length],
    closed,
    loans: loans.sort(),
    clock: clock.offset_seconds,
    forgeries,
    renewed: attemptsOf('issueToken').length > 1,
    subscriptions: (await client.listWebhooks()).data.length,
  }),
);
