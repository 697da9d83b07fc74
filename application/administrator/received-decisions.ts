import type { BusinessClock } from '../ports/clock.ts';
import type { Logger } from '../ports/logger.ts';
import type { Who } from '../two-people/decided-stream.ts';
import type { DecisionAnswer } from './answers.ts';
import { namesOf } from './decisions.ts';
import type { DecisionDeadLetters, ReceivedDecision } from './decisions.ts';

interface Dependencies {
  /** Answers in the order of the texts, all of which have ended. */
  readonly decide: (texts: readonly string[], who: Who) => Promise<readonly Promise<DecisionAnswer>[]>;
  readonly clock: BusinessClock;
  readonly onPutAside?: ((reason: string) => void) | undefined;
}

interface Processing {
  readonly deadLetters: DecisionDeadLetters;
  /** Decides where a text names nobody; default: the administrator. */
  readonly operator?: string;
  readonly logger?: Logger;
  /** Of the answers, before what was received counts as done. */
  readonly record?: (answers: readonly DecisionAnswer[]) => Promise<void>;
}

interface Answered {
  readonly text: string;
  readonly answer: DecisionAnswer;
  /** Logged, and put aside where it was refused. */
  isSettled: boolean;
}

const AWAITS = 'decision awaits the confirmation of another person';

/** Decisions from outside, as a file, a pipe or a topic brings them: some at a time, and all of them again where one could not be finished. */
export class ReceivedDecisions {
  readonly #deps: Dependencies;
  /** By origin, until all that came together is done: by the next try those behind it may have changed what it would be answered. */
  readonly #answered = new Map<string, Answered>();

  constructor(dependencies: Dependencies) {
    this.#deps = dependencies;
  }

  /** Refused decisions are put aside and hold nothing back. @param received at most `DECISIONS_AT_ONCE` @throws whatever may be different at the next try */
  async process(
    received: readonly ReceivedDecision[],
    processing: Processing,
  ): Promise<readonly DecisionAnswer[]> {
    const open = received.filter((one) => !this.#answerOf(one));
    const texts = open.map(({ text }) => text);
    const ended = await this.#deps.decide(texts, { name: processing.operator });
    for (const [i, { text, origin }] of open.entries()) {
      const answer = await ended[i]!.catch(() => undefined);
      if (answer) this.#answered.set(origin, { text, answer, isSettled: false });
    }
    await Promise.all(ended);
    const all = received.map((one) => this.#answerOf(one)!);
    for (const [i, answered] of all.entries()) {
      if (!answered.isSettled) await this.#settle(received[i]!, answered.answer, processing);
      answered.isSettled = true;
    }
    const answers = all.map(({ answer }) => answer);
    await processing.record?.(answers);
    for (const { origin } of received) this.#answered.delete(origin);
    return answers;
  }

  #answerOf({ text, origin }: ReceivedDecision): Answered | undefined {
    const answered = this.#answered.get(origin);
    return answered?.text === text ? answered : undefined;
  }

  async #settle(
    received: ReceivedDecision,
    answer: DecisionAnswer,
    { deadLetters, logger }: Processing,
  ): Promise<void> {
    const { origin } = received;
    if (answer.outcome !== 'refused') {
      const { decision, outcome } = answer;
      logger?.info(
        { ...namesOf(decision), outcome, origin },
        outcome === 'awaiting_confirmation' ? AWAITS : 'decision carried out',
      );
      return;
    }
    const { decisionId, reason } = answer;
    await deadLetters.put({
      ...received,
      ...(decisionId !== undefined && { decisionId }),
      reason,
      refusedAt: this.#deps.clock.now(),
    });
    this.#deps.onPutAside?.(reason.code);
    logger?.warn(
      { decision_id: decisionId, reason: reason.code, message_text: reason.message, origin },
      'decision refused; it lies in the dead letter',
    );
  }
}
