import type { WaitingGroup, WaitingPlace } from '../../../../application/administrator/worklists.ts';
import { AWAITING } from '../../../../application/administrator/awaited.ts';
import type { AwaitingStatus, PendingOperation } from '../../../../application/administrator/awaited.ts';
import { may } from '../../../../application/desk/rights.ts';
import type { DecisionName } from '../../../../application/publication/description/decision-schema.ts';
import type { FundNames } from '../../../../domain/fund/names.ts';
import { amount, count, span } from '../../format.ts';
import { fundChoices, fundView } from '../../funds.ts';
import { html } from '../../html.ts';
import type { View } from '../../html.ts';
import { liveWith, tokenField } from '../../layout.ts';
import { decisionPath, withQuery } from '../../names.ts';
import type { Visit } from '../../page.ts';
import { placeParts, placeText } from '../../place.ts';
import { tableView } from '../../table.ts';
import type { Column } from '../../table.ts';
import { WORDS } from '../words.ts';
import { KEYS, OFFERED, keyOf } from './offered.ts';
import { DECISIONS } from './texts.ts';

export interface Filter {
  readonly fundId?: string;
  readonly status?: AwaitingStatus;
}

export const placeOf = (text: string | null): WaitingPlace | undefined => {
  const [since, applicationId, code] = placeParts(text, 3);
  return since !== undefined && applicationId !== undefined && code !== undefined
    ? { since, applicationId, code }
    : undefined;
};

interface Worklist {
  readonly filter: Filter;
  readonly groups: readonly WaitingGroup[];
  readonly names: FundNames;
  readonly operations: readonly PendingOperation[];
  readonly next: WaitingPlace | undefined;
  readonly now: string;
}

export const waitingNow = (groups: readonly WaitingGroup[], { language }: Visit): View => html`
  <p id="waiting-now" role="status" ...${liveWith('/decisions/waiting')}>
    ${DECISIONS[language].now(count(groups.reduce((sum, { operations }) => sum + operations, 0)))}
  </p>
`;

const filterForm = ({ filter, groups, names }: Worklist, { language }: Visit): View => {
  const words = WORDS[language];
  const funds = [...new Set(groups.map(({ fundId }) => fundId))];
  return html`
    <form method="get" action="/decisions" class="actions">
      <label>
        ${words.fund}
        <select name="fund">
          <option value="">${words.all}</option>
          ${fundChoices(funds, filter.fundId, names)}
        </select>
      </label>
      <label>
        ${words.waitsFor}
        <select name="status">
          <option value="">${words.all}</option>
          ${AWAITING.map(
            (status) =>
              html`<option value=${status} selected=${status === filter.status}>
                ${words.awaited[status]}
              </option>`,
          )}
        </select>
      </label>
      <button class="secondary">${DECISIONS[language].filter}</button>
    </form>
  `;
};

/** What at least one of the listed operations waits for. */
const offeredFor = (operations: readonly PendingOperation[]): readonly DecisionName[] => [
  ...new Set(operations.flatMap(({ status }) => OFFERED[status])),
];

export const decisionButtons = (offered: readonly DecisionName[], { language, readOnly }: Visit): View =>
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
        ${DECISIONS[language].decide[decision]}
      </button>`,
  );

const tickedBy = (operation: PendingOperation, label: string): View =>
  html`<input type="checkbox" name="operation" value=${keyOf(operation)} aria-label=${label} data-row />`;

const table = ({ operations, names, now }: Worklist, visit: Visit): View => {
  const { language } = visit;
  const [texts, words] = [DECISIONS[language], WORDS[language]];
  const boxes: Column<PendingOperation> = [
    html`<input type="checkbox" aria-label=${texts.chooseAll} data-choose-all />`,
    (one) => may(visit, 'decide', one.fundId) && tickedBy(one, texts.chosen(one.code)),
  ];
  return tableView(
    { label: words.operation },
    [
      ...(may(visit, 'decide') ? [boxes] : []),
      [words.operation, (one) => html`<a class="code" href=${decisionPath(one)}>${one.code}</a>`],
      [words.waitsFor, ({ status }) => words.awaited[status]],
      [words.acquisitionValue, ({ acquisitionValue }) => amount(acquisitionValue), 'number'],
      [words.waits, ({ since }) => span(since, now), 'number'],
      [words.fund, ({ fundId }) => fundView(fundId, names), 'code'],
      [words.application, ({ applicationId }) => applicationId, 'code'],
    ],
    operations,
  );
};

const nextPath = ({ filter, next }: Worklist): string =>
  withQuery('/decisions', {
    fund: filter.fundId,
    status: filter.status,
    after: placeText(next!.since, next!.applicationId, next!.code),
  });

/** The list with what can be done to those that are ticked. */
export const worklistView = (list: Worklist, visit: Visit): View => {
  const { language } = visit;
  const [texts, words] = [DECISIONS[language], WORDS[language]];
  const { operations, next } = list;
  const own = operations.filter(({ fundId }) => may(visit, 'decide', fundId));
  return html`
    ${waitingNow(list.groups, visit)} ${filterForm(list, visit)}
    ${
      operations.length === 0
        ? html`<p>${texts.nothing}</p>`
        : own.length === 0
          ? table(list, visit)
          : html`<form method="post" action="/decisions/preview">
              ${tokenField(visit)} ${table(list, visit)}
              <div class="actions">
                <span>${texts.withChosen}</span>
                ${decisionButtons(offeredFor(own), visit)}
              </div>
            </form>`
    }
    ${next && html`<p><a href=${nextPath(list)} rel="next">${words.more}</a></p>`}
    ${may(visit, 'decide') && html`<p><small>${texts.keys}: ${texts.keyHelp}</small></p>`}
  `;
};
