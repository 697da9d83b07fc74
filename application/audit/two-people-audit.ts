import { firstDecisions, isOpen, latest } from '../../domain/decision/first-decision.ts';
import type {
  DecisionAwaiting,
  DecisionConfirmed,
  DecisionEvent,
  DecisionsState,
  FirstDecision,
} from '../../domain/decision/first-decision.ts';
import { covers } from '../../domain/fund/four-eyes.ts';
import type { CoverableDecision, FourEyesEvent, FourEyesSet } from '../../domain/fund/four-eyes.ts';
import type { LoanEvent } from '../../domain/loan/index.ts';
import { stateAfter } from '../../domain/shared/decider.ts';
import type { Evidence } from '../../domain/shared/two-people.ts';
import { decidedStreamOf, parseLoanStream, FOUR_EYES_STREAM } from '../command-handling/operation.ts';
import { encodeEvent } from '../event-codec/event-codec.ts';
import type { RecordedEvent, EventStore } from '../ports/event-store.ts';
import { messageOf } from '../support/failures.ts';
import { sinceThenOf } from '../two-people/first-decisions.ts';
import { telling } from './difference.ts';
import type { Report, Tell } from './difference.ts';
import { decodeDecisions, decodeFourEyes } from './stored-events.ts';
import type { DecodedEvent } from './stored-events.ts';

/** Clocks of two machines differ, and a rule is a moment old before everybody reads it. */
const SLACK_MS = 2_000;

interface Since {
  readonly rule: FourEyesSet;
  /** Milliseconds. */
  readonly from: number;
}

export class RuleHistory {
  readonly #byFund = new Map<string, Since[]>();

  constructor(events: readonly DecodedEvent<FourEyesEvent>[]) {
    for (const { event, recorded } of events) {
      if (event.type !== 'FourEyesSet') continue;
      const from = Date.parse(recorded.metadata.recordedAt);
      this.#byFund.set(event.fundId, [...(this.#byFund.get(event.fundId) ?? []), { rule: event, from }]);
    }
  }

  /** Of the log as it is now. What cannot be read there is told where that stream is audited. */
  static async read(store: Pick<EventStore, 'read'>): Promise<RuleHistory> {
    const { events } = await store.read(FOUR_EYES_STREAM);
    return new RuleHistory(decodeFourEyes(events, () => undefined));
  }

  get isEmpty(): boolean {
    return this.#byFund.size === 0;
  }

  /** Every rule that a decision at this instant may have been made by; undefined where there may have been none yet. @param at ISO 8601 */
  at(fundId: string, at: string): readonly (FourEyesSet | undefined)[] {
    const instant = Date.parse(at);
    const all = this.#byFund.get(fundId) ?? [];
    const before = all.findLast(({ from }) => from <= instant - SLACK_MS);
    const around = all.filter(({ from }) => from > instant - SLACK_MS && from <= instant + SLACK_MS);
    return [before?.rule, ...around.map(({ rule }) => rule)];
  }

  /** The version that asked for two people then, whichever way one looks at it; undefined where one may have been enough. */
  needed(
    {
      fundId,
      decision,
      value,
    }: { readonly fundId: string; readonly decision: CoverableDecision; readonly value: number },
    at: string,
  ): number | undefined {
    const rules = this.at(fundId, at);
    return rules.every((rule) => covers(rule, decision, value)) ? rules.at(-1)?.version : undefined;
  }
}

const later = (events: readonly RecordedEvent[], { madeOn }: FirstDecision): readonly RecordedEvent[] =>
  events.filter(({ revision }) => revision > BigInt(madeOn));

interface Around {
  readonly operation: readonly RecordedEvent[];
  readonly rules: RuleHistory;
}

interface Step extends Around {
  /** When it was recorded, ISO 8601. */
  readonly at: string;
  readonly tell: Tell;
}

