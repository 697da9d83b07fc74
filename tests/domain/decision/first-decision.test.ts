import { describe, test } from '@jest/globals';
import { firstDecisions } from '../../../domain/decision/first-decision.ts';
import type {
  DecisionAwaiting,
  DecisionEvent,
  FirstDecision,
  SinceThen,
} from '../../../domain/decision/first-decision.ts';
import type { FundId, Timestamp } from '../../../domain/shared/identifiers.ts';
import { cents } from '../../../domain/shared/money.ts';
import type { Evidence, Somebody } from '../../../domain/shared/two-people.ts';
import { specFor } from '../../support/decider-spec.ts';

const { given } = specFor(firstDecisions);
const NOW = '2026-06-20T12:00:00.000Z' as Timestamp;
const ANA: Somebody = { name: 'Ana Souza' };
const BIA: Somebody = { name: 'Bia' };
const person = (subject: string, name = 'Ana Souza'): Somebody => ({ name, issuer: 'https://id', subject });

const firstOf = (id: string, more: Partial<FirstDecision> = {}): FirstDecision => ({
  ...{ firstDecisionId: id, fundId: 'F' as FundId, decision: 'approve', value: cents(100) },
  ...{ decidedAt: NOW, madeOn: 3, ruleVersion: 1, evidence: 'stated', by: ANA, awaitingSince: NOW, ...more },
});
const awaiting = (id: string, more: Partial<FirstDecision> = {}): DecisionAwaiting => ({
  type: 'DecisionAwaiting',
  ...firstOf(id, more),
});
const decide = (id: string, sinceThen: SinceThen = 'unchanged', more: Partial<FirstDecision> = {}) =>
  ({ type: 'DecideFirst', first: firstOf(id, more), sinceThen }) as const;
const confirm = (
  id: string,
  by: Somebody = BIA,
  on: { readonly sinceThen?: SinceThen; readonly evidence?: Evidence } = {},
) =>
  ({
    type: 'ConfirmDecision',
    firstDecisionId: id,
    sinceThen: on.sinceThen ?? 'unchanged',
    ruleVersion: 2,
    evidence: on.evidence ?? 'stated',
    by,
    now: NOW,
  }) as const;
const withdraw = (id: string, sinceThen: SinceThen = 'unchanged', by: Somebody = ANA) =>
  ({ type: 'WithdrawDecision', firstDecisionId: id, sinceThen, by, now: NOW }) as const;
const confirmed = (id: string, by: Somebody = BIA): DecisionEvent => ({
  ...{ type: 'DecisionConfirmed', firstDecisionId: id, ruleVersion: 2, by, confirmedAt: NOW },
});
const withdrawn = (id: string): DecisionEvent => ({
  ...{ type: 'DecisionWithdrawn', firstDecisionId: id, by: ANA, withdrawnAt: NOW },
});
const voided = (id: string): DecisionEvent => ({
  type: 'DecisionVoided',
  firstDecisionId: id,
  voidedAt: NOW,
});

describe('a first decision', () => {
  test('awaits a second person, one at a time', () => {
    given().when(decide('A')).then(awaiting('A'));
    given(awaiting('A'))
      .when(decide('B'))
      .thenRefused('already_awaiting', /A \(approve\)/);
    given(awaiting('A'), confirmed('A')).when(decide('B')).thenRefused('already_awaiting');
  });

  test('follows one that has ended, or that is void by now', () => {
    given(awaiting('A'), withdrawn('A')).when(decide('B')).then(awaiting('B'));
    given(awaiting('A'), confirmed('A')).when(decide('B', 'carried_out')).then(awaiting('B'));
    given(awaiting('A')).when(decide('B', 'changed')).then(voided('A'), awaiting('B'));
    given(awaiting('A'), confirmed('A')).when(decide('B', 'changed')).then(voided('A'), awaiting('B'));
    given(awaiting('A'), voided('A'), awaiting('B')).when(decide('C')).thenRefused('already_awaiting', /B/);
  });

  test.each<[Evidence, Somebody]>([
    ['signed-in', ANA],
    ['signed-in', {}],
    ['signed-in', { name: 'Ana', issuer: 'https://id' }],
    ['stated', {}],
    ['stated', { name: ' \u200b' }],
  ])('of somebody who is not known as %s asks for is none: %j', (evidence, by) =>
    given()
      .when(decide('A', 'unchanged', { evidence, by }))
      .thenRefused('evidence_missing'),
  );
});

