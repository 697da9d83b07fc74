import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { ApiClient, loanRequest, multipart, smallPdf } from '../support/api-client.ts';
import type { ApiResponse } from '../support/api-client.ts';
import { ServiceProcess } from '../support/service-process.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

const PAIRS = 6;

let directory: Awaited<ReturnType<typeof temporaryDirectory>>;
let service: ServiceProcess;
let api: ApiClient;

beforeAll(async () => {
  directory = await temporaryDirectory();
  service = await ServiceProcess.start(directory.path, { SANDBOX_STEP: '1ms' });
  api = new ApiClient(service.baseUrl, await service.createClient(randomUUID()));
}, 40_000);
afterAll(async () => {
  await service?.end('SIGTERM');
  await directory?.remove();
});

const activate = async (...codes: readonly string[]): Promise<void> => {
  for (const code of codes) expect((await api.assign(loanRequest(api.fund, code, 3))).status).toBe(201);
  for (const code of codes) await api.untilStatus(code, 'active');
};
const proposal = (code: string) => ({
  originator_proposal_code: code,
  number_of_installments: 1,
  acquisition_value: 4000,
  installments: [{ code: '1', due_date: '2099-08-20', face_value: 4200 }],
});
const replacing = (original: string, code: string): Promise<ApiResponse> =>
  api.call('PATCH', '/loan/renegotiate', {
    original_proposal_code: original,
    effective_date: '2026-06-20',
    new_proposal: proposal(code),
  });
const replacingAll = (originals: readonly string[], code: string, effective_date = '2026-06-20') => {
  const backing_documents = [{ type: 'renegotiation_document', value: 'debt.pdf' }];
  const new_loan = { ...proposal(code), backing_documents };
  const data = { original_proposal_codes: originals, effective_date, new_loan };
  const files = [{ name: 'debt.pdf', content: smallPdf('debt') }];
  return api.call('PATCH', '/loan/renegotiate', multipart('renegotiation_data', data, files));
};
const statusOf = async (code: string): Promise<string> => {
  const { status, body } = await api.loan(code);
  return status === 404 ? 'none' : body.status;
};

describe('a renegotiation through HTTP', () => {
  test('inherits the documents, pays nothing twice, and ends with every original told', async () => {
    await activate('one-A');
    expect((await api.settle('one-A', '001', 950)).status).toBe(200);
    const answer = await replacing('one-A', 'one-N');
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
    const again = await replacing('one-A', 'one-N');
    expect([again.status, again.headers.get('idempotent-replayed'), again.body.new_proposal.status]).toEqual([
      200,
      'true',
      'active',
    ]);
  });

  test('is one for several originals: identical ones at once execute once, another one conflicts', async () => {
    await activate('several-A', 'several-B', 'several-C');
    const all = await Promise.all([
      replacingAll(['several-A', 'several-B'], 'several-N'),
      replacingAll(['several-B', 'several-A'], 'several-N'),
      replacingAll(['several-A', 'several-B'], 'several-N'),
    ]);
    expect(all.map(({ status }) => status)).toEqual([200, 200, 200]);
    expect(all.filter(({ headers }) => !headers.has('idempotent-replayed'))).toHaveLength(1);
    const other = await replacingAll(['several-B', 'several-C'], 'several-M');
    expect([other.status, other.body.error_code]).toEqual([409, 'idempotency_conflict']);
    expect(
      await Promise.all(['several-A', 'several-B', 'several-C', 'several-N', 'several-M'].map(statusOf)),
    ).toEqual([...['renegotiated', 'renegotiated', 'active'], expect.not.stringMatching('none'), 'none']);
  });

  test('that is refused changes nothing and leaves the code free', async () => {
    await activate('refused-A');
    for (const [answer, status, code] of [
      [await replacing('refused-A', 'refused-A'), 400, 'validation_error'],
      [await replacing('refused-X', 'refused-N'), 404, 'loan_not_found'],
      [await replacingAll(['refused-A', 'refused-X'], 'refused-N'), 404, 'loan_not_found'],
      [await replacingAll(['refused-A'], 'refused-N', '2026-01-14'), 400, 'invalid_date'],
    ] as const) {
      expect([answer.status, answer.body.error_code]).toEqual([status, code]);
    }
    expect([await statusOf('refused-A'), await statusOf('refused-N')]).toEqual(['active', 'none']);
    expect((await replacing('refused-A', 'refused-N')).status).toBe(200);
    const used = await replacing('refused-A', 'refused-A2');
    expect(used.body.error_code).toBe('idempotency_conflict');
  });
});

/** Whoever sees one side changed sees the other side changed, whichever of them is read first. */
const watch = (originals: readonly string[], code: string) => {
  const halves: string[] = [];
  let watching = true;
  const look = async (): Promise<void> => {
    while (watching) {
      for (const original of originals) {
        const [before, next, after] = [
          await statusOf(original),
          await statusOf(code),
          await statusOf(original),
        ];
        if (before === 'renegotiated' && next === 'none')
          halves.push(`${original} is gone and ${code} is not there`);
        if (next !== 'none' && after === 'active')
          halves.push(`${code} is there and ${original} still active`);
      }
    }
  };
  const done = look();
  return {
    halves,
    stop: async (): Promise<void> => {
      watching = false;
      await done;
    },
  };
};

test('no reader sees a half', async () => {
  for (let round = 0; round < 4; round++) {
    const originals = [`A${round}`, `B${round}`];
    await activate(...originals);
    const watchers = [0, 1, 2].map(() => watch(originals, `N${round}`));
    expect((await replacingAll(originals, `N${round}`)).status).toBe(200);
    for (const watcher of watchers) await watcher.stop();
    expect(watchers.flatMap(({ halves }) => halves)).toEqual([]);
  }
}, 60_000);

test('a process that is killed leaves no half, loses nothing acknowledged, and goes on by itself', async () => {
  const pairs = Array.from({ length: PAIRS }, (_, i) => [`K${i}`, `L${i}`] as const);
  await activate(...pairs.flat());
  let answered = 0;
  const enough = Promise.withResolvers<void>();
  const sent = pairs.map(async (pair, i) => {
    const answer = await replacingAll(pair, `M${i}`).catch(() => undefined);
    if (++answered === 2) enough.resolve();
    return answer?.status === 200;
  });
  await enough.promise;
  await service.end('SIGKILL');
  const acknowledged = await Promise.all(sent);
  expect(acknowledged.filter(Boolean).length).toBeGreaterThan(0);
  await service.start();
  for (const [i, pair] of pairs.entries()) {
    const [first, second, next] = await Promise.all([...pair, `M${i}`].map(statusOf));
    const seen = first === 'renegotiated' ? 'done' : 'nothing';
    expect([first, second]).toEqual(
      seen === 'done' ? ['renegotiated', 'renegotiated'] : ['active', 'active'],
    );
    expect(next === 'none').toBe(seen === 'nothing');
    if (acknowledged[i]) expect(seen).toBe('done');
  }
  for (const [i, pair] of pairs.entries()) expect((await replacingAll(pair, `M${i}`)).status).toBe(200);
  for (const [i, [first]] of pairs.entries()) {
    await api.untilStatus(`M${i}`, 'active');
    const { body } = await api.loan(first);
    expect(body.status).toBe('renegotiated');
  }
}, 60_000);
