import type { CoverableDecision } from '../fund/four-eyes.ts';
import type { RejectionReason } from '../loan/events.ts';
import type { CalendarDate } from '../shared/calendar-date.ts';
import type { Decider } from '../shared/decider.ts';
import { DomainError } from '../shared/domain-error.ts';
import type { FundId, Timestamp } from '../shared/identifiers.ts';
import type { Cents } from '../shared/money.ts';
import { neverAwaited, requireAnother, requireEvidence, strictest } from '../shared/two-people.ts';
import type { Evidence, Somebody } from '../shared/two-people.ts';

export interface FirstDecision {
  readonly firstDecisionId: string;
  readonly fundId: FundId;
  readonly decision: CoverableDecision;
  readonly value: Cents;
  readonly reasons?: readonly RejectionReason[];
  readonly disbursementDate?: CalendarDate;
  readonly disbursedValue?: Cents;
  readonly decidedAt: Timestamp;
  readonly note?: string;
  /** Revision of the operation's last event by then. */
  readonly madeOn: number;
  readonly ruleVersion: number;
  readonly evidence: Evidence;
  readonly by: Somebody;
  readonly awaitingSince: Timestamp;
}

export interface DecisionAwaiting extends FirstDecision {
  readonly type: 'DecisionAwaiting';
}

/** From here on it takes effect, whoever carries it out, unless something happened to the operation before. */
export interface DecisionConfirmed {
  readonly type: 'DecisionConfirmed';
  readonly firstDecisionId: string;
  readonly ruleVersion: number;
  readonly by: Somebody;
  readonly confirmedAt: Timestamp;
}

interface DecisionWithdrawn {
  readonly type: 'DecisionWithdrawn';
  readonly firstDecisionId: string;
  readonly by: Somebody;
  readonly withdrawnAt: Timestamp;
}

/** Something happened to the operation before it took effect; recorded when the next one is made. */
interface DecisionVoided {
  readonly type: 'DecisionVoided';
  readonly firstDecisionId: string;
  readonly voidedAt: Timestamp;
}

export type DecisionEvent = DecisionAwaiting | DecisionConfirmed | DecisionWithdrawn | DecisionVoided;

/** What became of the operation since the first decision: nothing but overdue marks, something else, or the decision itself. */
export type SinceThen = 'unchanged' | 'changed' | 'carried_out';

type DecisionCommand =
  /** `sinceThen` of the one before it, where there is one. */
  | { readonly type: 'DecideFirst'; readonly first: FirstDecision; readonly sinceThen: SinceThen }
  | {
      readonly type: 'ConfirmDecision';
      readonly firstDecisionId: string;
      readonly sinceThen: SinceThen;
      readonly ruleVersion: number;
      readonly evidence: Evidence;
      readonly by: Somebody;
      readonly now: Timestamp;
    }
  | {
      readonly type: 'WithdrawDecision';
      readonly firstDecisionId: string;
      readonly sinceThen: SinceThen;
      readonly by: Somebody;
      readonly now: Timestamp;
    };

interface KnownDecision {
  readonly first: FirstDecision;
  readonly standing: 'awaiting' | 'confirmed' | 'withdrawn' | 'void';
  readonly confirmed?: DecisionConfirmed;
}

/** Those on one operation, oldest first, by their id. */
export type DecisionsState = ReadonlyMap<string, KnownDecision>;

export const latest = (state: DecisionsState): KnownDecision | undefined => [...state.values()].at(-1);

/** Whether it may still take effect, as far as its own events say. */
export const isOpen = ({ standing }: KnownDecision): boolean =>
  standing === 'awaiting' || standing === 'confirmed';

type Of<Type extends DecisionCommand['type']> = Extract<DecisionCommand, { type: Type }>;

const decideFirst = (
  { first, sinceThen }: Of<'DecideFirst'>,
  state: DecisionsState,
): readonly DecisionEvent[] => {
  requireEvidence(first.evidence, first.by);
  const awaiting: DecisionAwaiting = { type: 'DecisionAwaiting', ...first };
  const before = latest(state);
  if (!before || !isOpen(before) || sinceThen === 'carried_out') return [awaiting];
  const { firstDecisionId, decision } = before.first;
  if (sinceThen === 'unchanged')
    throw new DomainError(
      'already_awaiting',
      `the decision ${firstDecisionId} (${decision}) on this operation awaits confirmation; confirm or withdraw it first`,
    );
  return [{ type: 'DecisionVoided', firstDecisionId, voidedAt: first.awaitingSince }, awaiting];
};

const find = (id: string, state: DecisionsState): KnownDecision => {
  const known = state.get(id);
  if (known) return known;
  throw neverAwaited(id);
};

const isVoid = (id: string, why: string): DomainError =>
  new DomainError('decision_void', `the decision ${id} ${why}`);

const CHANGED = 'is void, because something happened to the operation since; decide anew';

const confirm = (command: Of<'ConfirmDecision'>, state: DecisionsState): readonly DecisionEvent[] => {
  const { firstDecisionId: id, sinceThen, ruleVersion, by, now } = command;
  const { first, standing } = find(id, state);
  if (sinceThen === 'carried_out') return [];
  if (standing === 'withdrawn') throw isVoid(id, 'was withdrawn');
  if (standing === 'void' || sinceThen === 'changed') throw isVoid(id, CHANGED);
  const evidence = strictest(first.evidence, command.evidence);
  if (standing === 'awaiting') {
    requireEvidence(evidence, by);
    requireEvidence(evidence, first.by);
  }
  requireAnother(evidence, first.by, by);
  // Confirmed, and not yet carried out: that is left to do.
  if (standing === 'confirmed') return [];
  return [{ type: 'DecisionConfirmed', firstDecisionId: id, ruleVersion, by, confirmedAt: now }];
};

const withdraw = (
  { firstDecisionId: id, sinceThen, by, now }: Of<'WithdrawDecision'>,
  state: DecisionsState,
): readonly DecisionEvent[] => {
  const { standing } = find(id, state);
  if (sinceThen === 'carried_out') throw isVoid(id, 'has taken effect');
  if (standing === 'withdrawn') return [];
  if (standing === 'void' || sinceThen === 'changed') throw isVoid(id, CHANGED);
  if (standing === 'confirmed') throw isVoid(id, 'is confirmed');
  return [{ type: 'DecisionWithdrawn', firstDecisionId: id, by, withdrawnAt: now }];
};

const evolve = (state: DecisionsState, event: DecisionEvent): DecisionsState => {
  if (event.type === 'DecisionAwaiting') {
    const { type: _, ...first } = event;
    return new Map([...state, [event.firstDecisionId, { first, standing: 'awaiting' }]]);
  }
  const known = state.get(event.firstDecisionId);
  if (!known) return state;
  const { first } = known;
  const now: KnownDecision =
    event.type === 'DecisionConfirmed'
      ? { first, standing: 'confirmed', confirmed: event }
      : { first, standing: event.type === 'DecisionWithdrawn' ? 'withdrawn' : 'void' };
  return new Map([...state, [event.firstDecisionId, now]]);
};

/** First decisions on one operation: one at a time, and void as soon as anything but an overdue mark happens to it. */
export const firstDecisions: Decider<DecisionsState, DecisionCommand, DecisionEvent> = {
  initialState: new Map(),
  decide: (command, state) => {
    switch (command.type) {
      case 'DecideFirst':
        return decideFirst(command, state);
      case 'ConfirmDecision':
        return confirm(command, state);
      case 'WithdrawDecision':
        return withdraw(command, state);
    }
  },
  evolve,
};
