import type { BusinessClock } from '../ports/clock.ts';
import type { DecisionDeadLetters, ReceivedDecision } from '../ports/decision-source.ts';
import type { Logger } from '../ports/logger.ts';
import type { DecisionAnswer, DecisionDesk } from './decision-desk.ts';

interface Dependencies {
  readonly desk: Pick<DecisionDesk, 'submitAll'>;
  readonly deadLetters: DecisionDeadLetters;
  readonly clock: BusinessClock;
  readonly logger: Logger;
}

/** Bounds how many commands a large batch keeps under way. */
const AT_ONCE = 64;

/** Carries received decisions out and puts the refused ones aside, so that none holds back those behind it. */
export class ProcessDecisions {
  readonly #deps: Dependencies;

  constructor(dependencies: Dependencies) {
    this.#deps = dependencies;
  }

  /**
   * When it resolves, every decision is carried out or lies in the dead letter. When it throws, the same batch may be given again.
   * @throws whatever may be different at the next try
   */
  async process(received: readonly ReceivedDecision[]): Promise<readonly DecisionAnswer[]> {
    const answers: DecisionAnswer[] = [];
    for (let start = 0; start < received.length; start += AT_ONCE) {
      const part = received.slice(start, start + AT_ONCE);
      const answered = await this.#deps.desk.submitAll(part.map(({ text }) => text));
      for (const [i, answer] of answered.entries()) await this.#settle(part[i]!, answer);
      answers.push(...answered);
    }
    return answers;
  }

  async #settle(received: ReceivedDecision, answer: DecisionAnswer): Promise<void> {
    const { deadLetters, clock, logger } = this.#deps;
    const { origin } = received;
    if (answer.outcome !== 'refused') {
      const { decisionId, applicationId, code, decision } = answer.decision;
      const fields = {
        decision_id: decisionId,
        application_id: applicationId,
        originator_proposal_code: code,
      };
      logger.info({ ...fields, decision, outcome: answer.outcome, origin }, 'decision carried out');
      return;
    }
    const { decisionId, reason } = answer;
    await deadLetters.put({
      ...received,
      ...(decisionId !== undefined && { decisionId }),
      reason,
      refusedAt: clock.now(),
    });
    logger.warn(
      { decision_id: decisionId, reason: reason.code, message_text: reason.message, origin },
      'decision refused; it lies in the dead letter',
    );
  }
}
