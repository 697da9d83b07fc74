import { statusOf } from '../../../../application/administrator/answers.ts';
import type { UsedReason } from '../../../../application/loans/decision-facts.ts';
import type { FundNames } from '../../../../domain/fund/names.ts';
import { addCents } from '../../../../domain/shared/money.ts';
import { amount, count, yearlyRate, typedRule } from '../../format.ts';
import { fundView } from '../../funds.ts';
import { html, tableView } from '../../html.ts';
import type { View, Column } from '../../html.ts';
import { AMOUNT, tokenField, dayField, field } from '../../forms.ts';
import { decisionPath } from '../../paths.ts';
import type { Visit } from '../../page.ts';
import { words } from '../words.ts';
import { applicationColumn, exitSum, givenColumns, changedText } from './columns.ts';
import { acquisitionSum, hasChanged, reasonText, retyped, sumOf } from './draft.ts';
import type { Draft, DraftLine, Problem } from './draft.ts';
import { filterFields, listPath, isAwaiting, keyOf } from './offered.ts';
import type { Filter } from './offered.ts';
import { tallyFields } from './worklist.ts';
import { texts } from './texts.ts';

const REASONS_ASKED = 3;
const NO_SUM = '—';

const idOf = ({ field, of }: Pick<Problem, 'field' | 'of'>): string =>
  of === undefined ? field : `${field}-${of}`;

/** How a field says that it is wrong: a text beside it, which belongs to it also for who cannot see. */
interface Said {
  readonly attributes: Readonly<Record<string, string>>;
  readonly text: View;
}

/** @param help id of what describes the field anyway */
const saidOf = (problems: readonly Problem[], at: Pick<Problem, 'field' | 'of'>, help?: string): Said => {
  const found = problems.find(({ field, of }) => field === at.field && of === at.of);
  const id = idOf(at);
  const described = [help, found && `problem-${id}`].filter((one) => one !== undefined).join(' ');
  return {
    attributes: {
      id,
      ...(described !== '' && { 'aria-describedby': described }),
      ...(found && { 'aria-invalid': 'true' }),
    },
    text: found && html`<small class="problem" id=${`problem-${id}`}>${found.text()}</small>`,
  };
};

const nameOf = ({ field, of }: Problem, { lines }: Draft): string => {
  const code = lines.find((line) => keyOf(line) === of)?.code ?? '';
  if (field === 'date') return texts.date;
  if (field === 'value') return texts.disbursedOf(code);
  if (field === 'confirmed') return texts.valueAgain(code);
  return `${texts.reason(Number(of))}: ${field === 'reason_code' ? texts.reasonCode : texts.reasonMessage}`;
};

/** What is marked, with ways to it: a wide table may hold it where the window ends. */
const problemList = (draft: Draft, problems: readonly Problem[]): View => html`
  <div class="problem" role="alert">
    <p>${texts.nothingDecided}</p>
    <ul>
      ${problems.map(
        (problem) => html`<li><a href=${`#${idOf(problem)}`}>${nameOf(problem, draft)}</a></li>`,
      )}
    </ul>
  </div>
`;

/** Those that the funds gave before, most of all the one that they gave most often. */
const usedReasons = (used: readonly UsedReason[], { chosenReasons }: Draft): View => {
  const chosen = new Set(chosenReasons.map(reasonText));
  return html`<fieldset>
    <legend>${texts.usedReasons}</legend>
    ${used.map(
      (one) =>
        html`<label>
          <input
            type="checkbox"
            name="used_reason"
            value=${reasonText(one)}
            checked=${chosen.has(reasonText(one))}
          />
          <span class="code">${one.code}</span>: ${one.message} <small>(${count(one.times)}×)</small>
        </label>`,
    )}
  </fieldset>`;
};

const reasonField = (
  { reasons }: Draft,
  at: number,
  { problems, required }: { readonly problems: readonly Problem[]; readonly required: boolean },
): View => {
  const given = reasons[at];
  const of = `${at + 1}`;
  const code = saidOf(problems, { field: 'reason_code', of }, `reason-rule-${of}`);
  const message = saidOf(problems, { field: 'reason_message', of });
  return html`<fieldset class="grid" aria-describedby="reason-help">
    <legend>${texts.reason(at + 1)}</legend>
    <div>
      ${field(texts.reasonCode, { name: 'reason_code', maxlength: '100', value: given?.code ?? '', required, ...code.attributes })}
      ${code.text}
      <small id=${`reason-rule-${of}`}>${texts.codeRule}</small>
    </div>
    <div>
      ${field(texts.reasonMessage, { name: 'reason_message', maxlength: '500', value: given?.message ?? '', required, ...message.attributes })}
      ${message.text}
    </div>
  </fieldset>`;
};

/** Reasons of before to choose from, and a new one to type; further ones are folded away. */
const reasonFields = (
  draft: Draft,
  { problems, used }: { readonly problems: readonly Problem[]; readonly used: readonly UsedReason[] },
): View => {
  const asked = Math.max(REASONS_ASKED, draft.reasons.length);
  const field = (at: number): View =>
    reasonField(draft, at, { problems, required: at === 0 && used.length === 0 });
  return html`
    <p id="reason-help">${texts.reasonHelp}</p>
    ${used.length > 0 && usedReasons(used, draft)} ${field(0)}
    <details open=${draft.reasons.length > 1}>
      <summary>${texts.moreReasons}</summary>
      ${Array.from({ length: asked - 1 }, (_, at) => field(at + 1))}
    </details>
  `;
};

const valueFields = (
  line: DraftLine,
  { draft, problems }: { readonly draft: Draft; readonly problems: readonly Problem[] },
): View => {
  const { code } = line;
  const [value, confirmed] = [retyped(line.value, draft), retyped(line.confirmed, draft)];
  const typed = saidOf(problems, { field: 'value', of: keyOf(line) });
  const again = saidOf(problems, { field: 'confirmed', of: keyOf(line) });
  const asked = again.text !== undefined || confirmed !== '';
  const label = { 'aria-label': texts.disbursedOf(code), 'data-summand': true };
  const more = { 'aria-label': texts.valueAgain(code), placeholder: texts.again, ...again.attributes };
  return html`<input
      name="value"
      value=${value}
      required
      ...${{ ...AMOUNT, ...label, ...typed.attributes }}
    />
    ${typed.text}
    ${
      asked
        ? html`<input name="confirmed_value" value=${confirmed} ...${{ ...AMOUNT, ...more }} />`
        : html`<input type="hidden" name="confirmed_value" value="" />`
    }
    ${again.text}`;
};

const disbursementFields = (draft: Draft, problems: readonly Problem[]): View => {
  const { attributes, text } = saidOf(problems, { field: 'date' });
  const sum = sumOf(draft);
  return html`
    <p>
      ${texts.sum} <output data-sum ...${typedRule()}>${sum === undefined ? NO_SUM : amount(sum)}</output>
    </p>
    ${dayField(texts.date, { name: 'date', value: draft.date, required: true, ...attributes }, text)}
  `;
};

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
      ${field(texts.note, { name: 'note', maxlength: '500', value: note })}
      <p>${texts.recordedAs(visit.operator)}</p>
      <div class="actions sticky">
        <button disabled=${visit.readOnly || lines.length === 0}>${texts.confirm}</button>
        <a href=${listPath('/decisions', filter)}>${words.backToList}</a>
      </div>
    </form>
  `;
};
