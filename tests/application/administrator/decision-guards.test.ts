import { beforeEach, describe, expect, test } from '@jest/globals';
import type { Administrator } from '../../../application/administrator/administrator.ts';
import type { DecisionAnswer } from '../../../application/administrator/answers.ts';
import { isFarOff } from '../../../application/administrator/decision-guards.ts';
import { loanDecider } from '../../../domain/loan/index.ts';
import { receiveL1 } from '../../domain/support/loan-story.ts';
import { administratorOf } from '../../support/administrator.ts';
import { NOW, TODAY, commandHandler, fixedClock } from '../../support/application-parts.ts';
import { InMemoryEventStore } from '../../support/in-memory-event-store.ts';

let store: InMemoryEventStore;
let desk: Administrator;
const STREAM = 'loan-acme.OP-1';

const deskOf = (disbursementTolerance = 1_000, clock = fixedClock()): Administrator =>
  administratorOf(store, clock, { disbursementTolerance });

beforeEach(async () => {
  store = new InMemoryEventStore();
  desk = deskOf();
  await commandHandler(store).handle({
    stream: STREAM,
    applicationId: 'acme',
    actor: 'client-1',
    correlationId: 'req',
    decide: (state) => loanDecider.decide({ ...receiveL1, code: 'OP-1' as never }, state),
  });
});

const submit = async (decision: string, more: object = {}, by?: string): Promise<DecisionAnswer> => {
  const fields = { application_id: 'acme', originator_proposal_code: 'OP-1', decision };
  const text = JSON.stringify({ decision_id: `D-${decision}`, ...fields, ...more });
  return (await desk.submitAll([text], { name: by }))[0]!;
};
const refusalOf = (answer: DecisionAnswer): readonly [code: string, field: string | undefined] => {
  if (answer.outcome !== 'refused') throw new Error(`it was ${answer.outcome}`);
  return [answer.reason.code, answer.reason.details[0]?.field];
};
const lengthOf = async (): Promise<number> => (await store.read(STREAM)).events.length;
const untilSigned = async (): Promise<void> => {
  await submit('approve', {}, 'ana');
  await submit('sign_term', {}, 'ana');
};
/** The acquisition value is 10,000.00. */
const paid = (value: number, more: object = {}) => ({
  disbursement_date: '2026-06-20',
  disbursed_value: value,
  ...more,
});

describe('a disbursed value', () => {
  beforeEach(untilSigned);

  test.each([
    ['at the tolerance below', paid(9_000)],
    ['at the tolerance above', paid(11_000)],
    ['beyond it, said twice', paid(459_008.1, { confirmed_value: 459_008.1 })],
    ['within it, said twice for nothing', paid(10_000, { confirmed_value: 10_000 })],
  ])('%s is taken', async (_, fields) => {
    expect((await submit('disburse', fields)).outcome).toBe('applied');
  });

  test.each([
    ['a cent beyond the tolerance below', paid(8_999.99)],
    ['a cent beyond the tolerance above', paid(11_000.01)],
    ['of one real', paid(1)],
    ['far off, the second time a cent otherwise', paid(459_008.1, { confirmed_value: 459_008.11 })],
    ['within it, the second time otherwise', paid(10_000, { confirmed_value: 10_000.01 })],
  ])('%s is refused, and its id stays unused', async (_, fields) => {
    expect(refusalOf(await submit('disburse', fields))).toEqual(['validation_error', 'confirmed_value']);
    expect(await lengthOf()).toBe(3);
    expect((await submit('disburse', paid(10_000))).outcome).toBe('applied');
  });

  test('that was taken is done already, with and without what confirms it', async () => {
    await submit('disburse', paid(1, { confirmed_value: 1 }));
    expect((await submit('disburse', paid(1))).outcome).toBe('already_applied');
    expect((await submit('disburse', paid(1, { confirmed_value: 2 }))).outcome).toBe('already_applied');
    const other = { decision_id: 'other' };
    expect((await submit('disburse', { ...paid(1), ...other })).outcome).toBe('already_applied');
    expect(await lengthOf()).toBe(4);
  });

  test('has its tolerance from outside, to a hundredth of a percent', async () => {
    desk = deskOf(0);
    expect(refusalOf(await submit('disburse', paid(10_000.01)))[1]).toBe('confirmed_value');
    desk = deskOf(1);
    expect((await submit('disburse', paid(10_001))).outcome).toBe('applied');
  });

  test('is compared exactly at the largest amounts', () => {
    const most = 99_999_999_999;
    expect([isFarOff(most, most, 0), isFarOff(most - 1, most, 0), isFarOff(1, most, 10_000)]).toEqual([
      false,
      true,
      false,
    ]);
  });

  test('belongs to a disbursement alone, the second time too', async () => {
    const answer = await submit('approve', { decision_id: 'x', confirmed_value: 1 });
    expect(refusalOf(answer)).toEqual(['validation_error', 'confirmed_value']);
  });

  test.each([
    ['2026-06-21', 'applied'],
    ['2026-06-22', 'refused'],
    ['2030-01-01', 'refused'],
  ])('paid on %s, seen from the day before 2026-06-21, is %s', async (date, outcome) => {
    expect((await submit('disburse', paid(10_000, { disbursement_date: date }))).outcome).toBe(outcome);
  });
});

