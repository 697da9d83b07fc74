import { covers, fourEyesDecider } from '../../domain/fund/four-eyes.ts';
import type { CoverableDecision, FourEyesEvent, FourEyesSet } from '../../domain/fund/four-eyes.ts';
import { FOUR_EYES_STREAM } from '../command-handling/operation.ts';
import { encodeEvent } from '../event-codec/event-codec.ts';
import type { EventStore, RecordedEvent } from '../ports/event-store.ts';
import { messageOf } from '../support/failures.ts';
import type { Difference, Report } from './difference.ts';
import { checkStream, decodeFourEyes } from './stored-events.ts';
import type { DecodedEvent } from './stored-events.ts';

/** Clocks of two machines differ, and a rule is a moment old before everybody reads it. */
const SLACK_MS = 2_000;

interface Since {
  readonly rule: FourEyesSet;
  /** Milliseconds. */
  readonly from: number;
}

/** Which rule of two people each fund had when. */
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

const again = (event: FourEyesEvent): Parameters<typeof fourEyesDecider.decide>[0] => {
  switch (event.type) {
    case 'FourEyesSet': {
      const { fundId, decisions, evidence, by, setAt: now, proposalId } = event;
      return proposalId === undefined
        ? { type: 'SetFourEyes', fundId, decisions, evidence, by, now, proposalId: '' }
        : { type: 'ConfirmFourEyes', proposalId, by, now };
    }
    case 'FourEyesProposed':
      return { ...event, type: 'SetFourEyes', now: event.proposedAt };
    case 'FourEyesWithdrawn':
      return { ...event, type: 'WithdrawFourEyes', now: event.withdrawnAt };
  }
};

/** Checks the stream of the rules of two people, and decides each of them again. */
export const auditFourEyes = (stream: string, events: readonly RecordedEvent[]): readonly Difference[] => {
  const differences: Difference[] = [];
  const report: Report = (difference) => void differences.push(difference);
  checkStream(stream, events, report);
  let state = fourEyesDecider.initialState;
  for (const { event, recorded } of decodeFourEyes(events, report)) {
    const { type, data: found, revision, metadata } = recorded;
    const place = { kind: 'decision', stream, revision: Number(revision), what: type } as const;
    try {
      const [caused] = fourEyesDecider.decide(again(event), state);
      const { type: wanted, data } = caused
        ? encodeEvent(caused)
        : { type, data: 'nothing: it is so already' };
      if (wanted !== type) report({ ...place, what: 'type', expected: wanted, found: type });
      else if (data !== found) report({ ...place, expected: data, found });
    } catch (error) {
      report({ ...place, expected: messageOf(error), found });
    }
    if (metadata.fundId !== event.fundId)
      report({ ...place, what: 'metadata.fundId', expected: event.fundId, found: `${metadata.fundId}` });
    state = fourEyesDecider.evolve(state, event);
  }
  return differences;
};