/** The rule that the event names has to be one of its moment, and to ask for what the event says. */
const checkRule = (event: DecisionAwaiting, { at, rules, tell }: Step): void => {
  const { fundId, ruleVersion, decision, value, evidence } = event;
  const rule = rules.at(fundId, at).find((one) => one?.version === ruleVersion);
  if (!rule) return tell('rule_version', 'a version of that moment', String(ruleVersion));
  if (!covers(rule, decision, value))
    tell('decision', `a decision that version ${ruleVersion} asks two people for`, decision);
  if (rule.evidence !== evidence) tell('evidence', rule.evidence, evidence);
};

const evidenceAt = (
  event: DecisionConfirmed,
  first: FirstDecision | undefined,
  { at, rules, tell }: Step,
): Evidence => {
  if (!first) return 'signed-in';
  const rule = rules.at(first.fundId, at).find((one) => one?.version === event.ruleVersion);
  if (!rule) tell('rule_version', 'a version of that moment', String(event.ruleVersion));
  return covers(rule, first.decision, first.value) ? rule.evidence : first.evidence;
};

const ended = (state: DecisionsState, { operation }: Around) => {
  const before = latest(state);
  return before && isOpen(before)
    ? sinceThenOf(before.first.firstDecisionId, later(operation, before.first))
    : 'unchanged';
};

/** Answers the fund that they are of. */
export const auditDecisions = (
  stream: string,
  events: readonly RecordedEvent[],
  around: Around,
  report: Report,
): string | undefined => {
  let state = firstDecisions.initialState;
  let fundId: string | undefined;
  const { applicationId } = parseLoanStream(decidedStreamOf(stream)) ?? {};
  for (const { event, recorded } of decodeDecisions(events, report)) {
    const { type, data: found, metadata } = recorded;
    const tell = telling(report, 'decision', recorded);
    try {
      const caused = decideAgain(event, state, { ...around, at: metadata.recordedAt, tell });
      const { type: wanted, data } = encodeEvent(caused);
      if (wanted !== type || data !== found) tell(type, data, found);
    } catch (error) {
      tell(type, messageOf(error), found);
    }
    if (event.type === 'DecisionAwaiting') fundId = event.fundId;
    for (const [what, expected, was] of [
      ['metadata.fundId', fundId, metadata.fundId],
      ['metadata.applicationId', applicationId, metadata.applicationId],
    ] as const)
      if (expected !== undefined && expected !== was) tell(what, expected, `${was}`);
    state = firstDecisions.evolve(state, event);
  }
  return fundId;
};

const decideAgain = (event: DecisionEvent, state: DecisionsState, step: Step): DecisionEvent => {
  const { firstDecisionId } = event;
  switch (event.type) {
    case 'DecisionAwaiting': {
      checkRule(event, step);
      const { type: _, ...first } = event;
      const caused = firstDecisions.decide(
        { type: 'DecideFirst', first, sinceThen: ended(state, step) },
        state,
      );
      return caused.at(-1)!;
    }
    case 'DecisionConfirmed': {
      const { ruleVersion, by, confirmedAt: now } = event;
      const evidence = evidenceAt(event, state.get(firstDecisionId)?.first, step);
      const [caused] = firstDecisions.decide(
        { type: 'ConfirmDecision', firstDecisionId, sinceThen: 'unchanged', ruleVersion, evidence, by, now },
        state,
      );
      return caused ?? event;
    }
    case 'DecisionWithdrawn': {
      const { by, withdrawnAt: now } = event;
      const [caused] = firstDecisions.decide(
        { type: 'WithdrawDecision', firstDecisionId, sinceThen: 'unchanged', by, now },
        state,
      );
      return caused ?? event;
    }
    case 'DecisionVoided':
      if (latest(state)?.first.firstDecisionId !== firstDecisionId || ended(state, step) !== 'changed')
        step.tell('decision.voided.v1', 'nothing happened to the operation', firstDecisionId);
      return event;
  }
};

type Decided = readonly [decision: CoverableDecision, value: number];

