import type { SearchPlace } from '../../../../application/ports/operation-search.ts';
import { amount, date, instant } from '../../format.ts';
import { html } from '../../html.ts';
import type { View } from '../../html.ts';
import { tokenField } from '../../layout.ts';
import { STATES, operationPath, statusName, withQuery } from '../../names.ts';
import type { Visit } from '../../page.ts';
import type { ListedOperation } from '../../services.ts';
import { WORDS } from '../words.ts';
import type { Search } from './searches.ts';
import { OPERATIONS } from './texts.ts';

export interface Found {
  readonly search: Search;
  /** Its number; undefined for a list without a search. */
  readonly id: string | undefined;
  readonly funds: readonly string[];
  readonly operations: readonly ListedOperation[];
  readonly next: SearchPlace | undefined;
  /** This is not the first page. */
  readonly continued: boolean;
  /** The address names a search that is not kept any more. */
  readonly forgotten: boolean;
}

export const placeText = ({ key, stream }: SearchPlace): string =>
  Buffer.from(JSON.stringify([key, stream])).toString('base64url');

/** Undefined for anything that `placeText` did not make: the list then begins at its start. */
export const placeOf = (text: string | null): SearchPlace | undefined => {
  try {
    const read: unknown = JSON.parse(Buffer.from(text ?? '', 'base64url').toString());
    if (!Array.isArray(read) || read.length !== 2) return undefined;
    const [key, stream] = read as readonly unknown[];
    return typeof key === 'string' && typeof stream === 'string' ? { key, stream } : undefined;
  } catch {
    return undefined;
  }
};

const form = ({ search, funds }: Found, visit: Visit): View => {
  const { language } = visit;
  const [texts, words] = [OPERATIONS[language], WORDS[language]];
  return html`
    <form method="post" action="/operations/search" class="actions" autocomplete="off">
      ${tokenField(visit)}
      <label
        >${texts.code} <input name="code" value=${search.code ?? ''} maxlength="100" spellcheck="false"
      /></label>
      <label>
        ${texts.document}
        <input name="document" value=${search.document ?? ''} maxlength="24" spellcheck="false" />
      </label>
      <label>
        ${words.fund}
        <select name="fund">
          <option value="">${words.all}</option>
          ${funds.map((one) => html`<option value=${one} selected=${one === search.fundId}>${one}</option>`)}
        </select>
      </label>
      <label>
        ${words.status}
        <select name="status">
          <option value="">${words.all}</option>
          ${STATES.map(
            (one) =>
              html`<option value=${one} selected=${one === search.status}>
                ${statusName(one, language)}
              </option>`,
          )}
        </select>
      </label>
      <label>${texts.from} <input type="date" name="from" value=${search.from ?? ''} /></label>
      <label>${texts.to} <input type="date" name="to" value=${search.to ?? ''} /></label>
      <button>${texts.search}</button>
      <a href="/operations">${texts.clear}</a>
    </form>
  `;
};

const row = (one: ListedOperation, { language }: Visit): View => html`
  <tr>
    <td><a class="code" href=${operationPath(one.applicationId, one.code)}>${one.code}</a></td>
    <td>${statusName(one.status, language)}</td>
    <td class="code">${one.document ?? OPERATIONS[language].erased}</td>
    <td class="number">${amount(one.acquisitionValue)}</td>
    <td class="number">${amount(one.receivedValue)}</td>
    <td>${one.productType}</td>
    <td>${date(one.dateIssued)}</td>
    <td>${instant(one.receivedAt)}</td>
    <td class="code">${one.fundId}</td>
    <td class="code">${one.applicationId}</td>
  </tr>
`;

const table = (found: Found, visit: Visit): View => {
  const [texts, words] = [OPERATIONS[visit.language], WORDS[visit.language]];
  return html`
    <div class="overflow-auto" tabindex="0" role="region" aria-label=${texts.found}>
      <table class="dense">
        <thead>
          <tr>
            <th scope="col">${words.operation}</th>
            <th scope="col">${words.status}</th>
            <th scope="col">${texts.borrower}</th>
            <th scope="col" class="number">${words.acquisitionValue}</th>
            <th scope="col" class="number">${texts.received}</th>
            <th scope="col">${texts.product}</th>
            <th scope="col">${texts.issued}</th>
            <th scope="col">${texts.receivedAt}</th>
            <th scope="col">${words.fund}</th>
            <th scope="col">${words.application}</th>
          </tr>
        </thead>
        <tbody>
          ${found.operations.map((one) => row(one, visit))}
        </tbody>
      </table>
    </div>
  `;
};

export const operationsView = (found: Found, visit: Visit): View => {
  const [texts, words] = [OPERATIONS[visit.language], WORDS[visit.language]];
  const { id, next, continued, forgotten } = found;
  const address = (path: string, after?: SearchPlace): string =>
    withQuery(path, { search: id, after: after && placeText(after) });
  return html`
    ${form(found, visit)} ${forgotten && html`<p class="problem" role="alert">${texts.forgotten}</p>`}
    ${found.operations.length === 0 ? html`<p>${texts.none}</p>` : table(found, visit)}
    <p class="actions">
      ${continued && html`<a href=${address('/operations')}>${texts.first}</a>`}
      ${next && html`<a href=${address('/operations', next)} rel="next">${words.more}</a>`}
      ${found.operations.length > 0 && html`<a href=${address('/operations/export')} download>${texts.export}</a>`}
    </p>
  `;
};
