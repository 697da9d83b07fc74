import { beforeEach, describe, expect, jest, test } from '@jest/globals';
import type { Administrator } from '../../../application/administrator/administrator.ts';
import { loanStream } from '../../../application/command-handling/operation.ts';
import { findBrokenLink } from '../../../application/event-codec/event-codec.ts';
import { EarlierReleaseError } from '../../../application/event-codec/stored-formats.ts';
import { administratorOf } from '../../support/administrator.ts';
import { BESIDE_EARLIER, commandHandler, fixedClock } from '../../support/application-parts.ts';
import { InMemoryEventStore } from '../../support/in-memory-event-store.ts';
import {
  APPLICATION,
  FUND,
  VALUE,
  ana,
  audited,
  bia,
  decide,
  decisionsOf,
  deskOver,
  receive,
  ruleOf,
  second,
  setRule,
  signedIn,
  told,
  typesOf,
} from '../../support/two-people-desk.ts';

const STREAM = loanStream(APPLICATION, 'OP-1');
const CLIENT = { disbursement_date: '2026-06-20', disbursed_value: VALUE };
let store: InMemoryEventStore;
let desk: Administrator;

beforeEach(async () => {
  store = new InMemoryEventStore();
  desk = deskOver(store, fixedClock(), ['OP-1', 'OP-2', 'OP-3']);
  for (const code of ['OP-1', 'OP-2', 'OP-3']) await receive(store, code);
});
const STATED = ruleOf('stated', ['approve', 5_000], ['reject', 0], ['disburse', VALUE]);

describe('without a rule', () => {
  test('everything is decided as before, and nothing else is read or stored', async () => {
    const read = jest.spyOn(store, 'read');
    expect(told(await decide(deskOver(store), 'approve', ana))).toBe('applied');
    expect(read.mock.calls.map(([stream]) => stream)).toEqual([STREAM]);
    expect(await decisionsOf(store)).toEqual([]);
    const { data } = (await store.read(STREAM)).events[1]!;
    expect(Object.keys((JSON.parse(data) as { decision: object }).decision)).toEqual(['decided_at']);
  });

  test('a confirmation is about nothing', async () => {
    await decide(desk, 'approve', ana);
    expect(told(await second(desk, 'confirm', bia, { first: 'D-approve' }))).toBe('decision_not_found');
    expect(told(await second(desk, 'withdraw', bia, { first: 'never' }))).toBe('decision_not_found');
  });

  test('none is set while an earlier release may run', async () => {
    const beside = administratorOf(store, fixedClock(), { formats: BESIDE_EARLIER });
    await expect(setRule(beside, STATED, ana)).rejects.toThrow(EarlierReleaseError);
  });
});

