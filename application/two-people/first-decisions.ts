import { firstDecisions, isOpen, latest } from '../../domain/decision/first-decision.ts';
import type {
  DecisionConfirmed,
  DecisionEvent,
  DecisionsState,
  FirstDecision,
  SinceThen,
} from '../../domain/decision/first-decision.ts';
import { covers } from '../../domain/fund/four-eyes.ts';
import { stateAfter } from '../../domain/shared/decider.ts';
import type { Timestamp } from '../../domain/shared/identifiers.ts';
import type { Evidence } from '../../domain/shared/two-people.ts';
import { CONFIRMED_KEYS } from '../command-handling/endpoints.ts';
import { decidedStreamOf, decisionStreamOf, parseLoanStream } from '../command-handling/operation.ts';
import { decodeDecisionEvent } from '../event-codec/event-codec.ts';
import type { RecordedEvent } from '../ports/event-store.ts';
import {
  appendDecided,
  fingerprintUnder,
  idConflict,
  instantAfter,
  readDecided,
  untilCurrent,
  somebodyOf,
} from './decided-stream.ts';
import type { Asked, Contents, StreamParts, Who } from './decided-stream.ts';
import type { FundRules } from './fund-rules.ts';

interface Dependencies extends StreamParts {
  readonly rules: Pick<FundRules, 'current'>;
}

type Decisions = Contents<DecisionsState>;

export interface ConfirmedDecision {
  readonly first: FirstDecision;
  readonly confirmed: DecisionConfirmed;
}

/** Stored types that leave a first decision as it is: time passes, and nobody did anything. */
const PASSING: ReadonlySet<string> = new Set(['installment.became_overdue.v1']);

export const sinceThenOf = (id: string, later: readonly RecordedEvent[]): SinceThen => {
  const itself = ({ metadata: { idempotency } }: RecordedEvent): boolean =>
    idempotency?.endpoint === CONFIRMED_KEYS && idempotency.key === id;
  if (later.some(itself)) return 'carried_out';
  return later.every(({ type }) => PASSING.has(type)) ? 'unchanged' : 'changed';
};

/** A confirmation counts from its append on; carrying it out is left to whoever asks, as often as it is asked for. */
export class FirstDecisions {
  readonly #deps: Dependencies;

  constructor(dependencies: Dependencies) {
    this.#deps = dependencies;
  }

  /** @param stream of the operation @throws DomainError `already_awaiting`, `evidence_missing`, `idempotency_conflict` */
  async decide(
    stream: string,
    first: Omit<FirstDecision, 'by' | 'awaitingSince'>,
    asked: Required<Asked>,
    who: Who,
  ): Promise<void> {
    await untilCurrent(this.#deps, async () => {
      const before = await this.#read(stream);
      if (before.state.has(asked.decisionId)) {
        if (fingerprintUnder(before.recorded, asked.decisionId) === asked.fingerprint) return;
        throw idConflict(asked.decisionId);
      }
      const earlier = latest(before.state);
      const sinceThen = earlier ? await this.sinceThen(stream, earlier.first) : 'unchanged';
      const awaitingSince = instantAfter(this.#deps.clock, before);
      const made = { ...first, by: somebodyOf(who), awaitingSince };
      const caused = firstDecisions.decide({ type: 'DecideFirst', first: made, sinceThen }, before.state);
      await this.#append(before, caused, asked, first.fundId);
    });
  }

