import { randomUUID } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { loanRequest } from '../support/api-client.ts';
import type { ApiClient } from '../support/api-client.ts';
import { commandLineBeside } from '../support/command-line-beside.ts';
import { RunningService } from '../support/running-service.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';

let directory: Awaited<ReturnType<typeof temporaryDirectory>>;
let service: RunningService;
let api: ApiClient;

beforeAll(async () => {
  directory = await temporaryDirectory();
  service = await RunningService.start({ DATA_DIR: directory.path, SANDBOX_STEP: '1ms' });
  api = await service.client(randomUUID());
}, 40_000);
afterAll(async () => {
  await service?.stop();
  await directory?.remove();
});

const told = async (...args: readonly string[]) => {
  const { code, out } = await commandLineBeside({ DATA_DIR: directory.path })(...args);
  expect(code).toBe(0);
  return JSON.parse(out);
};

test('beside a running service, the reports hold what its integrators were answered', async () => {
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

  const statement = join(directory.path, 'statement.csv');
  await writeFile(statement, 'date,amount,reference\n2026-02-10,120.50,OP-1/001\n2026-02-12,33.33,OP-2\n');
  const period = ['--from', '2026-02-01', '--to', '2026-02-28', '--statement', statement, '--format', 'json'];
  const reconciled = await told('reconcile', ...fund, ...period);
  expect(reconciled).toMatchObject({ clean: true, rules: { exact: 1, reference_and_amount: 1 } });
});