describe('a decision made on a status', () => {
  test('is taken while the operation is in it, and done already afterwards', async () => {
    const on = { expected_status: 'received' };
    expect((await submit('approve', on)).outcome).toBe('applied');
    expect((await submit('approve', on)).outcome).toBe('already_applied');
    expect((await submit('approve', { ...on, decision_id: 'other' })).outcome).toBe('already_applied');
  });

  test('that has changed is refused, with who did what meanwhile', async () => {
    const reject = { reasons: [{ code: 'fraud', message: 'forged' }], expected_status: 'received' };
    await submit('approve', { expected_status: 'received' }, 'Ana Souza');
    const answer = await submit('reject', reject, 'Bruno');
    expect(answer).toMatchObject({
      outcome: 'refused',
      reason: {
        code: 'operation_invalid_state',
        message: `operation OP-1 is approved, not received: approved by Ana Souza at ${NOW}`,
        details: [{ field: 'expected_status', code: 'changed_meanwhile' }],
      },
      meanwhile: {
        status: 'approved',
        changes: [{ status: 'approved', actor: 'administrator/Ana Souza', at: NOW }],
      },
    });
    expect(await lengthOf()).toBe(2);
    expect((await submit('reject', { ...reject, expected_status: 'approved' })).outcome).toBe('applied');
  });

  test('that has changed is the reason before the rules and before the value', async () => {
    await untilSigned();
    const wrong = { ...paid(1), expected_status: 'approved' };
    expect(refusalOf(await submit('disburse', wrong))[1]).toBe('expected_status');
    const early = { decision_id: 'x', expected_status: 'active' };
    expect(refusalOf(await submit('process_repurchase', early))[1]).toBe('expected_status');
  });

  test('that an unknown operation cannot have is about an unknown operation', async () => {
    const answer = await submit('approve', { originator_proposal_code: 'NO', expected_status: 'received' });
    expect(refusalOf(answer)).toEqual(['loan_not_found', 'originator_proposal_code']);
  });

  test('that does not exist is malformed', async () => {
    expect(refusalOf(await submit('approve', { expected_status: 'none' }))[0]).toBe('validation_error');
  });

  test('is no part of what makes two decisions the same, and who decides neither', async () => {
    await submit('approve', { operator: 'ana', expected_status: 'received' });
    expect((await submit('approve', { operator: 'bruno' })).outcome).toBe('already_applied');
    expect((await submit('approve', { operator: 'bruno', note: 'other' })).outcome).toBe('refused');
  });
});

describe('who decides', () => {
  const actorOf = async (): Promise<string> => (await store.read(STREAM)).events[1]!.metadata.actor;

  test.each([
    [undefined, undefined, 'administrator'],
    ['João d’Ávila (mesa)', undefined, 'administrator/João d’Ávila (mesa)'],
    [undefined, 'console', 'administrator/console'],
    ['ana', 'console', 'administrator/ana'],
  ])('named %j in the decision and %j beside it is recorded as %j', async (operator, by, actor) => {
    await submit('approve', { operator }, by);
    expect(await actorOf()).toBe(actor);
  });

  test.each(['', '   ', 'a\nb', 'a\u0085b', 'evil\u202Etxt', 'x'.repeat(81), 7])(
    '%j is no name',
    async (operator) => {
      expect(refusalOf(await submit('approve', { operator }))).toEqual(['validation_error', 'operator']);
    },
  );
});

test('a decision carries the time at which it is carried out', async () => {
  let now = NOW;
  const moving = { ...fixedClock(), now: () => now, today: () => TODAY };
  desk = deskOf(1_000, moving);
  await submit('approve');
  now = '2026-07-20T12:00:00.000Z' as typeof NOW;
  await submit('sign_term');
  const [, approved, signed] = (await store.read(STREAM)).events.map(({ data }) => JSON.parse(data));
  expect([approved.approved_at, signed.signed_at]).toEqual([NOW, now]);
});
