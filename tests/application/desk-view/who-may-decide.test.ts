import { expect, test } from '@jest/globals';
import type { Administrator } from '../../../application/administrator/administrator.ts';
import type { App } from '../../../application/app.ts';
import { loanStream } from '../../../application/command-handling/operation.ts';
import { deskOf } from '../../../application/desk-view/desk-of.ts';
import { DESK_ROLES, RoleError } from '../../../application/desk/rights.ts';
import type { Grant, Person, Role } from '../../../application/desk/rights.ts';
import type { Who } from '../../../application/two-people/decided-stream.ts';
import { COVERABLE } from '../../../domain/fund/four-eyes.ts';
import type { CoverableDecision } from '../../../domain/fund/four-eyes.ts';
import { loanDecider } from '../../../domain/loan/index.ts';
import type { LoanCommand } from '../../../domain/loan/index.ts';
import { calendarDate } from '../../../domain/shared/calendar-date.ts';
import { cents } from '../../../domain/shared/money.ts';
import { NOW } from '../../domain/support/loan-story.ts';
import { commandHandler, fixedClock } from '../../support/application-parts.ts';
import { InMemoryEventStore } from '../../support/in-memory-event-store.ts';
import {
  APPLICATION,
  FUND,
  VALUE,
  audited,
  decide,
  deskOver,
  receive,
  ruleOf,
  second,
  setRule,
  signedIn,
  told,
} from '../../support/two-people-desk.ts';

const OTHER_FUND = '9d1f6f0e-2b3c-4d5e-8f90-a1b2c3d4e5f6';
const DAY = '2026-06-20';
const REASONS = [{ code: 'fraud', message: 'forged' }];

const grants = (roles: readonly Role[], fund?: string): readonly Grant[] =>
  roles.map((role) => ({ role, ...(fund !== undefined && { funds: [fund] }) }));
const GRANTS: readonly (readonly Grant[])[] = [
  [],
  ...[...DESK_ROLES.map((role) => [role]), ['maker', 'checker'] as const].flatMap((roles) =>
    [undefined, FUND, OTHER_FUND].map((fund) => grants(roles, fund)),
  ),
  [...grants(['viewer']), ...grants(['maker'], OTHER_FUND)],
  [...grants(['maker'], OTHER_FUND), ...grants(['checker'], FUND)],
];

const approve: LoanCommand = { type: 'ApproveLoan', now: NOW };
const sign: LoanCommand = { type: 'SignLoanTerm', now: NOW };
const disburse: LoanCommand = {
  ...{ type: 'DisburseLoan', disbursementDate: calendarDate(DAY) },
  ...{ disbursedValue: cents(VALUE * 100), now: NOW },
};
const leave: LoanCommand = {
  ...{ type: 'RequestRepurchase', reason: 'cession_reversal', effectiveDate: calendarDate(DAY), now: NOW },
};
const active = [approve, sign, disburse];
const STATES: Readonly<Record<string, readonly LoanCommand[]>> = {
  received: [],
  approved: [approve],
  term_signed: [approve, sign],
  active,
  repurchase_pending: [...active, leave],
  reversed: [...active, leave, { type: 'CompleteRepurchase', now: NOW }],
  rejected: [{ type: 'RejectLoan', reasons: REASONS, now: NOW }],
};
const DETAILS: Readonly<Partial<Record<CoverableDecision, object>>> = {
  reject: { reasons: REASONS },
  disburse: { disbursement_date: DAY, disbursed_value: VALUE },
};
const all = (evidence: 'signed-in' | 'stated', from = 0) =>
  ruleOf(evidence, ...COVERABLE.map((decision) => [decision, from] as const));
const RULES = {
  'no rule': undefined,
  'signed in': all('signed-in'),
  stated: all('stated'),
  'from more': all('signed-in', VALUE * 10),
};
type RuleName = keyof typeof RULES;
const names = Object.keys(RULES) as readonly RuleName[];

/** By the tables of docs/terminal-states.md. */
const inState = (state: string, decision: CoverableDecision): string => {
  const [done, now] = ['already_applied', 'takes effect'];
  const place = Object.keys(STATES).indexOf(state);
  if (decision === 'reject') return state === 'rejected' ? done : place < 3 ? now : 'operation_invalid_state';
  const step = { approve: 0, sign_term: 1, disburse: 2, process_repurchase: 4 }[decision];
  if (state === 'rejected' || place < step) return 'operation_invalid_state';
  return place === step ? now : done;
};

const has = (own: readonly Grant[], wanted: readonly Role[], fund?: string): boolean =>
  own.some(
    ({ role, funds }) => wanted.includes(role) && (fund === undefined || (funds?.includes(fund) ?? true)),
  );
