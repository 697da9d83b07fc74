import type { Decider } from '../shared/decider.ts';
import { DomainError } from '../shared/domain-error.ts';
import type { FundId, Timestamp } from '../shared/identifiers.ts';
import { LARGEST_AMOUNT, formatCents } from '../shared/money.ts';
import type { Cents } from '../shared/money.ts';
import { neverAwaited, requireAnother, requireEvidence } from '../shared/two-people.ts';
import type { Evidence, Somebody } from '../shared/two-people.ts';

export const COVERABLE = ['approve', 'reject', 'sign_term', 'disburse', 'process_repurchase'] as const;
export type CoverableDecision = (typeof COVERABLE)[number];

export interface Covered {
  readonly decision: CoverableDecision;
  readonly from: Cents;
}

/** What a fund asks two people for; nothing where no decision is listed. */
export interface FourEyes {
  /** In the order of `COVERABLE`, each at most once. */
  readonly decisions: readonly Covered[];
  readonly evidence: Evidence;
}

interface Proposed extends FourEyes {
  readonly fundId: FundId;
  readonly proposalId: string;
  readonly by: Somebody;
  readonly proposedAt: Timestamp;
}

export interface FourEyesSet extends FourEyes {
  readonly type: 'FourEyesSet';
  readonly fundId: FundId;
  readonly version: number;
  readonly by: Somebody;
  readonly setAt: Timestamp;
  /** Which proposal `by` has confirmed; absent where the rule asks for no less than before. */
  readonly proposalId?: string;
}

export interface FourEyesProposed extends Proposed {
  readonly type: 'FourEyesProposed';
}

interface FourEyesWithdrawn {
  readonly type: 'FourEyesWithdrawn';
  readonly fundId: FundId;
  readonly proposalId: string;
  readonly by: Somebody;
  readonly withdrawnAt: Timestamp;
}

export type FourEyesEvent = FourEyesSet | FourEyesProposed | FourEyesWithdrawn;

type FourEyesCommand =
  | (Omit<Proposed, 'proposedAt'> & { readonly type: 'SetFourEyes'; readonly now: Timestamp })
  | {
      readonly type: 'ConfirmFourEyes' | 'WithdrawFourEyes';
      readonly proposalId: string;
      readonly by: Somebody;
      readonly now: Timestamp;
    };

export interface FundRule extends FourEyes {
  readonly version: number;
  readonly proposal?: Proposed;
}

interface Proposal {
  readonly fundId: FundId;
  readonly standing: 'awaiting' | 'in_force' | 'withdrawn' | 'void';
}

export interface FourEyesState {
  readonly rules: ReadonlyMap<FundId, FundRule>;
  readonly proposals: ReadonlyMap<string, Proposal>;
}

const NO_RULE: FundRule = { version: 0, decisions: [], evidence: 'signed-in' };

const invalid = (message: string): DomainError =>
  new DomainError('validation_error', message, [{ field: 'decisions', code: 'invalid', message }]);

/** In the order of all rules, so that equal ones are equal texts. */
const inOrder = (decisions: readonly Covered[]): readonly Covered[] => {
  const ordered = COVERABLE.flatMap((name) => decisions.filter(({ decision }) => decision === name));
  if (new Set(ordered.map(({ decision }) => decision)).size < decisions.length)
    throw invalid('each decision is named once');
  if (ordered.some(({ from }) => !Number.isSafeInteger(from) || from < 0 || from > LARGEST_AMOUNT))
    throw invalid(`the value from which two people are needed is 0.00 to ${formatCents(LARGEST_AMOUNT)}`);
  return ordered;
};

const sameRule = (one: FourEyes, other: FourEyes): boolean =>
  one.decisions.length === other.decisions.length &&
  one.decisions.every(
    ({ decision, from }, i) => other.decisions[i]?.decision === decision && other.decisions[i].from === from,
  ) &&
  (one.decisions.length === 0 || one.evidence === other.evidence);

/** Whether anything that needs two people now would need less. */
const isWeaker = (before: FourEyes, after: FourEyes): boolean => {
  if (before.decisions.length === 0) return false;
  if (before.evidence === 'signed-in' && after.evidence === 'stated') return true;
  return before.decisions.some(
    ({ decision, from }) => !after.decisions.some((one) => one.decision === decision && one.from <= from),
  );
};

