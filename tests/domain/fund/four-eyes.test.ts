import { describe, expect, test } from '@jest/globals';
import { COVERABLE, covers, fourEyesDecider } from '../../../domain/fund/four-eyes.ts';
import type { Covered, FourEyes, FourEyesProposed, FourEyesSet } from '../../../domain/fund/four-eyes.ts';
import type { FundId, Timestamp } from '../../../domain/shared/identifiers.ts';
import { cents } from '../../../domain/shared/money.ts';
import type { Evidence, Somebody } from '../../../domain/shared/two-people.ts';
import { stateAfter } from '../../../domain/shared/decider.ts';
import { specFor } from '../../support/decider-spec.ts';

const { given } = specFor(fourEyesDecider);
const FUND = '0b0e4a3c-6f57-4d0e-8a3b-1d2c3b4a5f60' as FundId;
const OTHER = '1b0e4a3c-6f57-4d0e-8a3b-1d2c3b4a5f60' as FundId;
const NOW = '2026-06-20T12:00:00.000Z' as Timestamp;
const ANA: Somebody = { name: 'Ana' };
const BIA: Somebody = { name: 'Bia' };
const person = (subject: string): Somebody => ({ name: 'Ana', issuer: 'https://id', subject });

const covered = (decision: Covered['decision'], from = 0): Covered => ({ decision, from: cents(from) });
const rule = (evidence: Evidence, ...decisions: Covered[]): FourEyes => ({ decisions, evidence });
const OFF = rule('signed-in');
const asked = (asks: FourEyes, by: Somebody = ANA, proposalId = 'P', fundId = FUND) => ({
  ...{ type: 'SetFourEyes' as const, fundId, proposalId, ...asks, by, now: NOW },
});
const inForce = (asks: FourEyes, version = 1, more: Partial<FourEyesSet> = {}): FourEyesSet => ({
  ...{ type: 'FourEyesSet', fundId: FUND, version, ...asks, by: ANA, setAt: NOW, ...more },
});
const proposed = (asks: FourEyes, by: Somebody = ANA): FourEyesProposed => ({
  ...{ type: 'FourEyesProposed', fundId: FUND, proposalId: 'P', ...asks, by, proposedAt: NOW },
});
const settle = (type: 'ConfirmFourEyes' | 'WithdrawFourEyes', by: Somebody = BIA, proposalId = 'P') => ({
  ...{ type, proposalId, by, now: NOW },
});

const STATED = rule('stated', covered('approve', 100), covered('disburse'));

