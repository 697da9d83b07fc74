import type { DecisionAnswer } from '../administrator/administrator.ts';
import { readDecision } from '../administrator/decisions.ts';
import type { App } from '../app.ts';
import { RoleError } from '../desk/rights.ts';
import type { Rights } from '../desk/rights.ts';
import type { Desk } from './desk.ts';
import { seesOperation } from './unseen.ts';

/** As a decision on an operation is answered that there is none of. */
const unknown = (
  decision: Extract<DecisionAnswer, { outcome: 'applied' | 'already_applied' }>['decision'],
) => {
  const message = 'no operation has this code; check originator_proposal_code';
  const details = [{ field: 'originator_proposal_code', code: 'loan_not_found', message }];
  const reason = { code: 'loan_not_found', message, details };
  return { outcome: 'refused', decisionId: decision.decisionId, decision, reason } as const;
};

export const administratorFor = (
  { administrator, loans }: Pick<App, 'administrator' | 'loans'>,
  rights: Rights,
): Desk['administrator'] => {
  const lists = () => administrator.worklists.of(rights.within('see'));

  /** The answer to a decision of a fund that the person may not see. @throws RoleError for one of a fund in which they may not decide */
  const refusal = async (text: string): Promise<DecisionAnswer | undefined> => {
    const reading = readDecision(text);
    if (reading.kind === 'malformed') return undefined;
    const { decision } = reading;
    const fundId = await loans.fundOf(decision.applicationId, decision.code);
    if (!seesOperation(rights, fundId)) return unknown(decision);
    if (!rights.has('decide', fundId)) throw new RoleError('decide');
    return undefined;
  };

  return {
    disbursementTolerance: administrator.disbursementTolerance,
    worklists: {
      waiting: async () => lists().waiting(),
      worklist: async (query) => lists().worklist(query),
      fallingDue: async (from, to) => lists().fallingDue(from, to),
      notified: async (from, to) => lists().notified(from, to),
      /** Asked for what is to be decided. */
      stillWaiting: async (operations) =>
        administrator.worklists.of(rights.within('decide')).stillWaiting(operations),
    },
    async found(applicationId, code, since) {
      rights.within('decide');
      const fundId = await loans.fundOf(applicationId, code);
      if (fundId === undefined || !rights.has('decide', fundId)) return undefined;
      return administrator.found(applicationId, code, since);
    },
    /** Nothing is carried out where one of them is refused for the person's role. */
    async submitAll(texts, operator) {
      rights.within('decide');
      const refusals = await Promise.all(texts.map(refusal));
      const allowed = texts.filter((_, i) => refusals[i] === undefined);
      const answers = (await administrator.submitAll(allowed, operator)).values();
      return refusals.map((one) => one ?? answers.next().value!);
    },
  };
};