/** Whether the fund asks two people for this decision. @param value in cents */
export const covers = (
  rule: FourEyes | undefined,
  decision: CoverableDecision,
  value: number,
): rule is FourEyes => rule?.decisions.some((one) => one.decision === decision && value >= one.from) ?? false;

type SetCommand = Extract<FourEyesCommand, { type: 'SetFourEyes' }>;

const set = (
  { fundId, proposalId, by, now, ...asked }: SetCommand,
  { rules }: FourEyesState,
): readonly FourEyesEvent[] => {
  const before = rules.get(fundId) ?? NO_RULE;
  const rule = { decisions: inOrder(asked.decisions), evidence: asked.evidence };
  if (sameRule(before, rule)) return [];
  if (!isWeaker(before, rule))
    return [{ type: 'FourEyesSet', fundId, version: before.version + 1, ...rule, by, setAt: now }];
  if (before.proposal)
    throw new DomainError(
      'already_awaiting',
      `another rule of this fund awaits confirmation already: ${before.proposal.proposalId}; confirm or withdraw it first`,
    );
  requireEvidence(before.evidence, by);
  return [{ type: 'FourEyesProposed', fundId, proposalId, ...rule, by, proposedAt: now }];
};

const settle = (
  { type, proposalId, by, now }: Exclude<FourEyesCommand, SetCommand>,
  { rules, proposals }: FourEyesState,
): readonly FourEyesEvent[] => {
  const known = proposals.get(proposalId);
  if (!known) throw neverAwaited(proposalId);
  const { fundId, standing } = known;
  if (type === 'ConfirmFourEyes' && standing === 'in_force') return [];
  if (type === 'WithdrawFourEyes' && standing === 'withdrawn') return [];
  const rule = rules.get(fundId) ?? NO_RULE;
  if (standing !== 'awaiting' || !rule.proposal)
    throw new DomainError('decision_void', `the rule ${proposalId} awaits confirmation no more`);
  if (type === 'WithdrawFourEyes')
    return [{ type: 'FourEyesWithdrawn', fundId, proposalId, by, withdrawnAt: now }];
  const { decisions, evidence, by: first } = rule.proposal;
  requireEvidence(rule.evidence, first);
  requireEvidence(rule.evidence, by);
  requireAnother(rule.evidence, first, by);
  const version = rule.version + 1;
  return [{ type: 'FourEyesSet', fundId, version, decisions, evidence, by, setAt: now, proposalId }];
};

const withProposal = (
  { proposals }: FourEyesState,
  proposalId: string | undefined,
  proposal: Proposal,
): ReadonlyMap<string, Proposal> =>
  proposalId === undefined ? proposals : new Map([...proposals, [proposalId, proposal]]);

const evolve = (state: FourEyesState, event: FourEyesEvent): FourEyesState => {
  const { fundId } = event;
  const { proposal, ...rule } = state.rules.get(fundId) ?? NO_RULE;
  const rules = (now: FundRule) => new Map([...state.rules, [fundId, now]]);
  switch (event.type) {
    case 'FourEyesSet': {
      const { version, decisions, evidence, proposalId } = event;
      // A rule that was set meanwhile leaves nothing of what was proposed on the one before.
      const ended = withProposal(state, proposal?.proposalId, { fundId, standing: 'void' });
      const proposals = withProposal({ ...state, proposals: ended }, proposalId, {
        fundId,
        standing: 'in_force',
      });
      return { rules: rules({ version, decisions, evidence }), proposals };
    }
    case 'FourEyesProposed': {
      const { type: _, ...proposed } = event;
      const proposals = withProposal(state, event.proposalId, { fundId, standing: 'awaiting' });
      return { rules: rules({ ...rule, proposal: proposed }), proposals };
    }
    case 'FourEyesWithdrawn':
      return {
        rules: rules(rule),
        proposals: withProposal(state, event.proposalId, { fundId, standing: 'withdrawn' }),
      };
  }
};

/** Which decisions of which fund two people make. Asking for less is decided by two as well. */
export const fourEyesDecider: Decider<FourEyesState, FourEyesCommand, FourEyesEvent> = {
  initialState: { rules: new Map(), proposals: new Map() },
  decide: (command, state) => (command.type === 'SetFourEyes' ? set(command, state) : settle(command, state)),
  evolve,
};