const decidedIn = (event: LoanEvent, acquisitionValue: number): Decided | undefined => {
  const { type } = event;
  if (type === 'LoanApproved') return ['approve', acquisitionValue];
  if (type === 'LoanRejected') return ['reject', acquisitionValue];
  if (type === 'LoanTermSigned') return ['sign_term', acquisitionValue];
  if (type === 'LoanDisbursed') return ['disburse', event.disbursedValue];
  return type === 'RepurchaseCompleted' ? ['process_repurchase', event.repurchaseValue] : undefined;
};

/** The sandbox's own administrator is bound by no rule; it says which event it answers to. */
const ofSandbox = ({ event, recorded: { metadata } }: DecodedEvent<LoanEvent>): boolean =>
  !('decision' in event) && metadata.correlationId === `sandbox-${metadata.causationId}`;

export const eyesOf = (event: LoanEvent) => ('decision' in event ? event.decision?.fourEyes : undefined);

const same = (one: unknown, other: unknown): boolean => JSON.stringify(one) === JSON.stringify(other);

/** What the event does has to be what the first person decided and the second one confirmed. */
const checkEyes = (
  { event, recorded }: DecodedEvent<LoanEvent>,
  {
    eyes,
    decided,
    tell,
  }: {
    readonly eyes: NonNullable<ReturnType<typeof eyesOf>>;
    readonly decided: Decided;
    readonly tell: Tell;
  },
  {
    decisions,
    operation,
  }: { readonly decisions: DecisionsState; readonly operation: readonly RecordedEvent[] },
): void => {
  const { firstDecisionId, ruleVersion, first: by, second } = eyes;
  const known = decisions.get(firstDecisionId);
  if (!known?.confirmed) return tell('four_eyes', 'a first decision that was confirmed', firstDecisionId);
  const { first, confirmed } = known;
  const stated = [...decided, ruleVersion, by, second];
  const made = [first.decision, first.value, confirmed.ruleVersion, first.by, confirmed.by];
  if (!same(stated, made)) tell('four_eyes', JSON.stringify(made), JSON.stringify(stated));
  const contents = [
    event.type === 'LoanRejected' ? event.reasons : undefined,
    event.type === 'LoanDisbursed' ? event.disbursementDate : undefined,
  ];
  if (!same(contents, [first.reasons, first.disbursementDate]))
    tell('four_eyes', 'what the first person decided', 'something else');
  const between = later(operation, first).filter(({ revision }) => revision < recorded.revision);
  if (sinceThenOf(firstDecisionId, between) !== 'unchanged')
    tell('four_eyes', 'an operation to which nothing happened since the first decision', firstDecisionId);
};

export const auditEyes = (
  decoded: readonly DecodedEvent<LoanEvent>[],
  { operation, rules }: Around,
  { decisions, sandbox }: { readonly decisions: readonly RecordedEvent[]; readonly sandbox: boolean },
  report: Report,
): void => {
  const known = stateAfter(
    firstDecisions,
    decodeDecisions(decisions, () => undefined).map(({ event }) => event),
  );
  const reception = decoded.find(({ event }) => event.type === 'LoanReceived')?.event;
  if (reception?.type !== 'LoanReceived') return;
  const { fundId, acquisitionValue } = reception;
  for (const one of decoded) {
    const decided = decidedIn(one.event, acquisitionValue);
    if (!decided) continue;
    const tell = telling(report, 'decision', one.recorded);
    const eyes = eyesOf(one.event);
    if (eyes) {
      checkEyes(one, { eyes, decided, tell }, { decisions: known, operation });
      continue;
    }
    if (sandbox && ofSandbox(one)) continue;
    const [decision, value] = decided;
    const needed = rules.needed({ fundId, decision, value }, one.recorded.metadata.recordedAt);
    if (needed !== undefined)
      tell(
        'four_eyes',
        `two people, by version ${needed} of the fund's rule`,
        `one: ${one.recorded.metadata.actor}`,
      );
  }
};
