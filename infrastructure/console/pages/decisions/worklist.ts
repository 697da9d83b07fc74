import type { PendingOperation, WaitingGroup } from '../../../../application/administrator/worklists.ts';
import { WAITING_STATUSES } from '../../../../domain/loan/statuses.ts';
import { may } from '../../../../application/desk/rights.ts';
import type { OperationFacts } from '../../../../application/loans/decision-facts.ts';
import type { DecisionName } from '../../../../application/publication/description/decision-schema.ts';
import type { FundNames } from '../../../../domain/fund/names.ts';
import { amount, count, date, span, yearlyRate } from '../../format.ts';
import { fundChoice, fundView } from '../../funds.ts';
import { empty, html, tableView } from '../../html.ts';
import type { View, Column } from '../../html.ts';
import { liveWith } from '../../layout.ts';
import { tokenField, choiceField } from '../../forms.ts';
import type { Option } from '../../forms.ts';
import { decisionPath } from '../../paths.ts';
import type { Visit } from '../../page.ts';
import { words } from '../words.ts';
import { filterFields, listPath, KEYS, OFFERED, keyOf } from './offered.ts';
import type { Filter } from './offered.ts';
import { texts } from './texts.ts';

interface Tick {
  readonly value: string;
  readonly label: string;
  /** In cents. */
  readonly counts: number;
}

/** What a form takes along of each row, with a box for all of them. @param tickOf false where there is none */
export const tickColumn = <Row>(
  name: string,
  chooseAll: string,
  tickOf: (row: Row) => Tick | false,
): Column<Row> => [
  html`<input type="checkbox" aria-label=${chooseAll} data-choose-all />`,
  (row) => {
    const tick = tickOf(row);
    return (
      tick &&
      html`<input
        type="checkbox"
        name=${name}
        value=${tick.value}
        aria-label=${tick.label}
        data-row
        data-cents=${tick.counts}
      />`
    );
  },
];

export const tallyView = (): View =>
  html`<p class="tally" role="status">
    <span data-tally="count">0</span> ${texts.chosenOnes} · <span data-tally="sum">${amount(0)}</span>
    <span data-tally="lost" data-text=${texts.lost('{}')} hidden></span>
    <input type="hidden" name="chosen_count" value="" />
    <input type="hidden" name="chosen_sum" value="" />
  </p>`;

/** Undefined where no page has counted, without scripts. */
interface Tally {
  readonly count: number;
  /** In cents. */
  readonly sum: number;
}

export const tallyIn = (fields: URLSearchParams): Tally | undefined => {
  const [count, sum] = [fields.get('chosen_count'), fields.get('chosen_sum')];
  if (!count || !sum) return undefined;
  return { count: Number(count), sum: Number(sum) };
};

export const isTally = (tally: Tally | undefined, count: number, sum: number | undefined): boolean =>
  tally === undefined || (tally.count === count && tally.sum === sum);

export const tallyFields = (count: number, sum: number): View => [
  html`<input type="hidden" name="chosen_count" value=${count} />`,
  html`<input type="hidden" name="chosen_sum" value=${sum} />`,
];

interface Worklist {
  readonly filter: Filter;
  readonly groups: readonly WaitingGroup[];
  readonly names: FundNames;
  readonly operations: readonly PendingOperation[];
  readonly facts: readonly OperationFacts[];
  readonly next: PendingOperation | undefined;
  readonly here: string;
  readonly now: string;
}

export const waitingNow = (groups: readonly WaitingGroup[]): View => html`
  <p id="waiting-now" role="status" ...${liveWith('/decisions/waiting')}>
    ${texts.now(count(groups.reduce((sum, { operations }) => sum + operations, 0)))}
  </p>
`;