describe('a confirmation', () => {
  test('is of another person', () => {
    given(awaiting('A')).when(confirm('A')).then(confirmed('A'));
    given(awaiting('A')).when(confirm('A', ANA)).thenRefused('own_decision');
  });

  test.each(['ana souza', 'ANA SOUZA', ' Ana  Souza ', 'Ana\u00a0Souza', 'Ａna Souza', 'Ana\u00ad Souza'])(
    'by %j is by Ana Souza herself',
    (name) => given(awaiting('A')).when(confirm('A', { name })).thenRefused('own_decision'),
  );

  test('of who is signed in goes by issuer and subject alone', () => {
    const first = awaiting('A', { evidence: 'signed-in', by: person('1') });
    const on = { evidence: 'signed-in' as const };
    given(first)
      .when(confirm('A', person('1', 'Bia'), on))
      .thenRefused('own_decision');
    given(first)
      .when(confirm('A', person('2'), on))
      .then(confirmed('A', person('2')));
    given(first)
      .when(confirm('A', BIA, on))
      .thenRefused('evidence_missing');
  });

  test('is none of who comes back from a provider that is called otherwise by now', () => {
    const moved = (subject: string, name: string): Somebody => ({
      ...{ name, subject, issuer: 'https://login.new' },
    });
    for (const evidence of ['signed-in', 'stated'] as const) {
      const first = awaiting('A', { evidence, by: person('1') });
      for (const same of [moved('1', 'Ana Lima'), moved('auth0|77', 'ANA  SOUZA')])
        given(first)
          .when(confirm('A', same, { evidence }))
          .thenRefused('own_decision');
      const bia = moved('2', 'Bia');
      given(first)
        .when(confirm('A', bia, { evidence }))
        .then(confirmed('A', bia));
    }
    // At one provider, two may have one name.
    const first = awaiting('A', { evidence: 'signed-in', by: person('1') });
    given(first)
      .when(confirm('A', person('2'), { evidence: 'signed-in' }))
      .then(confirmed('A', person('2')));
  });

  test('asks for the stricter of what was asked for then and is now', () => {
    given(awaiting('A'))
      .when(confirm('A', BIA, { evidence: 'signed-in' }))
      .thenRefused('evidence_missing');
    given(awaiting('A'))
      .when(confirm('A', person('2'), { evidence: 'signed-in' }))
      .thenRefused('evidence_missing');
    const signedIn = awaiting('A', { evidence: 'signed-in', by: person('1') });
    given(signedIn)
      .when(confirm('A', BIA, { evidence: 'stated' }))
      .thenRefused('evidence_missing');
    given(awaiting('A', { by: person('1') }))
      .when(confirm('A', person('1', 'Bia')))
      .thenRefused('own_decision');
  });

  test('of what has ended', () => {
    given(awaiting('A'))
      .when(confirm('A', BIA, { sinceThen: 'changed' }))
      .thenRefused('decision_void');
    given(awaiting('A'), withdrawn('A'))
      .when(confirm('A'))
      .thenRefused('decision_void', /withdrawn/);
    given(awaiting('A'), voided('A'), awaiting('B')).when(confirm('A')).thenRefused('decision_void');
    given(awaiting('A'), confirmed('A'))
      .when(confirm('A', BIA, { sinceThen: 'carried_out' }))
      .thenNothing();
    given(awaiting('A')).when(confirm('B')).thenRefused('decision_not_found');
  });

  test('that was not carried out is left to be carried out, unless something happened since', () => {
    given(awaiting('A'), confirmed('A')).when(confirm('A')).thenNothing();
    given(awaiting('A'), confirmed('A')).when(confirm('A', ANA)).thenRefused('own_decision');
    given(awaiting('A'), confirmed('A'))
      .when(confirm('A', BIA, { sinceThen: 'changed' }))
      .thenRefused('decision_void');
  });
});

describe('a withdrawal', () => {
  test('is of anybody, as long as nobody has confirmed', () => {
    given(awaiting('A')).when(withdraw('A')).then(withdrawn('A'));
    given(awaiting('A'), withdrawn('A')).when(withdraw('A')).thenNothing();
    given(awaiting('A')).when(withdraw('A', 'changed')).thenRefused('decision_void');
    given(awaiting('A'), confirmed('A'))
      .when(withdraw('A'))
      .thenRefused('decision_void', /is confirmed/);
    given(awaiting('A'), confirmed('A'))
      .when(withdraw('A', 'carried_out'))
      .thenRefused('decision_void', /effect/);
    given(awaiting('A'), voided('A')).when(withdraw('A')).thenRefused('decision_void');
    given().when(withdraw('A')).thenRefused('decision_not_found');
  });
});