describe('a covered decision', () => {
  beforeEach(async () => void (await setRule(desk, STATED, ana)));

  test('awaits confirmation, leaves the operation as it is, and takes effect when another person confirms', async () => {
    const before = await store.read(STREAM);
    expect(await decide(desk, 'approve', ana)).toMatchObject({
      outcome: 'awaiting_confirmation',
      status: 'received',
    });
    expect(await store.read(STREAM)).toEqual(before);
    expect(told(await second(desk, 'confirm', ana))).toBe('own_decision');
    expect(await second(desk, 'confirm', bia)).toMatchObject({
      outcome: 'applied',
      status: 'approved',
      decision: {
        applicationId: APPLICATION,
        code: 'OP-1',
        decision: 'confirm',
        firstDecisionId: 'D-approve',
      },
    });
    const [, approved] = (await store.read(STREAM)).events;
    expect(JSON.parse(approved!.data)).toMatchObject({
      decision: {
        four_eyes: {
          rule_version: 1,
          first_decision_id: 'D-approve',
          first: { name: 'Ana' },
          second: { name: 'Bia' },
        },
      },
    });
    expect(approved!.metadata).toMatchObject({
      actor: 'administrator/Bia',
      correlationId: 'D-approve',
      fundId: FUND,
    });
    expect(await decisionsOf(store)).toEqual(['awaiting', 'confirmed']);
    const decisions = (await store.read('decision-acme.OP-1')).events;
    expect(findBrokenLink('decision-acme.OP-1', decisions)).toBe(-1);
    expect(await audited(store)).toEqual([]);
  });

  test.each(['confirm', 'withdraw'])(
    'is told to %s before what comes behind it on its operation is decided',
    async (decision) => {
      await decide(desk, 'approve', ana);
      const of = (id: string, more: object): string => JSON.stringify({ decision_id: id, ...more });
      const operation = { application_id: APPLICATION, originator_proposal_code: 'OP-1' };
      const settled = of('D-2', { decision, first_decision_id: 'D-approve' });
      const next = of('D-3', { ...operation, decision: decision === 'confirm' ? 'sign_term' : 'approve' });
      const outcome = decision === 'confirm' ? 'applied' : 'awaiting_confirmation';
      expect((await desk.submitAll([settled, next], bia)).map(told)).toEqual(['applied', outcome]);
    },
  );

  test('sent again is a replay, never a confirmation, whoever sends it', async () => {
    expect(told(await decide(desk, 'approve', ana))).toBe('awaiting_confirmation');
    for (const who of [ana, bia])
      expect(told(await decide(desk, 'approve', who))).toBe('awaiting_confirmation');
    expect(told(await decide(desk, 'approve', bia, { note: 'other' }))).toBe('idempotency_conflict');
    expect(told(await decide(desk, 'approve', ana, { code: 'OP-2' }))).toBe('idempotency_conflict');
    await second(desk, 'confirm', bia);
    expect(await decide(desk, 'approve', ana)).toMatchObject({ outcome: 'already_applied', repeated: true });
    expect(await typesOf(store)).toEqual(['received', 'approved']);
  });

  test('sent again is what became of it, also where the operation has gone on to what would refuse it', async () => {
    await decide(desk, 'approve', ana);
    await second(desk, 'confirm', bia);
    await decide(desk, 'reject', ana, { reasons: [{ code: 'fraud', message: 'forged' }] });
    await second(desk, 'confirm', bia, { first: 'D-reject' });
    expect(told(await decide(desk, 'approve', ana))).toBe('already_applied');
    expect(told(await decide(desk, 'approve', ana, { expected_status: 'received' }))).toBe('already_applied');
    expect(told(await decide(desk, 'approve', ana, { id: 'D-other' }))).toBe('operation_invalid_state');
    await decide(desk, 'approve', ana, { code: 'OP-2', id: 'D-2' });
    const stale = { code: 'OP-2', id: 'D-2', expected_status: 'approved' };
    expect(told(await decide(desk, 'approve', ana, stale))).toBe('awaiting_confirmation');
  });

  test('is one at a time on an operation, and others are uncovered below their value', async () => {
    await decide(desk, 'approve', ana);
    expect(told(await decide(desk, 'approve', bia, { id: 'B' }))).toBe('already_awaiting');
    const reasons = [{ code: 'fraud', message: 'forged' }];
    expect(told(await decide(desk, 'reject', bia, { id: 'C', reasons }))).toBe('already_awaiting');
    await second(desk, 'confirm', bia);
    expect(told(await decide(desk, 'sign_term', ana))).toBe('applied');
    const below = { ...CLIENT, disbursed_value: VALUE - 0.01 };
    expect(told(await decide(desk, 'disburse', ana, below))).toBe('applied');
    expect(await audited(store)).toEqual([]);
  });

  test('is not confirmed under an id that stands for something else, and none is used twice', async () => {
    await decide(desk, 'approve', ana);
    await decide(desk, 'approve', ana, { code: 'OP-2', id: 'D-2' });
    expect(told(await second(desk, 'confirm', bia, { id: 'D-approve' }))).toBe('idempotency_conflict');
    expect(told(await second(desk, 'confirm', bia, { id: 'D-2' }))).toBe('idempotency_conflict');
    expect(told(await second(desk, 'confirm', bia, { first: 'S', id: 'S' }))).toBe('decision_not_found');
    expect(told(await second(desk, 'confirm', bia, { id: 'S' }))).toBe('applied');
    expect(told(await second(desk, 'confirm', bia, { id: 'S' }))).toBe('already_applied');
    expect(told(await second(desk, 'confirm', bia, { first: 'D-2', id: 'S' }))).toBe('idempotency_conflict');
    expect(told(await second(desk, 'withdraw', bia, { first: 'D-2', id: 'S' }))).toBe('idempotency_conflict');
    expect(told(await decide(desk, 'approve', bia, { code: 'OP-3', id: 'S' }))).toBe('idempotency_conflict');
    expect(told(await second(desk, 'confirm', bia, { first: 'S' }))).toBe('decision_not_found');
    expect([await typesOf(store), await decisionsOf(store, 'OP-2')]).toEqual([
      ['received', 'approved'],
      ['awaiting'],
    ]);
  });

  test('keeps what was decided: a disbursement, and a rejection with its reasons', async () => {
    await decide(desk, 'approve', ana);
    await second(desk, 'confirm', bia);
    await decide(desk, 'sign_term', ana);
    expect(told(await decide(desk, 'disburse', ana, { ...CLIENT, note: 'paid' }))).toBe(
      'awaiting_confirmation',
    );
    expect(told(await second(desk, 'confirm', bia, { first: 'D-disburse' }))).toBe('applied');
    const reasons = [{ code: 'fraud', message: 'forged' }];
    await decide(desk, 'reject', ana, { code: 'OP-2', reasons });
    await second(desk, 'confirm', bia, { first: 'D-reject' });
    const last = async (code: string) =>
      JSON.parse((await store.read(loanStream(APPLICATION, code))).events.at(-1)!.data);
    expect(await last('OP-1')).toMatchObject({ disbursed_value: VALUE * 100, decision: { note: 'paid' } });
    expect(await last('OP-2')).toMatchObject({ reasons });
    expect([...(await audited(store)), ...(await audited(store, 'OP-2'))]).toEqual([]);
  });

  test('is refused by what refuses any other, without awaiting', async () => {
    expect(told(await decide(desk, 'disburse', ana, CLIENT))).toBe('operation_invalid_state');
    expect(told(await decide(desk, 'approve', ana, { expected_status: 'approved' }))).toBe(
      'operation_invalid_state',
    );
    expect(await decisionsOf(store)).toEqual([]);
  });

  test('of nobody is none, and who is signed in counts whatever the text says', async () => {
    expect(told(await decide(desk, 'approve', {}))).toBe('evidence_missing');
    await decide(desk, 'approve', signedIn('ana', 'Ana Souza'));
    expect(told(await second(desk, 'confirm', signedIn('ana', 'Other')))).toBe('own_decision');
    expect(told(await second(desk, 'confirm', { name: 'ANA SOUZA' }))).toBe('own_decision');
    const text = { decision_id: 'S', decision: 'confirm', first_decision_id: 'D-approve', operator: 'Bia' };
    const [claimed] = await desk.submitAll([JSON.stringify(text)], signedIn('ana', 'Ana Souza'));
    expect(told(claimed!)).toBe('own_decision');
  });

  test('and its confirmation may come together, in their order', async () => {
    const fields = { application_id: APPLICATION, originator_proposal_code: 'OP-1' };
    const texts = [
      { decision_id: 'X', decision: 'approve', ...fields, operator: 'Ana' },
      { decision_id: 'Y', decision: 'confirm', first_decision_id: 'X', operator: 'Bia' },
      { decision_id: 'Z', decision: 'sign_term', ...fields },
    ];
    const answers = await desk.submitAll(texts.map((one) => JSON.stringify(one)));
    expect(answers.map(told)).toEqual(['awaiting_confirmation', 'applied', 'applied']);
    expect(answers.map(({ decision }) => decision?.operator)).toEqual(['Ana', 'Bia', undefined]);
  });
});

