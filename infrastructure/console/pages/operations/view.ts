import { LOAN_STATUSES } from '../../../../domain/loan/statuses.ts';
import { may } from '../../../../application/desk/rights.ts';
import type { SearchPlace } from '../../../../application/loans/operation-search.ts';
import type { FundNames } from '../../../../domain/fund/names.ts';
import { statusBadge } from '../../badge.ts';
import { amount, date, instant } from '../../format.ts';
import { csvChoice } from '../../csv-choice.ts';
import { fundChoices, fundView } from '../../funds.ts';
import { html } from '../../html.ts';
import type { View } from '../../html.ts';
import { tokenField } from '../../layout.ts';
import { operationPath, statusName, withQuery } from '../../names.ts';
import type { Visit } from '../../page.ts';
import { placeParts, placeText } from '../../place.ts';
import type { ListedOperation } from '../../../../application/loans/search-operations.ts';
import { tableView } from '../../table.ts';
import { dayField } from '../../typed-fields.ts';
import { WORDS } from '../words.ts';
import type { Refusal, Search } from './searches.ts';
import { OPERATIONS } from './texts.ts';

export interface Found {
  readonly search: Search;
  /** Its number; undefined for a list without a search. */
  readonly id: string | undefined;
  readonly funds: readonly string[];
  readonly names: FundNames;
  readonly operations: readonly ListedOperation[];
  readonly next: SearchPlace | undefined;
  /** This is not the first page. */
  readonly continued: boolean;
  /** The address names a search that is not kept any more. */
  readonly forgotten: boolean;
}

export const placeOf = (text: string | null): SearchPlace | undefined => {
  const [key, stream] = placeParts(text, 2);
  return key !== undefined && stream !== undefined ? { key, stream } : undefined;
};

/** At the field that cannot be searched for, what is wrong with it. */
const saidAt = (which: Refusal, { refused }: Search, { language }: Visit) =>
  which === refused
    ? {
        attributes: { 'aria-invalid': 'true', 'aria-describedby': which },
        text: html`<small class="problem" role="alert" id=${which}>${OPERATIONS[language][which]}</small>`,
      }
    : { attributes: {}, text: undefined };

const form = ({ search, funds, names }: Found, visit: Visit): View => {
  const { language } = visit;
  const [texts, words] = [OPERATIONS[language], WORDS[language]];
  const [code, document] = [saidAt('badCode', search, visit), saidAt('badDocument', search, visit)];
  const [fund, days] = [saidAt('badFund', search, visit), saidAt('badDates', search, visit)];
  return html`
    <form method="post" action="/operations/search" class="actions" autocomplete="off">
      ${tokenField(visit)}
      <label
        >${texts.code}
        <input
          name="code"
          value=${search.code ?? ''}
          maxlength="100"
          spellcheck="false"
          ...${code.attributes}
        />
        ${code.text}</label
      >
      ${
        may(visit, 'borrowers') &&
        html`<label>
          ${texts.document}
          <input
            name="document"
            value=${search.document ?? ''}
            maxlength="24"
            spellcheck="false"
            ...${document.attributes}
          />
          ${document.text}
        </label>`
      }
      <label>
        ${words.fund}
        <select name="fund" ...${fund.attributes}>
          <option value="">${words.all}</option>
          ${fundChoices(funds, search.fundId, names)}
        </select>
        ${fund.text}
      </label>
      <label>
        ${words.status}
        <select name="status">
          <option value="">${words.all}</option>
          ${LOAN_STATUSES.map(
            (one) =>
              html`<option value=${one} selected=${one === search.status}>
                ${statusName(one, language)}
              </option>`,
          )}
        </select>
      </label>
      <label>${texts.from} ${dayField({ name: 'from', value: search.from })}</label>
      <label>
        ${texts.to} ${dayField({ name: 'to', value: search.to, ...days.attributes })} ${days.text}
      </label>
      <button>${texts.search}</button>
      <a href="/operations">${texts.clear}</a>
    </form>
  `;
};

const table = ({ operations, names }: Found, { language }: Visit): View => {
  const [texts, words] = [OPERATIONS[language], WORDS[language]];
  return tableView(
    { label: texts.found, dense: true },
    [
      [
        words.operation,
        (one) => html`<a class="code" href=${operationPath(one.application_id, one.code)}>${one.code}</a>`,
      ],
      [words.status, ({ status }) => statusBadge(status, language)],
      [texts.borrower, ({ document }) => document ?? texts.erased, 'code'],
      [words.acquisitionValue, (one) => amount(one.acquisition_value), 'number'],
      [texts.received, (one) => amount(one.received_value), 'number'],
      [texts.product, (one) => one.product_type],
      [texts.issued, (one) => date(one.date_issued)],
      [texts.receivedAt, (one) => instant(one.received_at)],
      [words.fund, (one) => fundView(one.fund_id, names), 'code'],
      [words.application, (one) => one.application_id, 'code'],
    ],
    operations,
  );
};

export const operationsView = (found: Found, visit: Visit): View => {
  const [texts, words] = [OPERATIONS[visit.language], WORDS[visit.language]];
  const { id, next, continued, forgotten } = found;
  const address = (path: string, after?: SearchPlace): string =>
    withQuery(path, { search: id, after: after && placeText(after.key, after.stream) });
  return html`
    ${form(found, visit)} ${forgotten && html`<p class="problem" role="alert">${texts.forgotten}</p>`}
    ${found.operations.length === 0 ? html`<p>${texts.none}</p>` : table(found, visit)}
    <p class="actions">
      ${continued && html`<a href=${address('/operations')}>${texts.first}</a>`}
      ${next && html`<a href=${address('/operations', next)} rel="next">${words.more}</a>`}
      ${found.operations.length > 0 && html`<a href=${address('/operations/export')} download>${texts.export}</a>`}
    </p>
    ${found.operations.length > 0 && csvChoice(visit)}
  `;
};