const filterForm = ({ filter, groups, names }: Worklist): View => {
  const funds = [...new Set(groups.map(({ fundId }) => fundId))];
  const states = WAITING_STATUSES.map((status): Option => [status, words.awaited[status]]);
  return html`
    <form method="get" action="/decisions" class="actions">
      ${fundChoice({ funds, names }, filter.fundId)}
      ${choiceField(words.waitsFor, 'status', { options: [['', words.all], ...states], chosen: filter.status })}
      <button class="secondary">${words.filter}</button>
    </form>
  `;
};

const offeredFor = (operations: readonly PendingOperation[]): readonly DecisionName[] => [
  ...new Set(operations.flatMap(({ status }) => OFFERED[status])),
];

export const decisionButtons = (offered: readonly DecisionName[], { readOnly }: Visit): View =>
  offered.map(
    (decision) =>
      html`<button
        name="decision"
        value=${decision}
        class=${decision === 'reject' ? 'danger' : undefined}
        data-key=${KEYS[decision]}
        aria-keyshortcuts=${KEYS[decision]}
        disabled=${readOnly}
      >
        ${texts.decide[decision]}
      </button>`,
  );

const borrowerText = ({ borrower }: OperationFacts, forgotten: string): View =>
  borrower === null
    ? forgotten
    : html`${borrower.name}<br /><small class="code">${borrower.document}</small>`;

const table = (list: Worklist, visit: Visit): View => {
  const { operations, names, now } = list;
  const byKey = new Map(list.facts.map((one) => [keyOf(one), one]));
  const of = (write: (facts: OperationFacts) => View) => (one: PendingOperation) => {
    const found = byKey.get(keyOf(one));
    return found && write(found);
  };
  const boxes = tickColumn<PendingOperation>(
    'operation',
    texts.chooseAll,
    (one) =>
      may(visit, 'decide', one.fundId) && {
        ...{ value: keyOf(one), label: texts.chosen(one.code) },
        counts: one.acquisitionValue,
      },
  );
  const operation = (one: PendingOperation): View =>
    html`<a
      class="code"
      href=${listPath(decisionPath(one), list.filter)}
      data-listed=${`${keyOf(one)} ${one.status}`}
      >${one.code}</a
    >`;
  return tableView(
    { label: words.operation },
    [
      ...(may(visit, 'decide') ? [boxes] : []),
      [words.operation, operation],
      [words.waitsFor, ({ status }) => words.awaited[status]],
      [texts.borrowerName, of((found) => borrowerText(found, texts.forgotten))],
      [words.acquisitionValue, ({ acquisitionValue }) => amount(acquisitionValue), 'number'],
      [words.faceValue, of(({ faceValue }) => amount(faceValue)), 'number'],
      [texts.yearly, of(({ dailyFactor }) => yearlyRate(dailyFactor)), 'number'],
      [texts.term, of(({ installments, lastDue }) => texts.termOf(count(installments), date(lastDue)))],
      [words.waits, ({ since }) => span(since, now), 'number'],
      [words.fund, ({ fundId }) => fundView(fundId, names)],
    ],
    operations,
  );
};

export const worklistView = (list: Worklist, visit: Visit): View => {
  const { operations, next, filter } = list;
  const deciding = may(visit, 'decide');
  const own = operations.some(({ fundId }) => may(visit, 'decide', fundId));
  return html`
    ${waitingNow(list.groups)} ${filterForm(list)}
    <div data-follow=${list.here} data-gone=${texts.gone}>
      ${
        operations.length === 0
          ? empty(texts.nothing, texts.comes)
          : !own
            ? table(list, visit)
            : html`<form method="post" action="/decisions/preview">
                ${tokenField(visit)} ${filterFields(filter)} ${table(list, visit)}
                <div class="actions sticky">
                  ${tallyView()} ${decisionButtons(offeredFor(operations), visit)}
                </div>
              </form>`
      }
    </div>
    ${next && html`<p><a href=${listPath('/decisions', filter, next)} rel="next">${words.more}</a></p>`}
    ${deciding && html`<p><small>${texts.keys}: ${texts.keyHelp}</small></p>`}
  `;
};
