import { hash } from 'node:crypto';
import type { DecisionRecord, LoanCommand, RejectionReason } from '../../domain/loan/index.ts';
import type { CalendarDate } from '../../domain/shared/calendar-date.ts';
import type { Timestamp } from '../../domain/shared/identifiers.ts';
import type { Cents } from '../../domain/shared/money.ts';
import { canonicalText } from '../command-handling/fingerprint.ts';
import type { RefusedDecision } from '../ports/decision-source.ts';

interface OfOperation {
  readonly decisionId: string;
  readonly applicationId: string;
  /** originator_proposal_code */
  readonly code: string;
  /** Default: when it is carried out. */
  readonly decidedAt?: Timestamp;
  readonly note?: string;
}

/** A decision whose form is right; whether the operation allows it is another question. */
export type SubmittedDecision = OfOperation &
  (
    | { readonly decision: 'approve' | 'sign_term' | 'process_repurchase' }
    | { readonly decision: 'reject'; readonly reasons: readonly RejectionReason[] }
    | {
        readonly decision: 'disburse';
        readonly disbursementDate: CalendarDate;
        readonly disbursedValue: Cents;
      }
  );

const recordOf = ({ decidedAt, note }: SubmittedDecision, now: Timestamp): DecisionRecord => ({
  decidedAt: decidedAt ?? now,
  ...(note !== undefined && { note }),
});

export const commandOf = (submitted: SubmittedDecision, now: Timestamp): LoanCommand => {
  const common = { now, decision: recordOf(submitted, now) };
  switch (submitted.decision) {
    case 'approve':
      return { type: 'ApproveLoan', ...common };
    case 'reject':
      return { type: 'RejectLoan', reasons: submitted.reasons, ...common };
    case 'sign_term':
      return { type: 'SignLoanTerm', ...common };
    case 'disburse': {
      const { disbursementDate, disbursedValue } = submitted;
      return { type: 'DisburseLoan', disbursementDate, disbursedValue, ...common };
    }
    case 'process_repurchase':
      return { type: 'CompleteRepurchase', ...common };
  }
};

/** Equal for equal contents, whatever the order of the fields was; its own id is left out. */
export const fingerprintOf = (submitted: SubmittedDecision): string => {
  const { decisionId: _, ...contents } = submitted;
  const reasons =
    contents.decision === 'reject'
      ? contents.reasons.map(({ code, message }) => ({ code, message }))
      : undefined;
  return hash('sha256', canonicalText({ ...contents, reasons }));
};

/** One line of JSON, as the schema RefusedDecision describes it: what every kind of dead letter holds. */
export const deadLetterText = ({ decisionId, origin, text, reason, refusedAt }: RefusedDecision): string =>
  JSON.stringify({
    ...(decisionId !== undefined && { decision_id: decisionId }),
    origin,
    text,
    reason: {
      code: reason.code,
      message: reason.message,
      details: reason.details.map(({ field, code, message }) => ({ field, code, message })),
    },
    refused_at: refusedAt,
  });
