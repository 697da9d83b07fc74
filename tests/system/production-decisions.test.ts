import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { loanRequest } from '../support/api-client.ts';
import type { ApiClient } from '../support/api-client.ts';
import { commandLine } from '../support/command-line.ts';
import type { CommandResult } from '../support/command-line.ts';
import { RunningService } from '../support/running-service.ts';
import { within } from '../support/within.ts';

/** Days in the past throughout: production takes no payment from the future, whatever today is. */
const VALUE = 2500;

let service: RunningService;
let api: ApiClient;
let receivables: ReturnType<typeof commandLine>;

beforeAll(async () => {
  service = await RunningService.start({
    ENVIRONMENT: 'production',
    MASTER_KEY: randomBytes(32).toString('base64'),
  });
  api = await service.client();
  const { administrator, publication, loans } = service.service.parts;
  receivables = commandLine(() => ({ administrator, publication, loans }));
});
afterAll(() => service?.stop());

const statusOf = async (code: string): Promise<string> => (await api.loan(code)).body.status;
const assign = async (code: string): Promise<void> => {
  expect((await api.assign(loanRequest(api.fund, code, 3, { date_issued: '2024-01-15' }))).status).toBe(201);
};
const decide = (decision: string, code: string, ...options: readonly string[]): Promise<CommandResult> =>
  receivables('administrator', decision, code, ...options);
const disburse = (code: string): Promise<CommandResult> =>
  decide('disburse', code, '--date', '2024-01-16', '--value', `${VALUE}.00`);

/** The way of an operation that nothing goes wrong with; each step is read back. */
const activate = async (code: string): Promise<void> => {
  for (const [step, status] of [
    [() => decide('approve', code), 'approved'],
    [() => decide('sign', code), 'term_signed'],
    [() => disburse(code), 'active'],
  ] as const) {
    const { code: exit, lines } = await step();
    expect([exit, lines[0].outcome, lines[0].status]).toEqual([0, 'applied', status]);
    expect(await statusOf(code)).toBe(status);
  }
};
const repurchase = (code: string, reason: string, more: object = {}) =>
  api.call('POST', '/loan/repurchase', {
    originator_proposal_code: code,
    reason,
    effective_date: '2024-06-20',
    idempotency_key: `${code}-${reason}`,
    ...more,
  });
const namesOf = async (code: string): Promise<string[]> =>
  (await receivables('events', '--code', code)).lines.map(({ event }) => event);

const CESSION = ['loan_received', 'loan_approved', 'loan_term_signed', 'disbursement_completed'];

