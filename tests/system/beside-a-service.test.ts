import { cp, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { examine } from '../../infrastructure/composition/maintenance/doctor.ts';
import { loanRequest } from '../support/api-client.ts';
import type { ApiClient } from '../support/api-client.ts';
import { commandLineBeside } from '../support/command-line-beside.ts';
import { RecordingLogger } from '../support/recording-logger.ts';
import { RunningService } from '../support/running-service.ts';
import { freePort } from '../support/service-process.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { within } from '../support/within.ts';

let running: RunningService;
let api: ApiClient;
let dataDir: string;
beforeAll(async () => {
  running = await RunningService.start({ WEBHOOK_ALLOW_PRIVATE_NETWORK: 'true' });
  api = await running.client();
  ({ dataDir } = running.service.parts.configuration);
});
afterAll(() => running.stop());

const told = async (...args: readonly string[]) => {
  const { code, out } = await commandLineBeside({ DATA_DIR: dataDir })(...args);
  expect(code).toBe(0);
  return JSON.parse(out);
};

test('the reports hold what its integrators were answered', async () => {
  for (const code of ['OP-1', 'OP-2']) {
    expect((await api.assign(loanRequest(api.fund, code, 6))).status).toBe(201);
    await api.untilStatus(code, 'active');
  }
  const settled = await api.settle('OP-1', '001', 120.5, { settled_at: '2026-02-10' });
  expect(settled.status).toBe(200);
  const prepaid = await api.call('POST', '/installment/prepayment', {
    originator_proposal_code: 'OP-2',
    prepayment_value: 33.33,
    prepayment_date: '2026-02-11',
    payment_method: 'pix',
    idempotency_key: 'prepayment-1',
  });
  expect(prepaid.status).toBe(200);

  const balances = await Promise.all(
    ['OP-1', 'OP-2'].map(async (code) => (await api.loan(code)).body.balances),
  );
  const [{ payoff_date: today }] = balances;
  const fund = ['--fund', api.fund];
  const position = await told('portfolio', ...fund, '--as-of', today, '--format', 'json');
  const sum = (values: readonly number[]): number =>
    values.reduce((total, value) => total + Math.round(value * 100), 0) / 100;
  expect(position).toMatchObject({
    operations: 2,
    open: {
      face_value: sum(balances.map((one) => one.open_face_value)),
      present_value: sum(balances.map((one) => one.payoff_value)),
    },
    settled: { to_date: { payments: 1, installments: 1, amount: 120.5 } },
    prepaid: { to_date: { payments: 1, amount: 33.33 } },
  });

  const statement = join(dataDir, 'statement.csv');
  await writeFile(statement, 'date,amount,reference\n2026-02-10,120.50,OP-1/001\n2026-02-12,33.33,OP-2\n');
  const period = ['--from', '2026-02-01', '--to', '2026-02-28', '--statement', statement, '--format', 'json'];
  const reconciled = await told('reconcile', ...fund, ...period);
  expect(reconciled).toMatchObject({ clean: true, rules: { exact: 1, reference_and_amount: 1 } });
});

const findings = () => examine({ DATA_DIR: dataDir }, () => new RecordingLogger());
const unlikeOk = async () => (await findings()).filter(({ state }) => state !== 'ok');

test('a code that no operation has is no empty report', async () => {
  const hook = { url: `https://127.0.0.1:${await freePort()}/hook`, events: ['*'] };
  const { webhook_id: id } = (await api.call('POST', '/webhook', hook)).body;
  for (const report of [['desk', 'log'], ['events'], ['webhook', 'deliveries', id]])
    expect(await commandLineBeside({ DATA_DIR: dataDir })(...report, '--code', 'NOPE')).toMatchObject({
      ...{ code: 3, out: '', err: expect.stringContaining('no operation has the code NOPE') },
    });
  await api.call('DELETE', `/webhook/${id}`);
});

test('deliveries that wait at a dead endpoint and a clock that was moved are warnings that name them', async () => {
  const url = `https://127.0.0.1:${await freePort()}/nobody`;
  const { body: webhook } = await api.call('POST', '/webhook', { url, events: ['*'] });
  const id = webhook.webhook_id as string;
  await within(
    'a failed attempt',
    60_000,
    async () => (await api.call('GET', `/webhook/${id}`)).body.failing_since !== null,
  );
  expect(await unlikeOk()).toEqual([
    {
      check: 'deliveries',
      state: 'warning',
      detail: expect.stringMatching(
        `^1 wait for webhook ${id} \\(${url}\\), .* no attempt has succeeded since`,
      ),
    },
  ]);
  await api.call('POST', `/webhook/${id}/pause`);
  expect((await unlikeOk())[0]!.detail).toContain('it is paused');
  await api.call('DELETE', `/webhook/${id}`);
  expect(await unlikeOk()).toEqual([]);

  expect((await api.call('POST', '/sandbox/clock', { advance: '270d' })).status).toBe(200);
  const detail = expect.stringContaining('270 days ahead');
  expect(await unlikeOk()).toEqual([{ check: 'sandbox_clock', state: 'warning', detail }]);
});

test('a service that does not run is one failed check, and nothing that follows from it is another', async () => {
  const stopped = temporaryDirectory();
  for (const file of await readdir(dataDir))
    if (/\.db(-wal)?$|^(master\.key|documents)$/.test(file))
      await cp(join(dataDir, file), join(stopped, file), { recursive: true });
  const found = await examine({ DATA_DIR: stopped }, () => new RecordingLogger());
  expect(found.filter(({ state }) => state === 'failed')).toEqual([
    { check: 'service', state: 'failed', detail: `no service runs on ${stopped}: start it` },
  ]);
  expect(found.map(({ check }) => check)).not.toContain('deliveries');
});
