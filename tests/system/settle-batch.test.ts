import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { loanStream } from '../../application/command-handling/operation.ts';
import { ApiClient, loanRequest, multipart, smallPdf } from '../support/api-client.ts';
import { RunningService } from '../support/running-service.ts';
import type { ClientCredentials } from '../support/service-process.ts';

type Json = ReturnType<typeof JSON.parse>;

const FUND = randomUUID();
const BATCH = '/installment/settle/batch';
const INSTALLMENTS = ['001', '002', '003'];
/** Active ones, new in each round, and such as nothing changes any more: one that waits for the administrator, one that was repurchased. */
const [ACTIVE, UNCHANGING] = [
  ['A', 'B'],
  ['HELD', 'PENDING'],
];

interface Party {
  readonly api: ApiClient;
  readonly credentials: ClientCredentials;
}

let service: RunningService;
let together: Party;
let oneByOne: Party;

beforeAll(async () => {
  service = await RunningService.start({ SANDBOX_REPURCHASE_STEP: '1h' });
  const party = async (): Promise<Party> => {
    const credentials = await service.createClient(FUND);
    return { credentials, api: new ApiClient(service.baseUrl, credentials) };
  };
  [together, oneByOne] = [await party(), await party()];
  await Promise.all([prepareUnchanging(together), prepareUnchanging(oneByOne)]);
}, 60_000);
afterAll(() => service.stop());

/** Nothing falls due meanwhile. */
const lasting = (code: string): object =>
  loanRequest(FUND, code, INSTALLMENTS.length, {
    installments: INSTALLMENTS.map((one) => ({ code: one, due_date: '2099-01-15', face_value: 950 })),
  });

const prepareUnchanging = async ({ api }: Party): Promise<void> => {
  const form = multipart('loan_data', lasting('HELD'), [{ name: 'ccb.pdf', content: smallPdf() }]);
  expect((await api.call('POST', '/loan', form, { 'X-Sandbox-Outcome': 'hold' })).status).toBe(201);
  await api.assign(lasting('PENDING'));
  await api.untilStatus('PENDING', 'active');
  const repurchase = {
    originator_proposal_code: 'PENDING',
    reason: 'repurchase',
    effective_date: '2026-06-15',
    idempotency_key: 'repurchase',
  };
  expect((await api.call('POST', '/loan/repurchase', repurchase)).status).toBe(200);
  await api.untilStatus('PENDING', 'repurchased');
};

const prepare = async ({ api }: Party, round: string): Promise<void> => {
  for (const name of ACTIVE) await api.assign(lasting(`${round}-${name}`));
  for (const name of ACTIVE) await api.untilStatus(`${round}-${name}`, 'active');
};

const settlementOf = (round: string, { name, part, value, at, key }: Json): object => ({
  originator_proposal_code: UNCHANGING.includes(name) ? name : `${round}-${name}`,
  installment_code: part,
  settled_at: at,
  settled_value: value,
  payment_method: 'pix',
  idempotency_key: `${round}-${key}`,
});

/** Often of an operation and a key that other lines have too. */
const lines = fc.array(
  fc.oneof(
    {
      weight: 9,
      arbitrary: fc.record({
        name: fc.constantFrom('A', 'A', 'B', 'B', 'HELD', 'PENDING', 'NEVER'),
        part: fc.constantFrom(...INSTALLMENTS, '004'),
        value: fc.constantFrom(950, 950, 900, 1_000.5, 950.005, '950.00'),
        at: fc.constantFrom('2026-02-15', '2026-02-15', '2026-01-01', '2026-02-30'),
        key: fc.constantFrom('k1', 'k2', 'k3', 'k4', 'k5', 'k6'),
      }),
    },
    { weight: 1, arbitrary: fc.constantFrom<Json>(null, 7, [], {}, { settledValue: 950 }) },
  ),
  { minLength: 1, maxLength: 12 },
);

