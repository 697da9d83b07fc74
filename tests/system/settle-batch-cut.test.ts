import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { ApiClient, loanRequest } from '../support/api-client.ts';
import { ServiceProcess } from '../support/service-process.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { within } from '../support/within.ts';

type Json = ReturnType<typeof JSON.parse>;

const COUNT = 150;

let directory: Awaited<ReturnType<typeof temporaryDirectory>>;
let service: ServiceProcess;
let api: ApiClient;

beforeAll(async () => {
  directory = await temporaryDirectory();
  service = await ServiceProcess.start(directory.path, { SANDBOX_STEP: '0ms' });
  api = new ApiClient(service.baseUrl, await service.printedClient());
  await api.token();
}, 60_000);
afterAll(async () => {
  await service?.end('SIGKILL');
  await directory?.remove();
});

/** All installments of one operation, which go one after the other. */
const batchOf = (code: string): Json => ({
  settlements: Array.from({ length: COUNT }, (_, i) => ({
    originator_proposal_code: code,
    installment_code: String(i + 1).padStart(3, '0'),
    settled_at: '2026-06-15',
    settled_value: 950,
    payment_method: 'pix',
    idempotency_key: `${code}-${i}`,
  })),
});

const settledOf = async (code: string): Promise<number> => {
  const { body } = await api.loan(code);
  return body.installments.filter(({ status }: Json) => status === 'settled').length;
};

/** The answer, or undefined where the connection ended without one, of a batch in whose middle the service gets the signal. */
const cutBy = async (signal: NodeJS.Signals, code: string): Promise<Json> => {
  await api.assign(loanRequest(api.fund, code, COUNT));
  await api.untilStatus(code, 'active');
  const answer = api.call('POST', '/installment/settle/batch', batchOf(code)).catch(() => undefined);
  await within('some lines are recorded', 30_000, async () => (await settledOf(code)) > 0);
  await service.end(signal);
  await service.start();
  return answer;
};

const replayedAgain = async (code: string): Promise<readonly boolean[]> => {
  const { status, body } = await api.call('POST', '/installment/settle/batch', batchOf(code));
  expect([status, new Set(body.results.map((one: Json) => one.status))]).toEqual([200, new Set([200])]);
  const { body: loan } = await api.untilStatus(code, 'settled');
  // One event for each settlement, and those of the operation around them.
  expect(loan.installments.every((one: Json) => one.status === 'settled')).toBe(true);
  return body.results.map(({ replayed }: Json) => replayed);
};

test('a batch whose process is killed in the middle is sent again: what was recorded is a replay, the rest is done now', async () => {
  await cutBy('SIGKILL', 'KILLED');
  const recorded = await settledOf('KILLED');
  const replayed = await replayedAgain('KILLED');
  expect(replayed).toEqual(Array.from({ length: COUNT }, (_, i) => i < recorded));
  expect(recorded).toBeGreaterThan(0);
  const { body } = await api.call('POST', '/installment/settle/batch', batchOf('KILLED'));
  expect(body.results.every((one: Json) => one.replayed)).toBe(true);
}, 120_000);

test('a process that is told to stop ends its batches before it does; of one that takes too long no line is lost', async () => {
  const answer = await cutBy('SIGTERM', 'STOPPED');
  const recorded = await settledOf('STOPPED');
  const replayed = await replayedAgain('STOPPED');
  expect(replayed).toEqual(Array.from({ length: COUNT }, (_, i) => i < recorded));
  if (answer) expect([answer.status, recorded]).toEqual([200, COUNT]);
  expect(service.output).not.toContain('failed unexpectedly');
}, 120_000);
