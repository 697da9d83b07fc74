import type { Administrator } from '../../application/administrator/administrator.ts';
import type { DecisionAnswer } from '../../application/administrator/answers.ts';
import { collecting } from '../../application/audit/difference.ts';
import { RuleHistory } from '../../application/audit/two-people-audit.ts';
import { auditDecisions, auditEyes } from '../../application/audit/two-people-audit.ts';
import { checkStream, decodeOperation } from '../../application/audit/stored-events.ts';
import {
  FOUR_EYES_STREAM,
  decisionStreamOf,
  loanStream,
} from '../../application/command-handling/operation.ts';
import type { Person } from '../../application/desk/rights.ts';
import type { BusinessClock } from '../../application/ports/clock.ts';
import type { EventStore } from '../../application/ports/event-store.ts';
import type { Who } from '../../application/two-people/decided-stream.ts';
import type { CoverableDecision, FourEyes } from '../../domain/fund/four-eyes.ts';
import { loanDecider } from '../../domain/loan/index.ts';
import { cents } from '../../domain/shared/money.ts';
import { receiveL1 } from '../domain/support/loan-story.ts';
import { foundBeside } from './found-in-stream.ts';
import { administratorOf } from './administrator.ts';
import { commandHandler, fixedClock } from './application-parts.ts';

export const APPLICATION = 'acme';
export const FUND = receiveL1.fundId;
/** The acquisition value of every operation here, in reais. */
export const VALUE = 10_000;

export const ana: Who = { name: 'Ana' };
export const bia: Who = { name: 'Bia' };
export const signedIn = (subject: string, name = subject): Who => {
  const person: Person = { issuer: 'https://id.example', subject, name, grants: [] };
  return { name: 'console', person };
};

export const receive = async (store: EventStore, code: string, clock = fixedClock()): Promise<void> => {
  await commandHandler(store, clock).handle({
    ...{ stream: loanStream(APPLICATION, code), applicationId: APPLICATION },
    ...{ actor: 'client-1', correlationId: `req-${code}` },
    decide: (state) => loanDecider.decide({ ...receiveL1, code: code as never }, state),
  });
};

/** A process of its own at the desk, over a store that others may use too. */
export const deskOver = (
  store: EventStore,
  clock: BusinessClock = fixedClock(),
  codes: readonly string[] = [],
): Administrator => {
  const desk = administratorOf(store, clock as ReturnType<typeof fixedClock>);
  const pending = codes.map((code) => ({ applicationId: APPLICATION, code, fundId: FUND }));
  return Object.assign(desk, {
    worklists: Object.assign(desk.worklists, {
      pending: () => Promise.resolve(pending),
      of: () => desk.worklists,
    }),
  });
};

export const ruleOf = (
  evidence: FourEyes['evidence'],
  ...decisions: (readonly [CoverableDecision, from: number])[]
): FourEyes & { readonly fundId: string } => ({
  fundId: FUND,
  evidence,
  decisions: decisions.map(([decision, from]) => ({ decision, from: cents(from * 100) })),
});

let ids = 0;
export const setRule = (
  desk: Administrator,
  rule: ReturnType<typeof ruleOf>,
  who: Who,
  decisionId = `R-${++ids}`,
) => desk.rules.set(rule, { decisionId, actor: `administrator/${who.name}` }, who);

export const decide = async (
  desk: Administrator,
  decision: string,
  who: Who,
  {
    code = 'OP-1',
    id = `D-${decision}`,
    ...more
  }: { readonly code?: string; readonly id?: string; readonly [field: string]: unknown } = {},
): Promise<DecisionAnswer> => {
  const fields = { application_id: APPLICATION, originator_proposal_code: code, decision, ...more };
  return (await desk.submitAll([JSON.stringify({ decision_id: id, ...fields })], who))[0]!;
};

export const second = async (
  desk: Administrator,
  decision: 'confirm' | 'withdraw',
  who: Who,
  { first = 'D-approve', id = `S-${++ids}` }: { readonly first?: string; readonly id?: string } = {},
): Promise<DecisionAnswer> => {
  const text = JSON.stringify({ decision_id: id, decision, first_decision_id: first });
  return (await desk.submitAll([text], who))[0]!;
};

/** The outcome, or the reason why it was refused. */
export const told = (answer: DecisionAnswer): string =>
  answer.outcome === 'refused' ? answer.reason.code : answer.outcome;

export const typesOf = async (
  store: EventStore,
  stream = loanStream(APPLICATION, 'OP-1'),
): Promise<readonly string[]> =>
  (await store.read(stream)).events.map(({ type }) => type.replace(/^(loan|decision|fund)\.|\.v1$/g, ''));

export const decisionsOf = (store: EventStore, code = 'OP-1'): Promise<readonly string[]> =>
  typesOf(store, decisionStreamOf(loanStream(APPLICATION, code)));

/** What an audit of one operation, of its first decisions and of the rules finds. */
export const audited = async (
  store: EventStore,
  code = 'OP-1',
  sandbox = false,
): Promise<readonly string[]> => {
  const stream = loanStream(APPLICATION, code);
  const [{ events: operation }, { events: decisions }, { events: set }, rules] = await Promise.all([
    store.read(stream),
    store.read(decisionStreamOf(stream)),
    store.read(FOUR_EYES_STREAM),
    RuleHistory.read(store),
  ]);
  const decoded = decodeOperation(operation, () => undefined);
  const { differences, report } = collecting();
  checkStream(decisionStreamOf(stream), decisions, report);
  auditDecisions(decisionStreamOf(stream), decisions, { operation, rules }, report);
  auditEyes(decoded, { operation, rules }, { decisions, sandbox }, report);
  return [...foundBeside(FOUR_EYES_STREAM, set)!, ...differences].map(
    ({ stream: of, revision, what }) => `${of} @${revision} ${what}`,
  );
};