const INSTANT = /"\d{4}-\d{2}-\d{2}T[\d:.]+Z"/g;
const UUIDS = /"[0-9a-f]{8}-[0-9a-f-]{27}"/g;
/** Without what no two requests have in common. */
const common = (value: unknown): Json =>
  JSON.parse(JSON.stringify(value).replaceAll(INSTANT, '"then"').replaceAll(UUIDS, '"id"'));

const eventsOf = async ({ credentials }: Party, code: string): Promise<Json> => {
  const { eventStore } = service.service.parts;
  const { events } = await eventStore.read(loanStream(credentials.application_id, code));
  const told = events.map(({ type, data, metadata: { idempotency, actor } }) => ({
    type,
    data: JSON.parse(data),
    idempotency,
    byItsClient: actor === credentials.client_id,
  }));
  return common(told.filter(({ type }) => type.startsWith('loan.installment_') || type.includes('settled')));
};

let rounds = 0;

describe('a batch of settlements', () => {
  test('answers and stores what the same settlements do one by one, again as a repetition', async () => {
    await fc.assert(
      fc.asyncProperty(lines, async (drawn) => {
        const round = `R${(rounds += 1)}`;
        await Promise.all([prepare(together, round), prepare(oneByOne, round)]);
        const settlements = drawn.map((one: Json) => (one?.name ? settlementOf(round, one) : one));
        for (let time = 0; time < 2; time += 1) {
          const { status, body } = await together.api.call('POST', BATCH, { settlements });
          const alone = [];
          for (const [i, settlement] of settlements.entries()) {
            const answer = await sendAlone(settlement);
            alone.push({ line: i + 1, ...answer });
          }
          expect([status, common(body)]).toEqual([200, common({ results: alone })]);
        }
        for (const code of [...ACTIVE.map((name) => `${round}-${name}`), ...UNCHANGING]) {
          expect(await eventsOf(together, code)).toEqual(await eventsOf(oneByOne, code));
          const [here, there] = [await together.api.loan(code), await oneByOne.api.loan(code)];
          expect(common({ ...here.body, documents: [] })).toEqual(common({ ...there.body, documents: [] }));
        }
      }),
      { numRuns: 6 },
    );
  }, 120_000);

  const sendAlone = async (settlement: Json): Promise<object> => {
    const response = await fetch(`${service.baseUrl}/installment/settle`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${await oneByOne.api.token()}`,
        'content-type': 'application/json',
      },
      body: JSON.stringify(settlement),
    });
    const replayed = response.headers.get('idempotent-replayed') === 'true';
    return { status: response.status, replayed, body: await response.json() };
  };

  test('shares its keys with settlements that come alone, both ways', async () => {
    const { api } = together;
    await prepare(together, 'KEYS');
    const of = (part: string, value = 950): Json =>
      settlementOf('KEYS', { name: 'A', part, value, at: '2026-02-15', key: part });
    expect((await api.call('POST', '/installment/settle', of('001'))).status).toBe(200);
    const { body } = await api.call('POST', BATCH, { settlements: [of('001'), of('002'), of('001', 900)] });
    expect(body.results).toMatchObject([
      { status: 200, replayed: true },
      { status: 200, replayed: false },
      { status: 409, body: { error_code: 'idempotency_conflict' } },
    ]);
    const alone = await api.call('POST', '/installment/settle', of('002'));
    expect([alone.status, alone.headers.get('idempotent-replayed'), alone.body]).toEqual([
      200,
      'true',
      body.results[1].body,
    ]);
  });

  test('ends an operation with the line that pays its last installment; what follows finds it ended', async () => {
    await prepare(together, 'END');
    const settlements = [...INSTALLMENTS, '001'].map((part, i) =>
      settlementOf('END', { name: 'A', part, value: 950, at: '2026-02-15', key: `k${i}` }),
    );
    const { body } = await together.api.call('POST', BATCH, { settlements });
    expect(body.results).toMatchObject([
      ...INSTALLMENTS.map((installment_code) => ({ status: 200, body: { installment_code } })),
      { status: 422, body: { error_code: 'operation_invalid_state' } },
    ]);
    expect((await together.api.loan('END-A')).body.status).toBe('settled');
  });
});
