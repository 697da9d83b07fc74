import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { ApiClient, loanRequest } from '../support/api-client.ts';
import type { ApiResponse } from '../support/api-client.ts';
import { ServiceProcess } from '../support/service-process.ts';
import { trustedReceiver } from '../support/trusted-receiver.ts';
import type { TrustedReceiver } from '../support/trusted-receiver.ts';

/** Over HTTP; the same thing without HTTP goes through many more rounds in tests/application/loans. */
const ROUNDS = Number(process.env['FIRE_ROUNDS'] ?? 40);
const AT_ONCE = 4;
const CESSION = ['loan_received', 'loan_approved', 'loan_term_signed', 'disbursement_completed'];

let service: ServiceProcess;
let trusted: TrustedReceiver;
let api: ApiClient;

beforeAll(async () => {
  trusted = await trustedReceiver();
  service = await ServiceProcess.alone({ SANDBOX_STEP: '5ms', ...trusted.settings });
  api = new ApiClient(service.baseUrl, await service.createClient(randomUUID()));
  expect((await api.call('POST', '/webhook', { url: trusted.receiver.url, events: ['*'] })).status).toBe(200);
}, 300_000);
afterAll(async () => {
  await service?.leave();
  await trusted?.close();
});

const inCents = (amount: number): number => Math.round(amount * 100);

interface Shot {
  readonly kind: 'settle' | 'prepay' | 'repurchase' | 'renegotiate';
  readonly answer: ApiResponse;
}

interface Shooting {
  readonly kind: Shot['kind'];
  readonly send: () => Promise<ApiResponse>;
}

const fire = async (code: string, seed: number): Promise<readonly Shot[]> => {
  const settle = (n: number) => api.settle(code, `00${n}`, 900 + ((seed * 37 + n * 13) % 100));
  const prepay = (n: number, value: number) =>
    api.call('POST', '/installment/prepayment', {
      originator_proposal_code: code,
      prepayment_value: value,
      prepayment_date: '2026-06-20',
      payment_method: 'pix',
      idempotency_key: `${code}-prepay-${n}`,
    });
  const repurchase = (reason: string) =>
    api.call('POST', '/loan/repurchase', {
      originator_proposal_code: code,
      reason,
      effective_date: '2026-06-20',
      idempotency_key: `${code}-${reason}`,
    });
  const renegotiate = () =>
    api.call('PATCH', '/loan/renegotiate', {
      original_proposal_code: code,
      effective_date: '2026-06-20',
      new_proposal: {
        originator_proposal_code: `${code}-new`,
        number_of_installments: 1,
        acquisition_value: 3000,
        installments: [{ code: '1', due_date: '2099-08-20', face_value: 3100 }],
      },
    });
  const payments: readonly Shooting[] = [
    { kind: 'settle', send: () => settle(1) },
    { kind: 'settle', send: () => settle(2) },
    { kind: 'prepay', send: () => prepay(1, 700 + (seed % 7) * 10) },
    { kind: 'settle', send: () => settle(3) },
    { kind: 'settle', send: () => settle(4) },
    { kind: 'prepay', send: () => prepay(1, 700 + (seed % 7) * 10) },
  ];
  const endings: readonly Shooting[] = [
    { kind: 'repurchase', send: () => repurchase('repurchase') },
    { kind: 'prepay', send: () => prepay(2, 6_000) },
    { kind: 'repurchase', send: () => repurchase('resolution') },
  ];
  const shoot = async ({ kind, send }: Shooting): Promise<Shot> => ({ kind, answer: await send() });
  // A renegotiation takes several appends where the others take one: among them it wins only in rounds where they wait for it.
  const last = shoot({ kind: 'renegotiate', send: renegotiate });
  if (seed % 5 === 0) {
    const others = payments.map(shoot);
    await last;
    return Promise.all([last, ...others, ...endings.map(shoot)]);
  }
  // Another one goes first in every round.
  const all = [...payments, ...endings];
  const turned = [...all.slice(seed % all.length), ...all.slice(0, seed % all.length)];
  return Promise.all([last, ...turned.map(shoot)]);
};

const round = async (seed: number): Promise<string> => {
  const code = `F-${seed}`;
  expect((await api.assign(loanRequest(api.fund, code, 5))).status).toBe(201);
  await api.untilStatus(code, 'active');
  const shots = await fire(code, seed);
  expect(shots.filter(({ answer }) => ![200, 409, 422].includes(answer.status))).toEqual([]);
  const executed = (kind: Shot['kind']) =>
    shots
      .filter(({ kind: k, answer }) => k === kind && answer.status === 200)
      .filter(({ answer }) => !answer.headers.has('idempotent-replayed'))
      .map(({ answer }) => answer.body);
  const [settled, prepaid, repurchased] = [executed('settle'), executed('prepay'), executed('repurchase')];
  const renegotiated = executed('renegotiate').length;

  const exit = renegotiated ? 'renegotiation' : String(repurchased[0]?.reason);
  const end = { repurchase: 'repurchased', resolution: 'resolved', renegotiation: 'renegotiated' }[exit];
  const { body: loan } = end ? await api.untilStatus(code, end) : await api.readable(code);
  expect(repurchased.length + renegotiated).toBeLessThanOrEqual(1);
  expect((await api.readable(`${code}-new`)).status).toBe(renegotiated ? 200 : 404);
  const paid = settled.reduce((sum, { settled_value: value }) => sum + inCents(value), 0);
  const advanced = prepaid.reduce(
    (sum, { prepayment_value: value, excess_value: excess }) => sum + inCents(value) - inCents(excess),
    0,
  );
  expect(inCents(loan.balances.received_value)).toBe(paid + advanced);

  const closed =
    prepaid.flatMap(({ settled_installments: codes }) => codes as string[]).length + settled.length;
  const fullySettled = closed === 5 ? 1 : 0;
  expect(loan.status).toBe(end ?? (fullySettled ? 'settled' : 'active'));
  const named = (names: readonly string[], name: string) => names.filter((one) => one === name).length;
  const expected =
    CESSION.length + settled.length + prepaid.length + fullySettled + 2 * repurchased.length + renegotiated;
  const { receiver } = trusted;
  const events = () => receiver.eventsOf(code).filter((name) => name !== 'installment_underpaid');
  await receiver.until(
    () => events().length >= expected,
    `${expected} events of ${code}, ${events().join()}`,
  );
  expect([
    events().slice(0, 4),
    named(events(), 'installment_settled'),
    named(events(), 'installment_prepaid'),
    named(events(), 'loan_fully_settled'),
    named(events(), 'renegotiation_completed'),
    events()
      .slice(4)
      .findIndex((name) => name.startsWith('repurchase')) < 0
      ? []
      : events().slice(-2),
  ]).toEqual([
    CESSION,
    settled.length,
    prepaid.length,
    fullySettled,
    renegotiated,
    repurchased.length > 0 ? ['repurchase_received', 'repurchase_completed'] : [],
  ]);
  return String(loan.status);
};

test(
  'whatever is fired at one operation at once, answers, books and webhooks tell one story',
  async () => {
    const ends = new Set<string>();
    for (let seed = 0; seed < ROUNDS; seed += AT_ONCE) {
      const seeds = Array.from({ length: Math.min(AT_ONCE, ROUNDS - seed) }, (_, i) => seed + i);
      for (const end of await Promise.all(seeds.map(round))) ends.add(end);
    }
    expect([...ends]).toEqual(expect.arrayContaining(['settled', 'repurchased', 'resolved', 'renegotiated']));
  },
  300_000 + ROUNDS * 10_000,
);
