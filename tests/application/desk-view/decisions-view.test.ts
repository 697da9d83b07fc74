import { beforeEach, describe, expect, jest, test } from '@jest/globals';
import type { Administrator } from '../../../application/administrator/administrator.ts';
import type { App } from '../../../application/app.ts';
import { deskOf } from '../../../application/desk-view/desk-of.ts';
import { RoleError } from '../../../application/desk/rights.ts';
import type { Grant } from '../../../application/desk/rights.ts';
import { fixedClock } from '../../support/application-parts.ts';
import { InMemoryEventStore } from '../../support/in-memory-event-store.ts';
import {
  FUND,
  ana,
  bia,
  decide,
  deskOver,
  receive,
  ruleOf,
  second,
  setRule,
  told,
} from '../../support/two-people-desk.ts';

const CODES = ['OP-1', 'OP-2'];
const OTHER_FUND = '9d1f6f0e-2b3c-4d5e-8f90-a1b2c3d4e5f6';

let store: InMemoryEventStore;
let administrator: Administrator;
const deskOfOne = (...grants: readonly Grant[]) => {
  const person = { issuer: 'https://id.example', subject: '7', name: 'Caio', grants };
  return { person, desk: deskOf({ administrator, loans: {} } as unknown as App, person).administrator };
};
const settledBy = (...grants: readonly Grant[]) => {
  const { person, desk } = deskOfOne(...grants);
  return async (decision: 'confirm' | 'withdraw', first: string): Promise<string> =>
    told(await second(desk as Administrator, decision, { person }, { first }));
};

beforeEach(async () => {
  store = new InMemoryEventStore();
  administrator = deskOver(store, fixedClock(), CODES);
  for (const code of CODES) await receive(store, code);
  await setRule(administrator, ruleOf('stated', ['approve', 0]), ana);
  for (const code of CODES) await decide(administrator, 'approve', ana, { code, id: code });
});

describe('who may confirm in one fund alone', () => {
  const checker: Grant = { role: 'checker', funds: [FUND] };

  test('is told what became of a decision of that fund', async () => {
    const settle = settledBy(checker);
    expect([await settle('confirm', 'OP-1'), await settle('confirm', 'OP-1')]).toEqual([
      'applied',
      'already_applied',
    ]);
    expect(told(await second(administrator, 'withdraw', ana, { first: 'OP-2' }))).toBe('applied');
    expect(await settle('confirm', 'OP-2')).toBe('decision_void');
    expect(await settle('withdraw', 'OP-2')).toBe('already_applied');
  });

  test('and of a rule of that fund', async () => {
    const settle = settledBy(checker);
    await setRule(administrator, ruleOf('stated'), ana, 'OFF');
    expect([await settle('confirm', 'OFF'), await settle('confirm', 'OFF')]).toEqual([
      'applied',
      'already_applied',
    ]);
  });

  test('finds none of another fund, nor what never was one', async () => {
    const settle = settledBy({ role: 'checker', funds: [OTHER_FUND] });
    await setRule(administrator, ruleOf('stated'), ana, 'OFF');
    for (const id of ['OP-1', 'OFF', 'never']) expect(await settle('confirm', id)).toBe('decision_not_found');
    expect(told(await second(administrator, 'confirm', bia, { first: 'OP-1' }))).toBe('applied');
    expect(await settle('confirm', 'OP-1')).toBe('decision_not_found');
    await expect(settledBy(checker)('confirm', 'never')).resolves.toBe('decision_not_found');
  });

  test('is refused for the role where another one only sees the fund', async () => {
    const settle = settledBy({ role: 'viewer' }, { role: 'checker', funds: [OTHER_FUND] });
    for (const id of ['OP-1', 'OP-2']) await expect(settle('confirm', id)).rejects.toThrow(RoleError);
  });

  test('has the lists of what waits not read for each of them', async () => {
    const pending = jest.spyOn(administrator.worklists, 'pending');
    await settledBy(checker)('confirm', 'OP-1');
    expect(pending).not.toHaveBeenCalled();
  });
});

test('of what awaits another person, the decisions of funds that a person does not see are not read', async () => {
  const read = jest.spyOn(store, 'read');
  const awaiting = async (...grants: readonly Grant[]) => {
    read.mockClear();
    const found = await deskOfOne(...grants).desk.confirmations.awaiting();
    return { found: found.length, read: read.mock.calls.length };
  };
  const other: Grant = { role: 'viewer', funds: [OTHER_FUND] };
  expect(await awaiting(other)).toEqual({ found: 0, read: 0 });
  // Of each its decisions, and what happened to the operation since.
  expect(await awaiting({ role: 'viewer' })).toEqual({ found: 2, read: 4 });
});

test('what waits in a fund without a rule is not asked for, whoever looks', async () => {
  const listed = jest.spyOn(administrator.worklists, 'of');
  await administrator.confirmations.awaiting();
  await administrator.confirmations.awaiting(OTHER_FUND);
  expect(listed.mock.calls).toEqual([[[FUND]]]);
});
