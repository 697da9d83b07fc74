import type { LoanState } from '../../domain/loan/state.ts';
import type { RefusedDecision } from '../ports/decision-dead-letters.ts';
import { ChangedMeanwhileError } from './changed-meanwhile.ts';
import type { AnsweredDecision } from './decisions.ts';

export type DecisionAnswer =
  | {
      /** `already_applied`: carried out before, by it or another. `awaiting_confirmation`: this was the first of two. */
      readonly outcome: 'applied' | 'already_applied' | 'awaiting_confirmation';
      readonly decision: AnsweredDecision;
      /** `already_applied` because it is this very one, given again. */
      readonly repeated?: true;
      readonly status: LoanState['status'] | null;
    }
  | {
      readonly outcome: 'refused';
      readonly decisionId?: string;
      readonly decision?: AnsweredDecision;
      readonly reason: RefusedDecision['reason'];
      readonly meanwhile?: Pick<ChangedMeanwhileError, 'status' | 'changes'>;
    };

export const refused = (
  reason: RefusedDecision['reason'],
  { decisionId, decision }: { readonly decisionId?: string; readonly decision?: AnsweredDecision },
): DecisionAnswer => ({
  outcome: 'refused',
  ...(decisionId !== undefined && { decisionId }),
  ...(decision && { decision }),
  reason: { code: reason.code, message: reason.message, details: reason.details },
  ...(reason instanceof ChangedMeanwhileError && {
    meanwhile: { status: reason.status, changes: reason.changes },
  }),
});
