import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import { loanStream } from '../../application/command-handling/operation.ts';
import { ApiClient, assignmentForm, loanRequest } from '../support/api-client.ts';
import type { ClientCredentials } from '../support/api-client.ts';
import { commandLineBeside } from '../support/command-line-beside.ts';
import { Renegotiator } from '../support/renegotiator.ts';
import { RunningService } from '../support/running-service.ts';
import { within } from '../support/within.ts';

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
  service = await RunningService.start({ SANDBOX_STEP: '1ms', SANDBOX_REPURCHASE_STEP: '1h' });
  const party = async (): Promise<Party> => {
    const credentials = await service.createClient(FUND);
    return { credentials, api: new ApiClient(service.baseUrl, credentials) };
  };
  [together, oneByOne] = [await party(), await party()];
  await Promise.all([prepareUnchanging(together), prepareUnchanging(oneByOne)]);
});
afterAll(() => service.stop());

/** Nothing falls due meanwhile. */
const lasting = (code: string): object =>
  loanRequest(FUND, code, INSTALLMENTS.length, {
    installments: INSTALLMENTS.map((one) => ({ code: one, due_date: '2099-01-15', face_value: 950 })),
  });

const prepareUnchanging = async ({ api }: Party): Promise<void> => {
  const form = assignmentForm(lasting('HELD'));
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
  });

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

describe('renegotiations', () => {
  let api: ApiClient;
  let client: Renegotiator;

  beforeAll(async () => {
    api = await service.client();
    client = new Renegotiator(api);
  });

  describe('a renegotiation through HTTP', () => {
    test('inherits the documents, pays nothing twice, and ends with every original told', async () => {
      await client.activate('one-A');
      expect((await api.settle('one-A', '001', 950)).status).toBe(200);
      const answer = await client.replace('one-A', 'one-N');
      expect([answer.status, answer.body.new_proposal]).toEqual([
        200,
        { originator_proposal_code: 'one-N', status: 'received' },
      ]);
      expect((await api.settle('one-A', '002', 950)).body.error_code).toBe('operation_invalid_state');
      const next = (await api.untilStatus('one-N', 'active')).body;
      const original = (await api.loan('one-A')).body;
      expect(next).toMatchObject({ date_issued: '2026-06-20', borrower: { name: 'Joana Prado' } });
      expect(next.documents.map(({ type, sha256 }: never) => [type, sha256])).toEqual(
        original.documents.map(({ type, sha256 }: never) => [type, sha256]),
      );
      expect(original).toMatchObject({
        status: 'renegotiated',
        balances: { received_value: 950, open_face_value: 0 },
      });
      const again = await client.replace('one-A', 'one-N');
      expect([
        again.status,
        again.headers.get('idempotent-replayed'),
        again.body.new_proposal.status,
      ]).toEqual([200, 'true', 'active']);
    });

    test('tried out first, as JSON and as a form, changes nothing, sends nothing and uses up no key', async () => {
      await client.activate('dry-A', 'dry-B');
      const told = async () =>
        [await client.api.loan('dry-A'), await client.api.loan('dry-B')].map(({ body }) => body);
      // The scheduler marks what is past due by itself, and not while the answers are compared.
      await within('what is past due is marked', 60_000, async () =>
        (await told()).every(({ installments }) =>
          installments.every(({ status }: { status: string }) => status === 'overdue'),
        ),
      );
      const before = await told();
      const one = await client.replace('dry-A', 'dry-N', { dry_run: true });
      const both = await client.replaceAll(['dry-A', 'dry-B'], 'dry-N', { dry_run: true });
      for (const [answer, lines] of [
        [one, 3],
        [both, 6],
      ] as const) {
        expect([answer.status, answer.body.status, answer.body.lines.length]).toEqual([200, 'quoted', lines]);
        expect(answer.headers.get('idempotent-replayed')).toBeNull();
      }
      const settled = await api.call('POST', '/installment/settle', {
        originator_proposal_code: 'dry-A',
        installment_code: '001',
        settled_at: '2026-06-20',
        settled_value: 1,
        payment_method: 'pix',
        idempotency_key: 'dry',
        dry_run: true,
      });
      expect([settled.status, settled.body.status, settled.body.lines]).toMatchObject([
        200,
        'quoted',
        [{ settled_value: 1 }],
      ]);
      expect(await told()).toEqual(before);
      expect((await api.loan('dry-N')).status).toBe(404);
      expect((await client.replace('dry-A', 'dry-N')).headers.get('idempotent-replayed')).toBeNull();
      expect((await client.replace('dry-A', 'dry-N', { dry_run: true })).status).toBe(422);
    });

    test('is one for several originals: identical ones at once execute once, another one conflicts', async () => {
      await client.activate('several-A', 'several-B', 'several-C');
      const all = await Promise.all([
        client.replaceAll(['several-A', 'several-B'], 'several-N'),
        client.replaceAll(['several-B', 'several-A'], 'several-N'),
        client.replaceAll(['several-A', 'several-B'], 'several-N'),
      ]);
      expect(all.map(({ status }) => status)).toEqual([200, 200, 200]);
      expect(all.filter(({ headers }) => !headers.has('idempotent-replayed'))).toHaveLength(1);
      const other = await client.replaceAll(['several-B', 'several-C'], 'several-M');
      expect([other.status, other.body.error_code]).toEqual([409, 'idempotency_conflict']);
      expect(
        await Promise.all(
          ['several-A', 'several-B', 'several-C', 'several-N', 'several-M'].map((code) =>
            client.statusOf(code),
          ),
        ),
      ).toEqual([...['renegotiated', 'renegotiated', 'active'], expect.not.stringMatching('none'), 'none']);
    });

    test('that is refused changes nothing and leaves the code free', async () => {
      await client.activate('refused-A');
      for (const [answer, status, code] of [
        [await client.replace('refused-A', 'refused-A'), 400, 'validation_error'],
        [await client.replace('refused-X', 'refused-N'), 404, 'loan_not_found'],
        [await client.replaceAll(['refused-A', 'refused-X'], 'refused-N'), 404, 'loan_not_found'],
        [
          await client.replaceAll(['refused-A'], 'refused-N', { effective_date: '2026-01-14' }),
          400,
          'invalid_date',
        ],
      ] as const) {
        expect([answer.status, answer.body.error_code]).toEqual([status, code]);
      }
      expect([await client.statusOf('refused-A'), await client.statusOf('refused-N')]).toEqual([
        'active',
        'none',
      ]);
      expect((await client.replace('refused-A', 'refused-N')).status).toBe(200);
      const used = await client.replace('refused-A', 'refused-A2');
      expect(used.body.error_code).toBe('idempotency_conflict');
    });
  });

  test('no reader sees a half', async () => {
    for (let round = 0; round < 4; round++) {
      const originals = [`A${round}`, `B${round}`];
      await client.activate(...originals);
      const watchers = [0, 1, 2].map(() => client.watch(originals, `N${round}`));
      expect((await client.replaceAll(originals, `N${round}`)).status).toBe(200);
      for (const watcher of watchers) await watcher.stop();
      expect(watchers.flatMap(({ halves }) => halves)).toEqual([]);
    }
  });

  test('read models that are built anew from the log tell of every renegotiation as those that served', async () => {
    const { code, out } = await commandLineBeside({
      DATA_DIR: service.service.parts.configuration.dataDir,
    })('projections', 'rebuild');
    expect(code).toBe(0);
    expect(JSON.parse(out)).toMatchObject({ generation: 2, outcome: 'switched', differences: 0 });
    expect((await api.loan('one-A')).body.status).toBe('renegotiated');
  });
});