  /** What is left is to carry it out; undefined where that is done. @throws DomainError */
  async confirm(
    stream: string,
    firstDecisionId: string,
    asked: Asked,
    who: Who,
  ): Promise<ConfirmedDecision | undefined> {
    const by = somebodyOf(who);
    const { state, sinceThen } = await this.#settled(stream, firstDecisionId, asked, async (now, known) => {
      const rule = known && (await this.#ruleOf(known));
      return {
        type: 'ConfirmDecision',
        ...{ firstDecisionId, ...now, by },
        ruleVersion: rule?.version ?? 0,
        evidence: rule?.evidence ?? 'signed-in',
      };
    });
    const { first, confirmed } = state.get(firstDecisionId)!;
    return sinceThen === 'carried_out' || !confirmed ? undefined : { first, confirmed };
  }

  /** @returns whether anything changed by it @throws DomainError where it can be taken back no more */
  async withdraw(stream: string, firstDecisionId: string, asked: Asked, who: Who): Promise<boolean> {
    const by = somebodyOf(who);
    const { caused } = await this.#settled(stream, firstDecisionId, asked, async (now) => ({
      type: 'WithdrawDecision',
      ...{ firstDecisionId, ...now, by },
    }));
    return caused > 0;
  }

  /** The one on this operation that can still be confirmed; undefined where there is none. */
  async awaiting(stream: string): Promise<FirstDecision | undefined> {
    const { state } = await this.#read(stream);
    const last = latest(state);
    if (!last || !isOpen(last)) return undefined;
    return (await this.sinceThen(stream, last.first)) === 'unchanged' ? last.first : undefined;
  }

  /** Of which fund the first decision with this id is, whatever became of it; undefined where there is none. */
  async fundOf(stream: string, firstDecisionId: string): Promise<string | undefined> {
    return (await this.#read(stream)).state.get(firstDecisionId)?.first.fundId;
  }

  /** The first decision that was sent with this id and these contents, with what became of it; undefined where there is none. */
  async sentAs(
    stream: string,
    decisionId: string,
    fingerprint: string,
  ): Promise<'awaiting' | 'carried_out' | 'void' | undefined> {
    const before = await this.#read(stream);
    const known = before.state.get(decisionId);
    if (!known || fingerprintUnder(before.recorded, decisionId) !== fingerprint) return undefined;
    const sinceThen = await this.sinceThen(stream, known.first);
    if (sinceThen === 'carried_out') return sinceThen;
    return isOpen(known) && sinceThen === 'unchanged' ? 'awaiting' : 'void';
  }

  async sinceThen(
    stream: string,
    { firstDecisionId, madeOn }: Pick<FirstDecision, 'firstDecisionId' | 'madeOn'>,
  ): Promise<SinceThen> {
    const { events } = await this.#deps.events.read(stream, BigInt(madeOn) + 1n);
    return sinceThenOf(firstDecisionId, events);
  }

  #settled(
    stream: string,
    firstDecisionId: string,
    asked: Asked,
    commandOf: (
      now: { readonly sinceThen: SinceThen; readonly now: Timestamp },
      known: FirstDecision | undefined,
    ) => Promise<Parameters<typeof firstDecisions.decide>[0]>,
  ) {
    return untilCurrent(this.#deps, async () => {
      const before = await this.#read(stream);
      const known = before.state.get(firstDecisionId)?.first;
      const sinceThen = known ? await this.sinceThen(stream, known) : 'unchanged';
      const now = instantAfter(this.#deps.clock, before);
      const caused = firstDecisions.decide(await commandOf({ sinceThen, now }, known), before.state);
      if (caused.length > 0) await this.#append(before, caused, asked, known!.fundId);
      const state = stateAfter(firstDecisions, caused, before.state);
      return { state, sinceThen, caused: caused.length };
    });
  }

  /** What the rule of now asks for: nothing more than when it was made, where the rule covers it no more. */
  async #ruleOf(first: FirstDecision): Promise<{ readonly version: number; readonly evidence: Evidence }> {
    const rule = (await this.#deps.rules.current()).rules.get(first.fundId);
    const evidence = covers(rule, first.decision, first.value) ? rule.evidence : first.evidence;
    return { version: rule?.version ?? first.ruleVersion, evidence };
  }

  #read(stream: string): Promise<Decisions> {
    const { events } = this.#deps;
    return readDecided(events, decisionStreamOf(stream), decodeDecisionEvent, firstDecisions);
  }

  #append(before: Decisions, caused: readonly DecisionEvent[], asked: Asked, fundId: string): Promise<void> {
    const { applicationId } = parseLoanStream(decidedStreamOf(before.stream))!;
    return appendDecided(this.#deps, before, caused, { ...asked, fundId, applicationId });
  }
}
