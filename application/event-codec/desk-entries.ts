import type { DecisionEvent } from '../../domain/decision/first-decision.ts';
import type { DeskEvent } from '../../domain/desk/line.ts';
import type { Covered, FourEyesEvent } from '../../domain/fund/four-eyes.ts';
import type { DecisionRecord, RejectionReason } from '../../domain/loan/events.ts';
import type { Somebody } from '../../domain/shared/two-people.ts';
import { entry, integer, list, object, optional, shape, text } from './fields.ts';
import type { EntriesOf } from './fields.ts';

const somebody = shape<Somebody>({
  name: optional(text('name')),
  issuer: optional(text('issuer')),
  subject: optional(text('subject')),
});

const bothDeciders = shape<NonNullable<DecisionRecord['fourEyes']>>({
  ruleVersion: integer('rule_version'),
  firstDecisionId: text('first_decision_id'),
  first: object('first', somebody),
  second: object('second', somebody),
});

export const decision = shape<DecisionRecord>({
  decidedAt: text('decided_at'),
  note: optional(text('note')),
  fourEyes: optional(object('four_eyes', bothDeciders)),
});

const covered = shape<Covered>({ decision: text('decision'), from: integer('from') });

export const fourEyesEntries: EntriesOf<FourEyesEvent> = {
  FourEyesSet: entry('FourEyesSet', 'fund.four_eyes_set.v1', {
    fundId: text('fund_id'),
    version: integer('version'),
    decisions: list('decisions', covered),
    evidence: text('evidence'),
    by: object('by', somebody),
    setAt: text('set_at'),
    proposalId: optional(text('proposal_id')),
  }),
  FourEyesProposed: entry('FourEyesProposed', 'fund.four_eyes_proposed.v1', {
    fundId: text('fund_id'),
    proposalId: text('proposal_id'),
    decisions: list('decisions', covered),
    evidence: text('evidence'),
    by: object('by', somebody),
    proposedAt: text('proposed_at'),
  }),
  FourEyesWithdrawn: entry('FourEyesWithdrawn', 'fund.four_eyes_withdrawn.v1', {
    fundId: text('fund_id'),
    proposalId: text('proposal_id'),
    by: object('by', somebody),
    withdrawnAt: text('withdrawn_at'),
  }),
};

export const decisionEntries: EntriesOf<DecisionEvent> = {
  DecisionAwaiting: entry('DecisionAwaiting', 'decision.awaiting.v1', {
    firstDecisionId: text('first_decision_id'),
    fundId: text('fund_id'),
    decision: text('decision'),
    value: integer('value'),
    reasons: optional(
      list('reasons', shape<RejectionReason>({ code: text('code'), message: text('message') })),
    ),
    disbursementDate: optional(text('disbursement_date')),
    disbursedValue: optional(integer('disbursed_value')),
    decidedAt: text('decided_at'),
    note: optional(text('note')),
    madeOn: integer('made_on'),
    ruleVersion: integer('rule_version'),
    evidence: text('evidence'),
    by: object('by', somebody),
    awaitingSince: text('awaiting_since'),
  }),
  DecisionConfirmed: entry('DecisionConfirmed', 'decision.confirmed.v1', {
    firstDecisionId: text('first_decision_id'),
    ruleVersion: integer('rule_version'),
    by: object('by', somebody),
    confirmedAt: text('confirmed_at'),
  }),
  DecisionWithdrawn: entry('DecisionWithdrawn', 'decision.withdrawn.v1', {
    firstDecisionId: text('first_decision_id'),
    by: object('by', somebody),
    withdrawnAt: text('withdrawn_at'),
  }),
  DecisionVoided: entry('DecisionVoided', 'decision.voided.v1', {
    firstDecisionId: text('first_decision_id'),
    voidedAt: text('voided_at'),
  }),
};

/** Events of the desk log: ids and codes, and nothing that would have to be sealed. */
export const deskEntries: EntriesOf<DeskEvent> = {
  DeskLineWritten: entry('DeskLineWritten', 'desk.line_written.v1', {
    at: text('at'),
    way: text('way'),
    issuer: optional(text('issuer')),
    subject: optional(text('subject')),
    name: text('name'),
    action: text('action'),
    outcome: text('outcome'),
    reason: optional(text('reason')),
    applicationId: optional(text('application_id')),
    fundId: optional(text('fund_id')),
    code: optional(text('originator_proposal_code')),
    documentId: optional(text('document_id')),
    decision: optional(text('decision')),
    decisionId: optional(text('decision_id')),
    count: optional(integer('count')),
    sum: optional(integer('sum')),
  }),
  DeskDayBegun: entry('DeskDayBegun', 'desk.day_begun.v1', {
    stream: text('stream'),
    day: text('day'),
    begunAt: text('begun_at'),
  }),
};
