import { fourEyesDecider } from '../../domain/fund/four-eyes.ts';
import type { FourEyes, FourEyesEvent, FourEyesState, FundRule } from '../../domain/fund/four-eyes.ts';
import { stateAfter } from '../../domain/shared/decider.ts';
import type { FundId } from '../../domain/shared/identifiers.ts';
import { FOUR_EYES_STREAM } from '../command-handling/operation.ts';
import { decodeFourEyesEvent } from '../event-codec/event-codec.ts';
import { EarlierReleaseError } from '../event-codec/stored-formats.ts';
import type { StoredFormats } from '../event-codec/stored-formats.ts';
import { appendDecided, instantAfter, readDecided, untilCurrent, somebodyOf } from './decided-stream.ts';
import type { Asked, Contents, StreamParts, Who } from './decided-stream.ts';

interface Dependencies extends StreamParts {
  readonly formats: Pick<StoredFormats, 'forReleaseWithoutDesk'>;
}

type Rules = Contents<FourEyesState>;

interface RuleAnswer {
  readonly outcome: 'applied' | 'already_applied' | 'awaiting_confirmation';
  readonly rule: FundRule | undefined;
}

const NOT_BESIDE_EARLIER =
  'processes of a release that knows nothing of two people may still run; when none does, run `receivables upgrade finish` first';

export class FundRules {
  readonly #deps: Dependencies;
  #kept: Rules | undefined;

  constructor(dependencies: Dependencies) {
    this.#deps = dependencies;
  }

  /** As they are in force now: the log is asked how far it is, each time. */
  async current(): Promise<FourEyesState> {
    const revision = await this.#deps.events.head(FOUR_EYES_STREAM);
    if (revision === 'no_stream') return fourEyesDecider.initialState;
    if (this.#kept?.revision === revision) return this.#kept.state;
    const { state } = await this.#read();
    return state;
  }

  /** Less than before awaits a second person. @throws DomainError @throws EarlierReleaseError */
  async set(rule: FourEyes & { readonly fundId: string }, asked: Asked, who: Who): Promise<RuleAnswer> {
    const { formats } = this.#deps;
    if (await formats.forReleaseWithoutDesk()) throw new EarlierReleaseError(NOT_BESIDE_EARLIER);
    const fundId = rule.fundId as FundId;
    return untilCurrent(this.#deps, async () => {
      const before = await this.#read();
      // Sent again, because nobody heard what became of it.
      if (before.state.rules.get(fundId)?.proposal?.proposalId === asked.decisionId)
        return { outcome: 'awaiting_confirmation', rule: before.state.rules.get(fundId) };
      const now = instantAfter(this.#deps.clock, before);
      const command = { ...rule, fundId, proposalId: asked.decisionId, by: somebodyOf(who), now };
      const caused = fourEyesDecider.decide({ type: 'SetFourEyes', ...command }, before.state);
      const after = await this.#append(before, caused, { ...asked, fingerprint: 'four_eyes' }, fundId);
      const awaits = caused.some(({ type }) => type === 'FourEyesProposed');
      const outcome = awaits ? 'awaiting_confirmation' : caused.length > 0 ? 'applied' : 'already_applied';
      return { outcome, rule: after.rules.get(fundId) };
    });
  }

  /** Confirms or withdraws a rule that awaits it. @throws DomainError where it does not, or not from this person */
  async settle(
    decision: 'confirm' | 'withdraw',
    proposalId: string,
    asked: Asked,
    who: Who,
  ): Promise<'applied' | 'already_applied'> {
    const type = decision === 'confirm' ? 'ConfirmFourEyes' : 'WithdrawFourEyes';
    return untilCurrent(this.#deps, async () => {
      const before = await this.#read();
      const now = instantAfter(this.#deps.clock, before);
      const caused = fourEyesDecider.decide({ type, proposalId, by: somebodyOf(who), now }, before.state);
      const { fundId } = before.state.proposals.get(proposalId)!;
      await this.#append(before, caused, asked, fundId);
      return caused.length > 0 ? 'applied' : 'already_applied';
    });
  }

  async #read(): Promise<Rules> {
    const { events } = this.#deps;
    return (this.#kept = await readDecided(events, FOUR_EYES_STREAM, decodeFourEyesEvent, fourEyesDecider));
  }

  async #append(
    before: Rules,
    caused: readonly FourEyesEvent[],
    asked: Asked,
    fundId: FundId,
  ): Promise<FourEyesState> {
    if (caused.length === 0) return before.state;
    await appendDecided(this.#deps, before, caused, { ...asked, fundId, applicationId: '' });
    return stateAfter(fourEyesDecider, caused, before.state);
  }
}
