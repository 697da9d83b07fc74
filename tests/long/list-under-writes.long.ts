import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { loanRequest } from '../support/api-client.ts';
import type { ApiClient } from '../support/api-client.ts';
import { RunningService } from '../support/running-service.ts';

const FUND = '6f1c2f0e-8f57-4f0e-9d5e-3a8a0f6f2b11';
const OLD = 40;

let running: RunningService;
let api: ApiClient;
beforeAll(async () => {
  running = await RunningService.start();
  api = await running.client(FUND);
});
afterAll(() => running.stop());

/** Every code, page by page, following the cursors. */
const walk = async (limit: number): Promise<string[]> => {
  const codes: string[] = [];
  let cursor: string | null = '';
  while (cursor !== null) {
    const { status, body } = await api.call('GET', `/loan?limit=${limit}${cursor && `&cursor=${cursor}`}`);
    expect(status).toBe(200);
    codes.push(
      ...body.data.map((loan: { originator_proposal_code: string }) => loan.originator_proposal_code),
    );
    cursor = body.next_cursor;
  }
  return codes;
};

test('while others write, a walk through the list meets everything that was there once, in the same order', async () => {
  for (let i = 0; i < OLD; i += 1) await api.assign(loanRequest(FUND, `OLD-${i}`, 1));
  const before = await walk(200);
  expect(before).toHaveLength(OLD);
  await Promise.all(before.map((code) => api.untilStatus(code, 'active')));

  let writing = true;
  let written = 0;
  const assignOn = async (): Promise<void> => {
    while (writing)
      expect((await api.assign(loanRequest(FUND, `NEW-${(written += 1)}`, 1))).status).toBe(201);
  };
  const settleOn = async (): Promise<void> => {
    for (const code of before) expect((await api.settle(code, '001', 950)).status).toBe(200);
  };
  const writers = [assignOn(), assignOn(), settleOn()];
  const walks: string[][] = [];
  for (let i = 0; i < 5; i += 1) walks.push(await walk(3));
  writing = false;
  await Promise.all(writers);

  for (const codes of walks) {
    expect(new Set(codes).size).toBe(codes.length);
    expect(codes.filter((code) => code.startsWith('OLD-'))).toEqual(before);
  }
  expect(written).toBeGreaterThan(0);
  const after = await walk(200);
  expect(after).toHaveLength(OLD + written);
  expect(after.slice(0, OLD)).toEqual(before);
});
