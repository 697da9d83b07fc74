import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { ApiClient } from '../support/api-client.ts';
import { commandLineBeside } from '../support/command-line-beside.ts';
import { Renegotiator } from '../support/renegotiator.ts';
import { RunningService } from '../support/running-service.ts';
import { within } from '../support/within.ts';

let service: RunningService;
let api: ApiClient;
let client: Renegotiator;

beforeAll(async () => {
  service = await RunningService.start({ SANDBOX_STEP: '1ms' });
  api = await service.client(randomUUID());
  client = new Renegotiator(api);
}, 40_000);
afterAll(() => service?.stop());

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
    expect([again.status, again.headers.get('idempotent-replayed'), again.body.new_proposal.status]).toEqual([
      200,
      'true',
      'active',
    ]);
  });

  test('tried out first, as JSON and as a form, changes nothing, sends nothing and uses up no key', async () => {
    await client.activate('dry-A', 'dry-B');
    const told = async () =>
      [await client.api.loan('dry-A'), await client.api.loan('dry-B')].map(({ body }) => body);
    // The scheduler marks what is past due by itself, and not while the answers are compared.
    await within('what is past due is marked', 30_000, async () =>
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
}, 60_000);

test('read models that are built anew from the log tell of every renegotiation as those that served', async () => {
  const { code, out } = await commandLineBeside({
    DATA_DIR: service.service.parts.configuration.dataDir,
  })('projections', 'rebuild');
  expect(code).toBe(0);
  expect(JSON.parse(out)).toMatchObject({ generation: 2, outcome: 'switched', differences: 0 });
  expect((await api.loan('one-A')).body.status).toBe('renegotiated');
});