describe('a rule of two people', () => {
  test('is in force at once, each version one more, and nothing new where it is so already', () => {
    given().when(asked(STATED)).then(inForce(STATED));
    given(inForce(STATED)).when(asked(STATED)).thenNothing();
    given().when(asked(OFF)).thenNothing();
    given(inForce(STATED, 1, { fundId: OTHER }))
      .when(asked(STATED))
      .then(inForce(STATED));
  });

  test('lists decisions in one order, each once, from values that can be', () => {
    const [approve, disburse] = STATED.decisions as [Covered, Covered];
    given()
      .when(asked(rule('stated', disburse, approve)))
      .then(inForce(STATED));
    given()
      .when(asked(rule('stated', approve, covered('approve', 1))))
      .thenRefused('validation_error');
    given()
      .when(asked(rule('stated', covered('approve', -1))))
      .thenRefused('validation_error');
    given()
      .when(asked(rule('stated', covered('approve', 1e11))))
      .thenRefused('validation_error');
  });

  test.each<[string, FourEyes]>([
    ['a lower value', rule('stated', covered('approve', 99), covered('disburse'))],
    ['one decision more', rule('stated', ...STATED.decisions, covered('reject'))],
    ['signed-in for stated', rule('signed-in', ...STATED.decisions)],
  ])('that asks for more is in force at once: %s', (_, stricter) => {
    const decisions = COVERABLE.flatMap((name) => stricter.decisions.filter((one) => one.decision === name));
    given(inForce(STATED))
      .when(asked(stricter))
      .then(inForce({ ...stricter, decisions }, 2));
  });

  test.each<[string, FourEyes]>([
    ['none', OFF],
    ['a higher value', rule('stated', covered('approve', 101), covered('disburse'))],
    ['one decision less', rule('stated', covered('approve', 100))],
    ['another one instead', rule('signed-in', covered('approve'), covered('reject'))],
  ])('that asks for less awaits another person: %s', (_, weaker) => {
    given(inForce(STATED)).when(asked(weaker)).then(proposed(weaker));
    const awaits = [inForce(STATED), proposed(weaker)] as const;
    expect(stateAfter(fourEyesDecider, awaits).rules.get(FUND)).toMatchObject({ version: 1, ...STATED });
    given(...awaits)
      .when(settle('ConfirmFourEyes', ANA))
      .thenRefused('own_decision');
    given(...awaits)
      .when(settle('ConfirmFourEyes', { name: ' ANA\u200b' }))
      .thenRefused('own_decision');
    given(...awaits)
      .when(settle('ConfirmFourEyes', {}))
      .thenRefused('evidence_missing');
    given(...awaits)
      .when(settle('ConfirmFourEyes'))
      .then(inForce(weaker, 2, { by: BIA, proposalId: 'P' }));
    given(...awaits)
      .when(asked(OFF, BIA, 'Q'))
      .thenRefused('already_awaiting');
  });

  test('of signed-in people is weakened by signed-in people alone, and stated for signed-in is weaker', () => {
    const signedIn = inForce(rule('signed-in', covered('approve')));
    const weaker = rule('stated', covered('approve'));
    given(signedIn).when(asked(weaker)).thenRefused('evidence_missing');
    given(signedIn)
      .when(asked(weaker, person('1')))
      .then(proposed(weaker, person('1')));
    const awaits = [signedIn, proposed(weaker, person('1'))] as const;
    given(...awaits)
      .when(settle('ConfirmFourEyes', BIA))
      .thenRefused('evidence_missing');
    given(...awaits)
      .when(settle('ConfirmFourEyes', { ...person('1'), name: 'Bia' }))
      .thenRefused('own_decision');
    given(...awaits)
      .when(settle('ConfirmFourEyes', person('2')))
      .then(inForce(weaker, 2, { by: person('2'), proposalId: 'P' }));
  });

  test('that awaits is withdrawn by anybody, and void once another one is in force', () => {
    const awaits = [inForce(STATED), proposed(OFF)] as const;
    const withdrawn = {
      type: 'FourEyesWithdrawn',
      fundId: FUND,
      proposalId: 'P',
      by: ANA,
      withdrawnAt: NOW,
    } as const;
    given(...awaits)
      .when(settle('WithdrawFourEyes', ANA))
      .then(withdrawn);
    given(...awaits, withdrawn)
      .when(settle('WithdrawFourEyes', ANA))
      .thenNothing();
    given(...awaits, withdrawn)
      .when(settle('ConfirmFourEyes'))
      .thenRefused('decision_void');
    const stricter = inForce(rule('signed-in', ...STATED.decisions), 2);
    given(...awaits, stricter)
      .when(settle('ConfirmFourEyes'))
      .thenRefused('decision_void');
    given(...awaits, stricter)
      .when(settle('WithdrawFourEyes'))
      .thenRefused('decision_void');
    const done = inForce(OFF, 2, { by: BIA, proposalId: 'P' });
    given(...awaits, done)
      .when(settle('ConfirmFourEyes'))
      .thenNothing();
    given(...awaits, done)
      .when(settle('WithdrawFourEyes'))
      .thenRefused('decision_void');
    given(...awaits)
      .when(settle('ConfirmFourEyes', BIA, 'Q'))
      .thenRefused('decision_not_found');
  });

  test('covers a decision from its value on', () => {
    expect([99, 100, 101].map((value) => covers(STATED, 'approve', value))).toEqual([false, true, true]);
    expect([
      covers(STATED, 'reject', 1e9),
      covers(undefined, 'approve', 1),
      covers(OFF, 'approve', 1),
    ]).toEqual([false, false, false]);
  });
});
