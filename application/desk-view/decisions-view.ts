import { loanNotFound } from '../../domain/loan/state.ts';
import { neverAwaited } from '../../domain/shared/two-people.ts';
import { refused } from '../administrator/answers.ts';
import type { DecisionAnswer } from '../administrator/answers.ts';
import { answeredAt } from '../administrator/confirmations.ts';
import type { SecondDecision, SubmittedDecision } from '../administrator/decisions.ts';
import { readDecision } from '../administrator/read-decision.ts';
import type { App } from '../app.ts';
import { RoleError } from '../desk/rights.ts';
import type { Rights } from '../desk/rights.ts';
import { MASKED, requireSeen, seesOperation } from './desk.ts';
import type { Desk } from './desk.ts';

const unknown = (decision: SubmittedDecision): DecisionAnswer =>
  refused(loanNotFound(), { decisionId: decision.decisionId, decision });

const unknownFirst = (second: SecondDecision): DecisionAnswer =>
  refused(neverAwaited(second.firstDecisionId), {
    decisionId: second.decisionId,
    decision: answeredAt(second, undefined),
  });

export const administratorFor = (
  { administrator, loans }: Pick<App, 'administrator' | 'loans'>,
  rights: Rights,
): Desk['administrator'] => {
  const lists = () => administrator.worklists.of(rights.within('see'));

  /** The answer to a decision of a fund that the person may not see. @throws RoleError for one of a fund in which they may not decide */
  const refusal = async (text: string): Promise<DecisionAnswer | undefined> => {
    const reading = readDecision(text);
    if (reading.kind === 'malformed') return undefined;
    if (reading.kind === 'second') return refusalOfSecond(reading.second);
    rights.within('decide');
    const { decision } = reading;
    const fundId = await loans.fundOf(decision.applicationId, decision.code);
    if (!seesOperation(rights, fundId)) return unknown(decision);
    if (!rights.has('decide', fundId)) throw new RoleError('decide');
    return undefined;
  };

  /** The same for what a second person says of a decision, whatever became of that. @throws RoleError */
  const refusalOfSecond = async (second: SecondDecision): Promise<DecisionAnswer | undefined> => {
    const right = second.decision === 'confirm' ? 'confirm' : 'withdraw';
    if (rights.within(right) === undefined) return undefined;
    const place = await administrator.confirmations.placeOf(second);
    const fundId = place && (await administrator.confirmations.fundOf(second, place));
    if (fundId === undefined || !rights.has('see', fundId)) return unknownFirst(second);
    if (!rights.has(right, fundId)) throw new RoleError(right);
    return undefined;
  };

  return {
    get disbursementTolerance() {
      return administrator.disbursementTolerance;
    },
    worklists: {
      waiting: async () => lists().waiting(),
      worklist: async (query) => lists().worklist(query),
      fallingDue: async (from, to) => lists().fallingDue(from, to),
      overdue: async (today) => lists().overdue(today),
      notified: async (from, to) => lists().notified(from, to),
      stillWaiting: async (operations) =>
        administrator.worklists.of(rights.within('decide')).stillWaiting(operations),
    },
    confirmations: {
      async awaiting(fundId) {
        const found = await administrator.confirmations.awaiting(fundId, (of) => rights.has('see', of));
        return found.map((one) =>
          rights.has('borrowers', one.fundId) || one.first?.note === undefined
            ? one
            : { ...one, first: { ...one.first, note: MASKED } },
        );
      },
      async awaitsOn(operation) {
        const fundId = await loans.fundOf(operation.applicationId, operation.code);
        return seesOperation(rights, fundId) && administrator.confirmations.awaitsOn(operation);
      },
    },
    rules: {
      async current() {
        const { rules } = await administrator.rules.current();
        return { rules: new Map([...rules].filter(([fundId]) => rights.has('see', fundId))) };
      },
      async set(rule, asked, by) {
        requireSeen(rights, rule.fundId);
        rights.require('configure', rule.fundId);
        return administrator.rules.set(rule, asked, by);
      },
    },
    async found(applicationId, code, since) {
      rights.within('decide');
      const fundId = await loans.fundOf(applicationId, code);
      if (fundId === undefined || !rights.has('decide', fundId)) return undefined;
      return administrator.found(applicationId, code, since);
    },
    /** Nothing is carried out where one of them is refused for the person's role. */
    async submitAll(texts, who) {
      const refusals = await Promise.all(texts.map(refusal));
      const allowed = texts.filter((_, i) => refusals[i] === undefined);
      const answers = (await administrator.submitAll(allowed, who)).values();
      return refusals.map((one) => one ?? answers.next().value!);
    },
  };
};
