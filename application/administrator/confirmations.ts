import { hash } from 'node:crypto';
import type { ConfirmedDecision, FirstDecisions } from '../two-people/first-decisions.ts';
import type { FirstDecision } from '../../domain/decision/first-decision.ts';
import { covers } from '../../domain/fund/four-eyes.ts';
import type { FourEyes } from '../../domain/fund/four-eyes.ts';
import { fold, loanDecider } from '../../domain/loan/index.ts';
import type { LoanState } from '../../domain/loan/state.ts';
import { DomainError } from '../../domain/shared/domain-error.ts';
import { cents } from '../../domain/shared/money.ts';
import type { Cents } from '../../domain/shared/money.ts';
import { neverAwaited } from '../../domain/shared/two-people.ts';
import { CONFIRMED_KEYS } from '../command-handling/endpoints.ts';
import {
  DECISION_STREAM_PREFIX,
  FOUR_EYES_STREAM,
  canonicalText,
  decidedStreamOf,
  loanStream,
  parseLoanStream,
} from '../command-handling/operation.ts';
import type { OperationPlace } from '../command-handling/operation.ts';
import { decodeLoanEvent } from '../event-codec/event-codec.ts';
import type { BusinessClock } from '../ports/clock.ts';
import type { EventStore, StreamRevision } from '../ports/event-store.ts';
import { claimOfDecision } from '../two-people/decided-stream.ts';
import type { Who } from '../two-people/decided-stream.ts';
import type { FundRules } from '../two-people/fund-rules.ts';
import type { DecisionAnswer } from './answers.ts';
import { actorNamed } from '../command-handling/actors.ts';
import { commandOf, fingerprintOf, submittedOf } from './decisions.ts';
import type { AnsweredDecision, CarryOut, SecondDecision, SubmittedDecision } from './decisions.ts';
import type { Worklists } from './worklists.ts';

interface Dependencies {
  readonly events: Pick<EventStore, 'findClaim' | 'read'>;
  readonly clock: BusinessClock;
  readonly firstDecisions: FirstDecisions;
  readonly rules: FundRules;
  readonly carryOut: CarryOut;
  readonly worklists: Pick<Worklists, 'of'>;
}

export interface AwaitingDecision {
  readonly firstDecisionId: string;
  readonly applicationId: string | null;
  readonly code: string | null;
  readonly fundId: string;
  readonly decision: FirstDecision['decision'] | 'four_eyes';
  /** In cents; null for a rule. */
  readonly value: number | null;
  readonly by: string | null;
  readonly since: string;
  readonly first?: FirstDecision;
  readonly rule?: FourEyes;
}

type Made = Omit<FirstDecision, 'by' | 'awaitingSince'>;

const AT_ONCE = 32;

const valueOf = (submitted: SubmittedDecision, state: LoanState): Cents => {
  if (submitted.decision === 'disburse') return submitted.disbursedValue;
  if (submitted.decision === 'process_repurchase' && 'repurchase' in state)
    return state.repurchase.repurchaseValue;
  return 'acquisitionValue' in state ? state.acquisitionValue : cents(0);
};

export class Confirmations {
  readonly #deps: Dependencies;

  constructor(dependencies: Dependencies) {
    this.#deps = dependencies;
  }