describe('signed-in evidence', () => {
  beforeEach(async () => void (await setRule(desk, ruleOf('signed-in', ['approve', 0]), ana)));

  test('keeps names out, as first and as second', async () => {
    expect(told(await decide(desk, 'approve', ana))).toBe('evidence_missing');
    expect(told(await decide(desk, 'approve', signedIn('1')))).toBe('awaiting_confirmation');
    expect(told(await second(desk, 'confirm', bia))).toBe('evidence_missing');
    expect(told(await second(desk, 'confirm', signedIn('1', 'Another')))).toBe('own_decision');
    expect(told(await second(desk, 'confirm', signedIn('2', '1')))).toBe('applied');
    expect(await audited(store)).toEqual([]);
  });

  test('is not weakened by names', async () => {
    await expect(setRule(desk, ruleOf('stated', ['approve', 0]), ana)).rejects.toMatchObject({
      code: 'evidence_missing',
    });
    await expect(setRule(desk, ruleOf('signed-in'), ana)).rejects.toMatchObject({ code: 'evidence_missing' });
  });
});

describe('what happens to the operation meanwhile', () => {
  beforeEach(async () => {
    await setRule(desk, STATED, ana);
    await decide(desk, 'approve', ana);
  });

  test('voids a first decision, which may be made anew', async () => {
    await commandHandler(store).handle({
      ...{ stream: STREAM, applicationId: APPLICATION, actor: 'client-1', correlationId: 'x' },
      decide: () => [{ type: 'BorrowerForgotten', forgottenAt: fixedClock().now() }],
    });
    expect(told(await second(desk, 'confirm', bia))).toBe('decision_void');
    expect(told(await second(desk, 'withdraw', ana))).toBe('decision_void');
    expect(told(await decide(desk, 'approve', ana))).toBe('decision_void');
    expect(await desk.confirmations.awaiting()).toEqual([]);
    expect(told(await decide(desk, 'approve', bia, { id: 'B' }))).toBe('awaiting_confirmation');
    expect(await decisionsOf(store)).toEqual(['awaiting', 'voided', 'awaiting']);
    expect(told(await second(desk, 'confirm', ana, { first: 'B' }))).toBe('applied');
    expect(await audited(store)).toEqual([]);
  });

  test('withdrawn it is void, and its id stays used', async () => {
    expect(told(await second(desk, 'withdraw', ana))).toBe('applied');
    expect(told(await second(desk, 'withdraw', ana))).toBe('already_applied');
    expect(told(await second(desk, 'confirm', bia))).toBe('decision_void');
    expect(told(await decide(desk, 'approve', ana))).toBe('decision_void');
    expect(told(await decide(desk, 'approve', ana, { id: 'B' }))).toBe('awaiting_confirmation');
    expect(await audited(store)).toEqual([]);
  });

  test('a weaker rule awaits another person, and then releases nothing', async () => {
    const off = await setRule(desk, ruleOf('stated'), ana, 'OFF');
    expect(off).toMatchObject({ outcome: 'awaiting_confirmation', rule: { version: 1 } });
    expect(await setRule(desk, ruleOf('stated'), ana, 'OFF')).toEqual(off);
    expect(await desk.confirmations.awaiting()).toMatchObject([
      { firstDecisionId: 'D-approve', decision: 'approve', value: VALUE * 100, by: 'Ana' },
      { firstDecisionId: 'OFF', decision: 'four_eyes', code: null, applicationId: null, value: null },
    ]);
    expect(told(await second(desk, 'confirm', ana, { first: 'OFF' }))).toBe('own_decision');
    expect(told(await decide(desk, 'approve', bia, { code: 'OP-2', id: 'B' }))).toBe('awaiting_confirmation');
    expect(told(await second(desk, 'confirm', bia, { first: 'OFF' }))).toBe('applied');
    expect(await typesOf(store)).toEqual(['received']);
    expect(told(await second(desk, 'confirm', ana))).toBe('own_decision');
    expect(told(await second(desk, 'confirm', bia))).toBe('applied');
    expect(told(await decide(desk, 'approve', ana, { code: 'OP-3', id: 'C' }))).toBe('applied');
    expect(await audited(store)).toEqual([]);
  });

  test('a stricter rule counts for what awaits', async () => {
    await setRule(desk, ruleOf('signed-in', ['approve', 5_000], ['reject', 0], ['disburse', VALUE]), bia);
    expect(told(await second(desk, 'confirm', signedIn('2')))).toBe('evidence_missing');
    expect(told(await second(desk, 'withdraw', ana))).toBe('applied');
  });
});

