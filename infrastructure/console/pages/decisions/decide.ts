import type { Desk } from '../../../../application/desk-view/desk.ts';
import type { DecisionAnswer } from '../../../../application/administrator/answers.ts';
import { entryOfDecision } from '../../../../application/administrator/desk-lines.ts';
import { namesOf } from '../../../../application/administrator/decisions.ts';
import { PATIENTLY } from '../../../../application/administrator/patience.ts';
import { retry } from '../../../../application/support/retry.ts';
import { pause } from '../../../support/time.ts';
import type { Visit } from '../../page.ts';

/** Carries out decisions in the operator's name, each given as JSON text, and answers in their order; what they changed is in every read after it. */
export const decideAll = async (
  texts: readonly string[],
  { operator, person, logger, record }: Pick<Visit, 'operator' | 'person' | 'logger' | 'record'>,
  { administrator, loans }: Pick<Desk, 'administrator' | 'loans'>,
): Promise<readonly DecisionAnswer[]> => {
  const who = { name: operator, person };
  const answers = await retry(() => administrator.submitAll(texts, who), PATIENTLY, pause);
  await record(answers.map(entryOfDecision));
  for (const answer of answers) {
    const { decision, outcome } = answer;
    const told = {
      ...{ operator, outcome },
      ...(decision && namesOf(decision)),
      ...('reason' in answer && { reason: answer.reason.code }),
    };
    logger.info(told, 'a decision of the console');
  }
  await loans.catchUp();
  return answers;
};
