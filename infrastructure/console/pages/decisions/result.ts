import { entryOfDecision } from '../../../../application/administrator/answers.ts';
import type { DecisionAnswer } from '../../../../application/administrator/answers.ts';
import { outcomeBadge, html, tableView } from '../../html.ts';
import type { View } from '../../html.ts';
import { amount, centsTyped, count, statusName } from '../../format.ts';
import { operationLink } from '../../paths.ts';
import { refusalText } from '../../refusals.ts';
import { words } from '../words.ts';
import { applicationColumn, decidedColumns, exitSum, changedText } from './columns.ts';
import type { Draft, DraftLine } from './draft.ts';
import { listPath, nextLink } from './offered.ts';
import type { Filter } from './offered.ts';
import { texts } from './texts.ts';
import type { Desk } from '../../../../application/desk-view/desk.ts';
import { namesOf, PATIENTLY } from '../../../../application/administrator/decisions.ts';
import { retry } from '../../../../application/support/retry.ts';
import { pause } from '../../../support/time.ts';
import type { Visit } from '../../page.ts';

/** Carries out decisions in the operator's name, each given as JSON text, and answers in their order; what they changed is in every read after it. */
export const decideAll = async (
  asked: readonly string[],
  { operator, person, logger, record }: Pick<Visit, 'operator' | 'person' | 'logger' | 'record'>,
  { administrator, loans }: Pick<Desk, 'administrator' | 'loans'>,
): Promise<readonly DecisionAnswer[]> => {
  const who = { name: operator, person };
  const answers = await retry(() => administrator.submitAll(asked, who), PATIENTLY, pause);
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

export const told = (given: DecisionAnswer): string => {
  if (given.outcome !== 'refused') return statusName(given.status ?? '');
  return given.meanwhile ? changedText(given.meanwhile) : refusalText(given.reason);
};

const outcomeOf = (given: DecisionAnswer): View => {
  const { outcomes } = texts;
  return 'repeated' in given ? outcomes.repeated : outcomeBadge(given.outcome, outcomes[given.outcome]);
};

/** How many were done, and how many refused. */
export const resultLine = (answers: readonly DecisionAnswer[]): View => {
  const refused = answers.filter(({ outcome }) => outcome === 'refused').length;
  const awaiting = answers.filter(({ outcome }) => outcome === 'awaiting_confirmation').length;
  return html`
    <p class=${refused > 0 ? 'problem' : 'done'} role="status">
      ${words.resultOf(answers.length - refused - awaiting, refused)}
    </p>
    ${awaiting > 0 && html`<p>${texts.awaitingOf(awaiting)}</p>`}
  `;
};

const NOT_DONE: ReadonlySet<DecisionAnswer['outcome']> = new Set(['refused', 'awaiting_confirmation']);

/** Of what was carried out, in cents. */
const sumDone = (answers: readonly DecisionAnswer[], { decision, lines, language }: Draft): number => {
  const done = lines.filter((_, at) => !NOT_DONE.has(answers[at]!.outcome));
  return decision === 'disburse'
    ? done.reduce((sum, { value }) => sum + (centsTyped(value, language) ?? 0), 0)
    : exitSum(done);
};

interface Left {
  readonly filter: Filter;
  readonly operations: number;
  readonly acquisitionValue: number;
}

const thenView = ({ filter, operations, acquisitionValue }: Left): View =>
  html`<p>
      ${operations === 0 ? texts.nothingLeft : texts.left(operations, count(operations), amount(acquisitionValue))}
    </p>
    <p class="actions">
      ${operations > 0 && nextLink(filter)}
      <a href=${listPath('/decisions', filter)}>${words.backToList}</a>
    </p>`;

export const resultView = ({
  answers,
  draft,
  then,
}: {
  readonly answers: readonly DecisionAnswer[];
  readonly draft: Draft;
  readonly then: Left;
}): View => {
  const sum = amount(sumDone(answers, draft));
  return html`
    ${[
      resultLine(answers),
      draft.decision === 'disburse' && html`<p>${texts.disbursed(sum)}</p>`,
      draft.decision === 'process_repurchase' && html`<p>${texts.exited(sum)}</p>`,
    ]}
    ${tableView<DraftLine>(
      { label: words.result },
      [
        [words.operation, operationLink],
        ...applicationColumn(draft),
        [words.outcome, (_, at) => outcomeOf(answers[at]!)],
        [words.status, (_, at) => told(answers[at]!)],
        ...decidedColumns(draft),
      ],
      draft.lines,
    )}
    ${thenView(then)}
  `;
};
