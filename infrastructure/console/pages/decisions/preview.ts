import { statusOf } from '../../../../application/administrator/changed-meanwhile.ts';
import type { UsedReason } from '../../../../application/loans/decision-facts.ts';
import type { FundNames } from '../../../../domain/fund/names.ts';
import { addCents } from '../../../../domain/shared/money.ts';
import { amount, count, yearlyRate } from '../../format.ts';
import { fundView } from '../../funds.ts';
import { html, tableView } from '../../html.ts';
import type { View, Column } from '../../html.ts';
import { tokenField } from '../../forms.ts';
import { decisionPath } from '../../paths.ts';
import type { Visit } from '../../page.ts';
import { words } from '../words.ts';
import { applicationColumn, exitSum, givenColumns, changedText } from './columns.ts';
import { acquisitionSum, hasChanged } from './draft.ts';
import type { Draft, DraftLine, Problem } from './draft.ts';
import { disbursementFields, problemList, reasonFields, valueFields } from './fields.ts';
import { filterFields, listPath } from './filter.ts';
import type { Filter } from './filter.ts';
import { isAwaiting, keyOf } from './offered.ts';
import { tallyFields } from './tally.ts';
import { texts } from './texts.ts';

const waitsFor = (line: DraftLine): View => {
  const { found, status } = line;
  if (found && hasChanged(line)) {
    const changed = changedText({ status: statusOf(found.loan), changes: found.changes });
    return html`<small class="problem">${changed}</small>`;
  }
  return isAwaiting(status) && words.awaited[status];
};

const chosen = (line: DraftLine): View => [
  html`<input type="hidden" name="operation" value=${keyOf(line)} />`,
  html`<input type="hidden" name="decision_id" value=${line.decisionId} />`,
  html`<input type="hidden" name="status" value=${line.status} />`,
  html`<a class="code" href=${decisionPath(line)}>${line.code}</a>`,
];

const givenFacts = (): readonly Column<DraftLine>[] => [
  [words.faceValue, ({ found }) => found && amount(facesOf(found.loan)), 'number'],
  [texts.yearly, ({ found }) => found && yearlyRate(found.loan.pricing.dailyFactor), 'number'],
];

const facesOf = ({ schedule }: NonNullable<DraftLine['found']>['loan']): number =>
  addCents(...schedule.faceValues);

const columnsOf = (draft: Draft, { problems = [], names }: Around): readonly Column<DraftLine>[] => {
  const { decision } = draft;
  const typed: Column<DraftLine> = [
    texts.value,
    (line) => valueFields(line, { draft, problems }),
    'number typed',
  ];
  return [
    [words.operation, chosen],
    ...applicationColumn(draft),
    [words.waitsFor, (line) => waitsFor(line)],
    [words.acquisitionValue, ({ found }) => found && amount(found.loan.acquisitionValue), 'number'],
    ...(decision === 'approve' ? givenFacts() : []),
    ...(decision === 'disburse' ? [typed] : []),
    ...givenColumns(decision),
    [words.fund, ({ found }) => found && fundView(found.loan.fundId, names), 'code'],
  ];
};

const summary = ({ decision, lines }: Draft): string => {
  const total = amount(acquisitionSum({ lines }));
  const name = texts.decide[decision];
  return decision === 'process_repurchase'
    ? texts.exitsOf(name, lines.length, amount(exitSum(lines)), total)
    : texts.previewOf(name, lines.length, total);
};

export interface Around {
  readonly others?: number;
  readonly problems?: readonly Problem[];
  readonly names: FundNames;
  readonly filter: Filter;
  readonly used: readonly UsedReason[];
  /** As the page counted that it was chosen on, where these are others. */
  readonly tally?: { readonly count: number; readonly sum: number } | undefined;
}

export const previewView = (draft: Draft, around: Around, visit: Visit): View => {
  const { filter, others = 0, problems = [], used, tally } = around;
  const { decision, lines, note } = draft;
  return html`
    ${problems.length > 0 && problemList(draft, problems)}
    <p>${summary(draft)}</p>
    ${others > 0 && html`<p>${texts.others(others)}</p>`}
    ${tally && html`<p class="problem" role="alert">${texts.wasChosen(count(tally.count), amount(tally.sum))}</p>`}
    <form method="post" action="/decisions/decide">
      ${tokenField(visit)}
      <input type="hidden" name="decision" value=${decision} />
      ${filterFields(filter)} ${tallyFields(lines.length, acquisitionSum(draft))}
      ${tableView<DraftLine>({ label: words.operation }, columnsOf(draft, around), lines)}
      ${decision === 'reject' && reasonFields(draft, { problems, used })}
      ${decision === 'disburse' && disbursementFields(draft, problems)}
      <label>${texts.note} <input name="note" maxlength="500" value=${note} /></label>
      <p>${texts.recordedAs(visit.operator)}</p>
      <div class="actions sticky">
        <button disabled=${visit.readOnly || lines.length === 0}>${texts.confirm}</button>
        <a href=${listPath('/decisions', filter)}>${words.backToList}</a>
      </div>
    </form>
  `;
};
