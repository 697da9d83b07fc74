import { expect, test } from '@jest/globals';
import { entryOfDecision, recordDecisions } from '../../../application/administrator/answers.ts';
import type { DecisionAnswer } from '../../../application/administrator/answers.ts';
import type { SubmittedDecision } from '../../../application/administrator/decisions.ts';
import { DESK_DAYS_STREAM } from '../../../application/desk/desk-streams.ts';
import { StoreUnavailableError } from '../../../application/ports/event-store.ts';
import { deskOver, linesOf } from '../../support/desk-over.ts';
import { InMemoryEventStore } from '../../support/in-memory-event-store.ts';
import {
  FUND,
  ana,
  bia,
  deskOver as administratorOver,
  ruleOf,
  second,
  setRule,
} from '../../support/two-people-desk.ts';

const ID = '0b0e4a3c-6f57-4d0e-8a3b-1d2c3b4a5f60';
const of = (decisionId: string, more: object = {}): SubmittedDecision => ({
  decisionId,
  applicationId: ID,
  code: 'OP-1',
  decision: 'approve',
  ...more,
});

test('each answer is a line, in the name that the decision gives, and what could not be read names nothing', async () => {
  const desk = deskOver();
  const reason = { code: 'malformed', message: 'Joana Prado is no JSON', details: [] };
  const answers: readonly DecisionAnswer[] = [
    { outcome: 'applied', decision: of('D-1'), status: 'approved' },
    { outcome: 'refused', reason },
    { outcome: 'refused', decisionId: '52998224725', reason },
    {
      outcome: 'already_applied',
      repeated: true,
      decision: of('D-2', { operator: 'Ana', decision: 'disburse', disbursedValue: 180_000 }),
      status: 'active',
    },
    { outcome: 'already_applied', decision: of('52998224725'), status: 'approved' },
  ];
  await recordDecisions(desk, { way: 'topic', name: 'administrator' }, answers);
  const lines = await linesOf(desk);
  expect(
    lines.map(({ name, action, outcome, decisionId, sum }) => [name, action, outcome, decisionId, sum]),
  ).toEqual([
    ['administrator', 'decided', 'applied', 'D-1', undefined],
    ['administrator', 'refused', 'refused', undefined, undefined],
    ['administrator', 'refused', 'refused', undefined, undefined],
    ['Ana', 'decided', 'already_applied', 'D-2', 180_000],
    ['administrator', 'decided', 'already_applied', undefined, undefined],
  ]);
  expect(JSON.stringify(lines.map(({ at: _, ...line }) => line))).not.toMatch(/Joana|52998224725/);
});

/** The second time that lines come, it is away. */
class AwayOnce extends InMemoryEventStore {
  #times = 0;

  override async append(...asked: Parameters<InMemoryEventStore['append']>) {
    if (asked[0] !== DESK_DAYS_STREAM && ++this.#times === 2) throw new StoreUnavailableError('away');
    return super.append(...asked);
  }
}

test('lines of several operators that are written again, because the log was away, stand there once', async () => {
  const desk = deskOver({ events: new AwayOnce() });
  const answers = ['Ana', 'Bia', 'Ana'].map((operator, n): DecisionAnswer => {
    return { outcome: 'applied', decision: of(`D-${n}`, { operator }), status: 'approved' };
  });
  const record = () => recordDecisions(desk, { way: 'topic', name: 'administrator' }, answers);
  await record().catch(record);
  const lines = await linesOf(desk);
  expect(lines.map(({ name, decisionId }) => `${decisionId} ${name}`)).toEqual([
    'D-0 Ana',
    'D-1 Bia',
    'D-2 Ana',
  ]);
});

test('what is said of a rule of two people is a line of its fund, refused or not', async () => {
  const administrator = administratorOver(new InMemoryEventStore());
  await setRule(administrator, ruleOf('stated', ['approve', 0]), ana);
  await setRule(administrator, ruleOf('stated'), ana, 'LESS');
  const said = async (...[decision, who]: [Parameters<typeof second>[1], typeof ana]) => {
    const { action, reason, fundId } = entryOfDecision(
      await second(administrator, decision, who, { first: 'LESS' }),
    );
    return [action, reason, fundId];
  };
  expect([await said('confirm', ana), await said('confirm', bia), await said('confirm', bia)]).toEqual([
    ['refused', 'own_decision', FUND],
    ['confirmed', undefined, FUND],
    ['confirmed', undefined, FUND],
  ]);
  await setRule(administrator, ruleOf('stated', ['approve', 0]), ana);
  await setRule(administrator, ruleOf('stated'), ana, 'LESS-2');
  const withdrawn = await second(administrator, 'withdraw', ana, { first: 'LESS-2' });
  expect(entryOfDecision(withdrawn)).toMatchObject({ action: 'withdrawn', fundId: FUND });
});
