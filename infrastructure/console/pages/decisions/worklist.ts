import type { WaitingGroup, WaitingPlace } from '../../../../application/ports/desk.ts';
import { AWAITING } from '../../../../application/ports/loan-queries.ts';
import type { AwaitingStatus, PendingOperation } from '../../../../application/ports/loan-queries.ts';
import type { DecisionName } from '../../../../application/publishing/description/decision-schema.ts';
import { amount, count, span } from '../../format.ts';
import { html } from '../../html.ts';
import type { View } from '../../html.ts';
import { liveWith, tokenField } from '../../layout.ts';
import { withQuery } from '../../names.ts';
import type { Visit } from '../../page.ts';
import { WORDS } from '../words.ts';
import { KEYS, OFFERED, keyOf } from './offered.ts';
import { DECISIONS } from './texts.ts';

export interface Filter {
  readonly fundId?: string;
  readonly status?: AwaitingStatus;
}

/** A place in the list, as an address holds it. */
export const placeText = ({ since, applicationId, code }: WaitingPlace): string =>
  Buffer.from(JSON.stringify([since, applicationId, code])).toString('base64url');

/** Undefined for anything that `placeText` did not make: the list then begins at its start. */
export const placeOf = (text: string | null): WaitingPlace | undefined => {
  try {
    const read: unknown = JSON.parse(Buffer.from(text ?? '', 'base64url').toString());
    if (!Array.isArray(read) || read.length !== 3 || !read.every((part) => typeof part === 'string'))
      return undefined;
    const [since, applicationId, code] = read as [string, string, string];
    return { since, applicationId, code };
  } catch {
    return undefined;
  }
};

export interface Worklist {
  readonly filter: Filter;
  readonly groups: readonly WaitingGroup[];
  readonly operations: readonly PendingOperation[];
  readonly next: WaitingPlace | undefined;
  readonly now: string;
}

export const waitingNow = (groups: readonly WaitingGroup[], { language }: Visit): View => html`
  <p id="waiting-now" role="status" ...${liveWith('/decisions/waiting')}>
    ${DECISIONS[language].now(count(groups.reduce((sum, { operations }) => sum + operations, 0)))}
  </p>
`;

const filterForm = ({ filter, groups }: Worklist, { language }: Visit): View => {
  const words = WORDS[language];
  const funds = [...new Set(groups.map(({ fundId }) => fundId))];
  return html`
    <form method="get" action="/decisions" class="actions">
      <label>
        ${words.fund}
        <select name="fund">
          <option value="">${words.all}</option>
          ${funds.map((fund) => html`<option value=${fund} selected=${fund === filter.fundId}>${fund}</option>`)}
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
        class=${decision === 'reject' ? 'secondary' : undefined}
        data-key=${KEYS[decision]}
        aria-keyshortcuts=${KEYS[decision]}
        disabled=${readOnly}
      >
        ${DECISIONS[language].decide[decision]}
      </button>`,
  );

export const detailPath = ({ applicationId, code }: { applicationId: string; code: string }): string =>
  `/decisions/${encodeURIComponent(applicationId)}/${encodeURIComponent(code)}`;

const row = (operation: PendingOperation, { language }: Visit, now: string): View => html`
  <tr>
    <td>
      <input
        type="checkbox"
        name="operation"
        value=${keyOf(operation)}
        aria-label=${DECISIONS[language].chosen(operation.code)}
        data-row
      />
    </td>
    <td><a class="code" href=${detailPath(operation)}>${operation.code}</a></td>
    <td>${WORDS[language].awaited[operation.status]}</td>
    <td class="number">${amount(operation.acquisitionValue)}</td>
    <td class="number">${span(operation.since, now)}</td>
    <td class="code">${operation.fundId}</td>
    <td class="code">${operation.applicationId}</td>
  </tr>
`;

const nextPath = ({ filter, next }: Worklist): string =>
  withQuery('/decisions', { fund: filter.fundId, status: filter.status, after: placeText(next!) });

/** The list with what can be done to those that are ticked. */
export const worklistView = (list: Worklist, visit: Visit): View => {
  const { language } = visit;
  const [texts, words] = [DECISIONS[language], WORDS[language]];
  const { operations, next } = list;
  return html`
    ${waitingNow(list.groups, visit)} ${filterForm(list, visit)}
    ${
      operations.length === 0
        ? html`<p>${texts.nothing}</p>`
        : html`<form method="post" action="/decisions/preview">
            ${tokenField(visit)}
            <div class="overflow-auto" tabindex="0" role="region" aria-label=${words.operation}>
              <table>
                <thead>
                  <tr>
                    <th scope="col">
                      <input type="checkbox" aria-label=${texts.chooseAll} data-choose-all />
                    </th>
                    <th scope="col">${words.operation}</th>
                    <th scope="col">${words.waitsFor}</th>
                    <th scope="col" class="number">${words.acquisitionValue}</th>
                    <th scope="col" class="number">${words.waits}</th>
                    <th scope="col">${words.fund}</th>
                    <th scope="col">${words.application}</th>
                  </tr>
                </thead>
                <tbody>
                  ${operations.map((operation) => row(operation, visit, list.now))}
                </tbody>
              </table>
            </div>
            <div class="actions">
              <span>${texts.withChosen}</span>
              ${decisionButtons(offeredFor(operations), visit)}
            </div>
          </form>`
    }
    ${next && html`<p><a href=${nextPath(list)} rel="next">${words.more}</a></p>`}
    <p><small>${texts.keys}: ${texts.keyHelp}</small></p>
  `;
};
