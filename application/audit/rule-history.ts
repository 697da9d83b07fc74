import { covers } from '../../domain/fund/four-eyes.ts';
import type { CoverableDecision, FourEyesEvent, FourEyesSet } from '../../domain/fund/four-eyes.ts';
import { FOUR_EYES_STREAM } from '../command-handling/operation.ts';
import type { EventStore } from '../ports/event-store.ts';
import { decodeFourEyes } from './stored-events.ts';
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