  /** What this decision would await confirmation as, on the operation at this revision; undefined where one person is enough. */
  async neededFor(
    submitted: SubmittedDecision,
    state: LoanState,
    revision: StreamRevision,
  ): Promise<Made | undefined> {
    if (!('fundId' in state) || revision === 'no_stream') return undefined;
    const { decision, decisionId, decidedAt = this.#deps.clock.now(), note } = submitted;
    const { fundId } = state;
    const rule = (await this.#deps.rules.current()).rules.get(fundId);
    const value = valueOf(submitted, state);
    if (!covers(rule, decision, value)) return undefined;
    return {
      ...{ firstDecisionId: decisionId, fundId, decision, value, decidedAt, madeOn: Number(revision) },
      ...{ ruleVersion: rule.version, evidence: rule.evidence },
      ...(note !== undefined && { note }),
      ...(submitted.decision === 'reject' && { reasons: submitted.reasons }),
      ...(submitted.decision === 'disburse' && {
        disbursementDate: submitted.disbursementDate,
        disbursedValue: submitted.disbursedValue,
      }),
    };
  }

  /** @throws DomainError `already_awaiting`, `evidence_missing`, `idempotency_conflict` */
  async decideFirst(submitted: SubmittedDecision, made: Made, who: Who): Promise<DecisionAnswer> {
    const { applicationId, code, decisionId } = submitted;
    const stream = loanStream(applicationId, code);
    const asked = { decisionId, actor: actorNamed(who.name), fingerprint: fingerprintOf(submitted) };
    await this.#deps.firstDecisions.decide(stream, made, asked, who);
    // It has awaited by now, whatever became of it since.
    return (await this.sentBefore(submitted))!;
  }

  /** The answer to a first decision that is given again; undefined where this is none. @throws DomainError `decision_void` */
  async sentBefore(submitted: SubmittedDecision): Promise<DecisionAnswer | undefined> {
    const { applicationId, code, decisionId } = submitted;
    const stream = loanStream(applicationId, code);
    const found = await this.#deps.firstDecisions.sentAs(stream, decisionId, fingerprintOf(submitted));
    if (found === undefined) return undefined;
    if (found === 'void')
      throw new DomainError(
        'decision_void',
        `the decision ${decisionId} was withdrawn, or is void because something happened to the operation since; decide anew under another id`,
      );
    const outcome = found === 'carried_out' ? 'already_applied' : 'awaiting_confirmation';
    return {
      ...(await this.#answer(outcome, submitted, stream)),
      ...(found === 'carried_out' && { repeated: true }),
    };
  }

  async placeOf({ firstDecisionId }: SecondDecision): Promise<string | undefined> {
    const place = await this.#deps.events.findClaim(claimOfDecision(firstDecisionId));
    if (place === FOUR_EYES_STREAM) return place;
    return place?.startsWith(DECISION_STREAM_PREFIX) === true ? decidedStreamOf(place) : undefined;
  }

  /** @param place of `placeOf` */
  async fundOf({ firstDecisionId }: SecondDecision, place: string): Promise<string | undefined> {
    const { firstDecisions, rules } = this.#deps;
    if (place === FOUR_EYES_STREAM) return (await rules.current()).proposals.get(firstDecisionId)?.fundId;
    return firstDecisions.fundOf(place, firstDecisionId);
  }

  /** @param place of `placeOf` @param named as it is answered @throws DomainError where it cannot be confirmed or withdrawn, or not by this person */
  async settle(
    second: SecondDecision,
    { place, named }: { readonly place: string | undefined; readonly named: AnsweredDecision },
    who: Who,
  ): Promise<DecisionAnswer> {
    const { decision, decisionId, firstDecisionId } = second;
    if (place === undefined) throw neverAwaited(firstDecisionId);
    const fingerprint = hash('sha256', canonicalText({ decision, firstDecisionId }));
    const asked = { decisionId, actor: actorNamed(who.name), fingerprint };
    if (place === FOUR_EYES_STREAM) {
      const outcome = await this.#deps.rules.settle(decision, firstDecisionId, asked, who);
      return { outcome, decision: named, status: null };
    }
    const { firstDecisions } = this.#deps;
    if (decision === 'withdraw') {
      const changed = await firstDecisions.withdraw(place, firstDecisionId, asked, who);
      return this.#answer(changed ? 'applied' : 'already_applied', named, place);
    }
    const confirmed = await firstDecisions.confirm(place, firstDecisionId, asked, who);
    if (!confirmed) return this.#answer('already_applied', named, place);
    const { replayed, state } = await this.#carryOut(place, confirmed);
    return { outcome: replayed ? 'already_applied' : 'applied', decision: named, status: state.status };
  }

  /** Once, however often: the operation keeps the id, and refuses where anything else happened to it. */
  #carryOut(stream: string, { first, confirmed }: ConfirmedDecision) {
    const { firstDecisionId } = first;
    const { applicationId, code } = parseLoanStream(stream)!;
    const submitted = submittedOf(first, applicationId, code);
    const both = {
      ...{ ruleVersion: confirmed.ruleVersion, firstDecisionId, first: first.by, second: confirmed.by },
    };
    return this.#deps.carryOut({
      ...{ stream, applicationId, decisionId: firstDecisionId, actor: actorNamed(confirmed.by.name) },
      idempotency: {
        endpoint: CONFIRMED_KEYS,
        key: firstDecisionId,
        fingerprint: fingerprintOf(submitted),
      },
      command: () => commandOf(submitted, this.#deps.clock.now(), both),
      check: async (_, decide) => {
        if ((await this.#deps.firstDecisions.sinceThen(stream, first)) === 'changed')
          throw new DomainError(
            'decision_void',
            `the decision ${firstDecisionId} is void, because something happened to the operation since; decide anew`,
          );
        return decide();
      },
    });
  }

  /** Whatever can still be confirmed, longest wait first: a read for each operation that waits. @param fundId only of this fund @param wanted default: of any */
  async awaiting(
    fundId?: string,
    wanted: (fundId: string) => boolean = () => true,
  ): Promise<readonly AwaitingDecision[]> {
    const set = [...(await this.#deps.rules.current()).rules];
    const rules = new Map(set.filter(([of]) => wanted(of) && (fundId === undefined || of === fundId)));
    if (rules.size === 0) return [];
    const pending = await this.#deps.worklists.of([...rules.keys()]).pending({});
    const found: AwaitingDecision[] = [];
    for (let start = 0; start < pending.length; start += AT_ONCE) {
      const part = pending.slice(start, start + AT_ONCE);
      const awaited = await Promise.all(
        part.map(async ({ applicationId, code, fundId: of }): Promise<readonly AwaitingDecision[]> => {
          const first = await this.#deps.firstDecisions.awaiting(loanStream(applicationId, code));
          if (!first) return [];
          const { firstDecisionId, decision, value, by, awaitingSince: since } = first;
          const named = { firstDecisionId, applicationId, code, fundId: of, decision, value, since };
          return [{ ...named, by: by.name ?? null, first }];
        }),
      );
      found.push(...awaited.flat());
    }
    for (const [of, { proposal }] of rules)
      if (proposal)
        found.push({
          ...{ firstDecisionId: proposal.proposalId, applicationId: null, code: null, fundId: of },
          ...{ decision: 'four_eyes', value: null, by: proposal.by.name ?? null, since: proposal.proposedAt },
          rule: proposal,
        });
    return found.sort((a, b) => (a.since < b.since ? -1 : a.since > b.since ? 1 : 0));
  }

  async awaitsOn({ applicationId, code }: OperationPlace): Promise<boolean> {
    return (await this.#deps.firstDecisions.awaiting(loanStream(applicationId, code))) !== undefined;
  }

  /** @param sum in cents @throws DomainError `confirmation_mismatch` where it is not what somebody has seen */
  async awaitingExactly(fundId: string, count: number, sum: number): Promise<readonly AwaitingDecision[]> {
    const all = (await this.awaiting(fundId)).filter(({ decision }) => decision !== 'four_eyes');
    const total = all.reduce((before, { value }) => before + (value ?? 0), 0);
    if (all.length === count && total === sum) return all;
    throw new DomainError(
      'confirmation_mismatch',
      `${all.length} decisions of ${(total / 100).toFixed(2)} await confirmation in this fund, not ${count} of ${(sum / 100).toFixed(2)}: look at them again`,
    );
  }

  async #answer(
    outcome: 'applied' | 'already_applied' | 'awaiting_confirmation',
    decision: AnsweredDecision,
    stream: string,
  ): Promise<Exclude<DecisionAnswer, { outcome: 'refused' }>> {
    const { events } = await this.#deps.events.read(stream);
    const { status } = fold(loanDecider.initialState, events.map(decodeLoanEvent));
    return { outcome, decision, status };
  }
}

/** As an answer names it. @param place undefined where nobody knows what it is about */
export const answeredAt = (second: SecondDecision, place: string | undefined): AnsweredDecision => {
  const { applicationId = null, code = null } = (place !== undefined && parseLoanStream(place)) || {};
  return { ...second, applicationId, code };
};