describe('at once', () => {
  test('two confirmations, two firsts, a confirmation and a withdrawal have one outcome', async () => {
    await setRule(desk, STATED, ana);
    const process = () => deskOver(store);
    const firsts = await Promise.all(
      ['A', 'B', 'C'].map((id) => decide(process(), 'approve', { name: id }, { id })),
    );
    expect(firsts.map(told).sort()).toEqual([
      'already_awaiting',
      'already_awaiting',
      'awaiting_confirmation',
    ]);
    const [id] = ['A', 'B', 'C'].filter((_, i) => firsts[i]!.outcome !== 'refused');
    const seconds = await Promise.all([
      ...['X', 'Y'].map((name) => second(process(), 'confirm', { name }, { first: id! })),
      second(process(), 'withdraw', { name: 'Z' }, { first: id! }),
    ]);
    const types = await typesOf(store);
    const withdrawn = told(seconds[2]!) === 'applied';
    expect(types).toEqual(withdrawn ? ['received'] : ['received', 'approved']);
    expect(seconds.map(told).filter((one) => one === 'applied').length).toBeGreaterThanOrEqual(1);
    expect(await audited(store)).toEqual([]);
  });
});

describe('a confirmation of all', () => {
  test('is done only where count and sum are those that await', async () => {
    await setRule(desk, STATED, ana);
    for (const code of ['OP-1', 'OP-2']) await decide(desk, 'approve', ana, { code, id: code });
    await setRule(desk, ruleOf('stated'), ana, 'OFF');
    const exactly = (count: number, sum: number) =>
      desk.confirmations.awaitingExactly(FUND, count, sum * 100);
    for (const [count, sum] of [
      [1, 2 * VALUE],
      [2, VALUE],
      [3, 2 * VALUE],
      [2, 2 * VALUE + 0.01],
    ] as const)
      await expect(exactly(count, sum)).rejects.toMatchObject({ code: 'confirmation_mismatch' });
    expect((await exactly(2, 2 * VALUE)).map(({ firstDecisionId }) => firstDecisionId)).toEqual([
      'OP-1',
      'OP-2',
    ]);
  });
});