/** What the roles say before anything else does. */
const byRole = (own: readonly Grant[], wanted: readonly Role[], unknown: string): string | undefined => {
  if (!has(own, wanted)) return 'role';
  if (!has(own, DESK_ROLES, FUND)) return unknown;
  return has(own, wanted, FUND) ? undefined : 'role';
};

const worldOf = async (state: string, rule: RuleName) => {
  const store = new InMemoryEventStore();
  const administrator = deskOver(store, fixedClock(), ['OP-1']);
  await receive(store, 'OP-1');
  for (const command of STATES[state]!)
    await commandHandler(store).handle({
      ...{ stream: loanStream(APPLICATION, 'OP-1'), applicationId: APPLICATION },
      ...{ actor: 'test', correlationId: 'test' },
      decide: (before) => loanDecider.decide(command, before),
    });
  if (RULES[rule]) await setRule(administrator, RULES[rule], signedIn('0'));
  return { store, administrator };
};
const personOf = (subject: string, own: readonly Grant[]): Person => ({
  ...{ issuer: 'https://id.example', subject, name: subject, grants: own },
});
/** As that person sees it, whose right to each of its calls is looked at. */
const seenBy = (administrator: Administrator, person: Person): Administrator => {
  const app = { administrator, loans: { fundOf: async () => FUND } } as unknown as App;
  return deskOf(app, person).administrator as Administrator;
};
const outcomeOf = async (answer: ReturnType<typeof decide>): Promise<string> => {
  try {
    return told(await answer);
  } catch (error) {
    if (error instanceof RoleError) return 'role';
    throw error;
  }
};

test.each(names)(
  '%s: who may decide what in which state is what roles, states and the rule say',
  async (rule) => {
    const expected: string[] = [];
    const found: string[] = [];
    for (const state of Object.keys(STATES))
      for (const decision of COVERABLE)
        for (const own of GRANTS) {
          const { administrator } = await worldOf(state, rule);
          const person = personOf('1', own);
          const desk = seenBy(administrator, person);
          const answer = outcomeOf(decide(desk, decision, { person }, { ...DETAILS[decision] }));
          const effect = rule === 'signed in' || rule === 'stated' ? 'awaiting_confirmation' : 'applied';
          const ruled = inState(state, decision).replace('takes effect', effect);
          const cell = `${state} ${decision} ${JSON.stringify(own)}`;
          expected.push(`${cell} ${byRole(own, ['maker'], 'loan_not_found') ?? ruled}`);
          found.push(`${cell} ${await answer}`);
        }
    expect(found).toEqual(expected);
  },
);

test.each<[Who, RuleName, string]>([
  [{ name: 'Ana' }, 'signed in', 'evidence_missing'],
  [{ name: 'Ana' }, 'stated', 'awaiting_confirmation'],
  [{}, 'stated', 'evidence_missing'],
  [{}, 'from more', 'applied'],
  [{ name: 'Ana', program: true }, 'stated', 'evidence_missing'],
  [{ program: true }, 'no rule', 'applied'],
])('without sign-in %j decides under "%s": %s', async (who, rule, effect) => {
  for (const state of Object.keys(STATES))
    for (const decision of COVERABLE) {
      const { administrator } = await worldOf(state, rule);
      const answer = told(await decide(administrator, decision, who, { ...DETAILS[decision] }));
      expect(`${state} ${decision} ${answer}`).toBe(
        `${state} ${decision} ${inState(state, decision).replace('takes effect', effect)}`,
      );
    }
});

test.each(['confirm', 'withdraw'] as const)('%s: who may, of what awaits', async (act) => {
  const wanted: readonly Role[] = act === 'confirm' ? ['checker'] : ['maker', 'checker'];
  for (const [state, decision] of [
    ['received', 'reject'],
    ['term_signed', 'disburse'],
    ['repurchase_pending', 'process_repurchase'],
  ] as const)
    for (const own of GRANTS)
      for (const subject of ['1', '2']) {
        const { store, administrator } = await worldOf(state, 'signed in');
        await decide(administrator, decision, { person: personOf('1', []) }, { ...DETAILS[decision] });
        const person = personOf(subject, own);
        const first = `D-${decision}`;
        const answer = await outcomeOf(second(seenBy(administrator, person), act, { person }, { first }));
        const decided = act === 'confirm' && subject === '1' ? 'own_decision' : 'applied';
        const cell = `${state} ${subject} ${JSON.stringify(own)}`;
        expect(`${cell} ${answer}`).toBe(`${cell} ${byRole(own, wanted, 'decision_not_found') ?? decided}`);
        expect(await administrator.confirmations.awaiting()).toHaveLength(answer === 'applied' ? 0 : 1);
        expect(await audited(store)).toEqual([]);
      }
});