describe('in production', () => {
  beforeAll(() => assign('waiting'));

  test('an operation lives by decisions from its reception to its last installment', async () => {
    await assign('paid');
    await activate('paid');
    for (const installment of ['001', '002', '003']) {
      expect((await api.settle('paid', installment, 950, { settled_at: '2024-06-15' })).status).toBe(200);
    }
    expect(await statusOf('paid')).toBe('settled');
    expect(await namesOf('paid')).toEqual([
      ...CESSION,
      ...['installment_settled', 'installment_settled', 'installment_settled', 'loan_fully_settled'],
    ]);
    const [disbursed] = (await receivables('events', '--code', 'paid', '--name', 'disbursement_completed'))
      .lines;
    expect(disbursed.data).toMatchObject({ disbursed_value: VALUE, disbursement_date: '2024-01-16' });
  });

  test('past due dates show soon after the disbursement', async () => {
    await assign('late');
    await activate('late');
    const first = async () => (await api.loan('late')).body.installments[0].status;
    await within('what is past due is marked', 60_000, async () => (await first()) === 'overdue');
  });

  test('a prepayment ends one, too', async () => {
    await assign('prepaid');
    await activate('prepaid');
    const answer = await api.call('POST', '/installment/prepayment', {
      originator_proposal_code: 'prepaid',
      prepayment_value: 5000,
      prepayment_date: '2024-03-01',
      payment_method: 'pix',
      idempotency_key: 'prepaid-1',
    });
    expect([answer.status, await statusOf('prepaid')]).toEqual([200, 'settled']);
    expect(await namesOf('prepaid')).toEqual([...CESSION, 'installment_prepaid', 'loan_fully_settled']);
  });

  test('a rejection is final and says why', async () => {
    await assign('rejected');
    const reason = 'concentration_limit: too much of one borrower';
    expect((await decide('reject', 'rejected', '--reason', reason)).code).toBe(0);
    const { body } = await api.loan('rejected');
    expect([body.status, body.rejection_reasons]).toEqual([
      'rejected',
      [{ code: 'concentration_limit', message: 'too much of one borrower' }],
    ]);
    const again = await decide('approve', 'rejected');
    expect([again.code, again.out]).toEqual([3, '']);
    expect(again.err).toMatch(/operation_invalid_state.*is rejected/);
    expect(await namesOf('rejected')).toEqual(['loan_received', 'loan_rejected']);
  });

  test.each([
    ['repurchase', 'repurchased', expect.any(Number)],
    ['integrated_repurchase', 'repurchased', expect.any(Number)],
    ['cession_reversal', 'reversed', VALUE],
    ['resolution', 'resolved', VALUE],
  ])('a %s stays pending until the administrator has processed it', async (reason, end, value) => {
    await assign(reason);
    await activate(reason);
    const { status, body } = await repurchase(reason, reason);
    expect([status, body.repurchase_value]).toEqual([200, value]);
    expect(await statusOf(reason)).toBe('repurchase_pending');
    expect((await decide('process-repurchase', reason)).lines[0]).toMatchObject({
      outcome: 'applied',
      status: end,
    });
    expect(await statusOf(reason)).toBe(end);
    expect(await namesOf(reason)).toEqual([...CESSION, 'repurchase_received', 'repurchase_completed']);
  });

  test('an operation born from a renegotiation waits for decisions, but not for a rejection', async () => {
    await assign('old');
    await activate('old');
    const answer = await api.call('PATCH', '/loan/renegotiate', {
      original_proposal_code: 'old',
      effective_date: '2024-06-20',
      new_proposal: {
        originator_proposal_code: 'new',
        number_of_installments: 1,
        acquisition_value: 2600,
        installments: [{ code: '1', due_date: '2099-08-20', face_value: 2800 }],
      },
    });
    expect([answer.status, await statusOf('old'), await statusOf('new')]).toEqual([
      200,
      'renegotiated',
      'received',
    ]);
    const rejection = await decide('reject', 'new', '--reason', 'regret: we would rather not');
    expect([rejection.code, rejection.err]).toEqual([3, expect.stringContaining('renegotiation')]);
    expect(await statusOf('new')).toBe('received');
    for (const step of [() => decide('approve', 'new'), () => decide('sign', 'new')]) await step();
    expect((await decide('disburse', 'new', '--date', '2024-06-20', '--value', '2590')).code).toBe(0);
    expect(await statusOf('new')).toBe('active');
    expect((await repurchase('new', 'cession_reversal', { dry_run: true })).body).toMatchObject({
      ...{ acquisition_value: 2600, disbursed_value: 2590, exit_basis: 'disbursed_value' },
      repurchase_value: 2590,
    });
    await within('the renegotiation is completed', 60_000, async () =>
      (await namesOf('old')).includes('renegotiation_completed'),
    );
  });

  test('decisions can be given again, and contradictions are seen', async () => {
    await assign('twice');
    const id = ['--id', 'D-twice'];
    expect((await decide('approve', 'twice', ...id)).lines[0].outcome).toBe('applied');
    expect((await decide('approve', 'twice', ...id)).lines[0].outcome).toBe('already_applied');
    expect((await decide('approve', 'twice')).lines[0].outcome).toBe('already_applied');
    for (const contradiction of [
      await decide('sign', 'twice', ...id),
      await decide('approve', 'waiting', ...id),
    ]) {
      expect([contradiction.code, contradiction.err]).toEqual([
        3,
        expect.stringContaining('idempotency_conflict'),
      ]);
    }
    await decide('sign', 'twice');
    expect((await disburse('twice')).code).toBe(0);
    expect((await disburse('twice')).lines[0].outcome).toBe('already_applied');
    const other = await decide('disburse', 'twice', '--date', '2024-01-16', '--value', '1.00');
    expect([other.code, other.err]).toEqual([3, expect.stringContaining('2500.00 was disbursed')]);
  });

  test('nothing has moved by itself', async () => {
    expect(await statusOf('waiting')).toBe('received');
    expect(await namesOf('waiting')).toEqual(['loan_received']);
  });

  test('the audit trail names the decision behind every step', async () => {
    const { body } = await api.loan('paid');
    expect(body.status_history.map(({ status }: { status: string }) => status)).toEqual([
      ...['received', 'approved', 'term_signed', 'active', 'settled'],
    ]);
    const { eventStore: store } = service.service.parts;
    const [first] = (await receivables('events', '--code', 'paid')).lines;
    const { events } = await store.read(`loan-${first.application_id}.paid`);
    const decided = events.filter(({ metadata }) => metadata.actor.startsWith('administrator'));
    expect(decided).toHaveLength(3);
    for (const { metadata, data } of decided) {
      expect(metadata.idempotency).toMatchObject({
        endpoint: 'administrator decision',
        key: metadata.correlationId,
      });
      expect(JSON.parse(data).decision.decided_at).toMatch(/Z$/);
    }
  });
});
